import Foundation
import TestSupport
import Testing

/// What the built tool writes, and what it leaves alone.
@Suite(.serialized)
struct OutputStories {
  private let server: LoopbackServer
  private let tool: Tool

  init() throws {
    server = try LoopbackServer { Reply("body of \($0.target)", ["Cache-Control": "max-age=3600"]) }
    tool = try Tool()
  }

  @Test func `a file that exists is left alone, unless asked`() async throws {
    try tool.home.write("out", "precious")
    let refused = try await tool.run("get", "--json", "-o", "out", server.url("/a"))
    #expect(refused.status == 1)
    #expect((refused.objects.first?["error"] as? [String: Any])?["code"] as? String == "outputExists")
    #expect(tool.text("out") == "precious")
    #expect(server.allHits == 0, "which could be known before")
    #expect(try await tool.run("get", "--force", "-o", "out", server.url("/a")).status == 0)
    #expect(tool.text("out") == "body of /a")
  }

  @Test func `the same holds in a folder`() async throws {
    try tool.home.write("d/a", "precious")
    let words = ["get", "--output-dir", "d", server.url("/a"), server.url("/b")]
    #expect(try await tool.run(words).status == 1)
    #expect(tool.text("d/a") == "precious")
    #expect(tool.text("d/b") == "body of /b")
    #expect(try await tool.run(words + ["--force"]).status == 0)
    #expect(tool.text("d/a") == "body of /a")
  }

  @Test func `a symbolic link is not followed out of the folder`() async throws {
    try tool.home.write("outside", "precious")
    try FileManager.default.createDirectory(atPath: tool.home.path("d"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: tool.home.path("d/a"), withDestinationPath: tool.home.path("outside"))
    #expect(try await tool.run("get", "--output-dir", "d", server.url("/a")).status == 1)
    #expect(try await tool.run("get", "--force", "--output-dir", "d", server.url("/a")).status == 0)
    #expect(tool.text("outside") == "precious")
    #expect(tool.text("d/a") == "body of /a")
  }

  @Test func `equal names of one run are kept apart, and are the same in the next`() async throws {
    let words = ["get", "--output-dir", "d", "--jobs", "1"] + ["/x/a", "/y/a", "/z/a"].map(server.url)
    #expect(try await tool.run(words).status == 0)
    #expect(tool.names(in: "d") == ["a", "a-2", "a-3"])
    #expect(tool.text("d/a-3") == "body of /z/a")
    #expect(try await tool.run(words).status == 1)
    #expect(try await tool.run(words + ["--force"]).status == 0)
    #expect(tool.names(in: "d") == ["a", "a-2", "a-3"])
  }

  @Test(arguments: [
    ("/../out", "out"), ("/%2e%2e%2fout", ".._out"), ("/..", "index"), ("/%2e%2e", "index"), ("/.", "index"),
    ("/", "index"), ("/a%2Fb", "a_b"), ("/%2Fabs", "_abs"), ("/a%5Cb", "a\\b"), ("/a%00b", "a_b"), ("/a%0Ab", "a_b"),
    ("/%E6%BC%A2%20x", "漢 x"), ("/a?b=/../../c", "a"),
  ])
  func `no URL names a file outside the folder`(path: String, name: String) async throws {
    let run = try await tool.run("get", "--quiet", "--output-dir", "d", server.url(path))
    #expect(run.status == 0)
    #expect(tool.names(in: "d") == [name])
    let others = tool.home.names.filter { !$0.contains("/") }
    #expect(Set(others).isSubset(of: Set(others.filter { $0.contains("-") || ["d", "cache"].contains($0) })))
  }

  @Test func `a name of 400 letters is cut`() async throws {
    let run = try await tool.run("get", "--output-dir", "d", server.url("/" + String(repeating: "x", count: 400)))
    #expect(run.status == 0)
    #expect(tool.names(in: "d") == [String(repeating: "x", count: 200)])
  }

  @Test func `what failed leaves no file, nor a temporary one`() async throws {
    server.on("/cut", Reply([UInt8](repeating: 1, count: 2_000_000)).cut(after: 1_500_000))
    server.on("/missing", Reply(404))
    let run = try await tool.run(
      "get", "--timeout", "5", "--output-dir", "d", server.url("/cut"), server.url("/missing"))
    #expect(run.status == 1)
    #expect(tool.names(in: "d") == [])
  }

  @Test func `a folder that cannot be made is named`() async throws {
    try tool.home.write("file", "")
    let run = try await tool.run("get", "--output-dir", "file/d", server.url("/a"))
    #expect(run.status == 2)
    #expect(run.notes.contains("--output-dir"))
    #expect(server.allHits == 0)
  }

  @Test func `a packed body comes out unpacked once`() async throws {
    let plain = Array(String(repeating: "{\"number\":1},", count: 3300).utf8)
    server.on("/json", Reply(gzipped(plain), ["Content-Encoding": "gzip", "Cache-Control": "max-age=60"]))
    for source in ["network", "file"] {
      let run = try await tool.run("get", "--force", "--json", "-o", "out", server.url("/json"))
      #expect(run.status == 0)
      #expect(run.sources == [source])
      #expect(run.objects.first?["bytes"] as? Int == plain.count)
      #expect(try tool.home.read("out") == plain)
    }
  }

  @Test func `an archive that is sent as it is stays packed`() async throws {
    let archive = gzipped(Array("the archive".utf8))
    server.on("/a.tar.gz", Reply(archive, ["Content-Type": "application/x-gzip", "Cache-Control": "max-age=60"]))
    for _ in 0..<2 {
      let run = try await tool.run("get", "--force", "--output-dir", "d", server.url("/a.tar.gz"))
      #expect(run.status == 0)
      #expect(try tool.home.read("d/a.tar.gz") == archive)
    }
    #expect(server.allHits == 1)
  }
}
