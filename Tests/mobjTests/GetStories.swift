import Foundation
import TestSupport
import Testing

/// The built tool against a server on loopback.
@Suite(.serialized)
struct GetStories {
  private let server: LoopbackServer
  private let tool: Tool

  init() throws {
    server = try LoopbackServer()
    tool = try Tool()
  }

  private func serve(_ paths: String..., cacheControl: String = "max-age=3600") {
    for path in paths { server.on(path, Reply("body of \(path)", ["Cache-Control": cacheControl])) }
  }

  private func urls(_ paths: String...) -> [String] { paths.map(server.url) }

  // MARK: Where bodies go

  @Test func `one URL goes to standard output, and people read the rest on standard error`() async throws {
    serve("/a")
    let run = try await tool.run("get", server.url("/a"))
    #expect(run.status == 0)
    #expect(run.text == "body of /a")
    #expect(run.notes.hasPrefix("mobj: 1 object, 10 B, "))
    #expect(run.notes.hasSuffix("(from the network)\n"))
  }

  @Test func `quiet says nothing`() async throws {
    serve("/a")
    #expect(try await tool.run("get", "--quiet", server.url("/a")).notes == "")
    let failed = try await tool.run("get", "--quiet", server.url("/missing"))
    #expect(failed.status == 1)
    #expect(failed.notes.split(separator: "\n").count == 1, "but for what went wrong")
  }

  @Test func `a large body goes to standard output whole`() async throws {
    let pattern = Pattern(seed: 5)
    server.on("/big", Reply(200, body: .pattern(pattern, count: 5_000_000)))
    let run = try await tool.run("get", server.url("/big"))
    #expect(run.status == 0)
    #expect(run.output == pattern.bytes(0..<5_000_000))
  }

  @Test func `a body goes to the file that -o names, the JSON to standard output`() async throws {
    serve("/a")
    let run = try await tool.run("get", "-o", "out", "--json", server.url("/a"))
    #expect(run.status == 0)
    #expect(tool.text("out") == "body of /a")
    let object = try #require(run.objects.first)
    #expect(object["url"] as? String == server.url("/a"))
    #expect(object["id"] as? String == server.url("/a"))
    #expect(object["source"] as? String == "network")
    #expect(object["status"] as? Int == 200)
    #expect(object["bytes"] as? Int == 10)
    #expect(object["file"] as? String == "out")
    #expect(object["milliseconds"] as? Int != nil)
    #expect(object["error"] is NSNull)
  }

  @Test func `JSON alone fills the cache`() async throws {
    serve("/a", "/b")
    let run = try await tool.run(["get", "--json"] + urls("/a", "/b"))
    #expect(run.objects.count == 2)
    #expect(try await tool.run("get", server.url("/b")).text == "body of /b")
    #expect(server.allHits == 2)
  }

  @Test func `a device is written into, never replaced`() async throws {
    serve("/a")
    let run = try await tool.run("get", "-o", "/dev/null", "--force", server.url("/a"))
    #expect(run.status == 0)
    var facts = stat()
    #expect(stat("/dev/null", &facts) == 0 && facts.st_mode & S_IFMT == S_IFCHR)
    let full = try await tool.run("get", "-o", "/dev/full", "--json", server.url("/a"))
    #expect(full.status == 1)
    #expect((full.objects.first?["error"] as? [String: Any])?["code"] as? String == "outputFailed")
  }

  @Test func `a reader that goes away ends the run quietly`() async throws {
    server.on("/big", Reply(200, ["Cache-Control": "max-age=60"], body: .pattern(Pattern(seed: 1), count: 3_000_000)))
    let command = "\(Tool.built) get '\(server.url("/big"))' | head -c 10 >/dev/null; echo ${PIPESTATUS[0]}"
    let run = try RunningTool(
      ["bash", "-c", command], environment: tool.environment, folder: tool.home.path)
    let ended = try await run.end()
    #expect(ended.notes == "")
    #expect(ended.text == "1\n")
  }

  // MARK: Again

  @Test func `the same command again costs no second download`() async throws {
    serve("/a", "/b", "/c")
    let words = ["get", "--json"] + urls("/a", "/b", "/c")
    let first = try await tool.run(words)
    #expect(first.status == 0)
    #expect(first.sources == ["network", "network", "network"])
    let second = try await tool.run(words)
    #expect(second.status == 0)
    #expect(second.sources == ["file", "file", "file"])
    #expect(server.allHits == 3)
  }

  @Test func `what is stale is asked for again, and kept when it has not changed`() async throws {
    server.on("/r", .revalidating("same", etag: "\"1\"", cacheControl: "max-age=0"))
    #expect(try await tool.run("get", server.url("/r")).text == "same")
    let again = try await tool.run("get", "-o", "out", "--json", server.url("/r"))
    #expect(again.sources == ["revalidated"])
    #expect(again.objects.first?["status"] as? Int == 200)
    #expect(tool.text("out") == "same")
    #expect(server.requests("/r").last?["If-None-Match"] == "\"1\"")
  }

  @Test func `what is given stale is asked for again before the run ends`() async throws {
    let fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=0, stale-while-revalidate=600"]
    server.on("/s", Reply("one", fields), Reply("two", fields).delayed(by: .milliseconds(100)), Reply("three", fields))
    for text in ["one", "one", "two"] { #expect(try await tool.run("get", server.url("/s")).text == text) }
    let run = try await tool.run("get", "--json", server.url("/s"))
    #expect(run.objects.first?["reason"] as? String == "stale-while-revalidate")
  }

  @Test func `without a cache every run loads`() async throws {
    serve("/a")
    for _ in 0..<2 { #expect(try await tool.run("get", "--backend", "none", server.url("/a")).text == "body of /a") }
    #expect(server.allHits == 2)
    #expect(tool.names(in: "cache") == [])
  }

  @Test func `the cache of millions works like the other`() async throws {
    serve("/a")
    for _ in 0..<2 {
      let run = try await tool.run("get", "--backend", "big", "--cache", "big", server.url("/a"))
      #expect(run.status == 0)
      #expect(run.text == "body of /a")
    }
    #expect(server.allHits == 1)
    // Another backend on that folder would find nothing: it says so, once, and goes on without a cache.
    let other = try await tool.run("get", "--cache", "big", server.url("/a"))
    #expect(other.status == 0)
    #expect(other.warnings == 1)
  }

  @Test(arguments: [
    ("default", 0), ("reload", 1), ("no-cache", 1), ("force-cache", 0), ("only-if-cached", 0), ("no-store", 1),
  ])
  func `the modes of fetch hold`(mode: String, hits: Int) async throws {
    serve("/a")
    _ = try await tool.run("get", server.url("/a"))
    let run = try await tool.run("get", "--mode", mode, server.url("/a"))
    #expect(run.status == 0)
    #expect(run.text == "body of /a")
    #expect(server.allHits == 1 + hits)
  }

  @Test func `only-if-cached never asks the server`() async throws {
    serve("/a")
    let run = try await tool.run("get", "--json", "--mode", "only-if-cached", server.url("/a"))
    #expect(run.status == 1)
    #expect((run.objects.first?["error"] as? [String: Any])?["code"] as? String == "notCached")
    #expect(server.allHits == 0)
  }

  // MARK: What is sent, and what is refused

  @Test func `header fields are sent`() async throws {
    serve("/a")
    _ = try await tool.run("get", "--header", "X-One: 1", "--header", "Accept: text/html", server.url("/a"))
    #expect(server.requests("/a").first?["X-One"] == "1")
    #expect(server.requests("/a").first?["Accept"] == "text/html")
  }

  @Test func `a body beyond the limit fails and leaves nothing`() async throws {
    server.on("/big", Reply(200, body: .pattern(Pattern(seed: 1), count: 100_000)))
    let run = try await tool.run("get", "--max-size", "64K", "-o", "out", "--json", server.url("/big"))
    #expect(run.status == 1)
    #expect((run.objects.first?["error"] as? [String: Any])?["code"] as? String == "tooLarge")
    #expect(tool.text("out") == nil)
  }

  @Test func `a server that says nothing is left after the time-out`() async throws {
    server.on("/never", .never)
    let start = ContinuousClock.now
    let run = try await tool.run("get", "--timeout", "0.3", "--json", server.url("/never"))
    #expect(run.status == 1)
    #expect((run.objects.first?["error"] as? [String: Any])?["code"] as? String == "timedOut")
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  @Test func `one that fails does not keep the others from coming`() async throws {
    serve("/a", "/b")
    let run = try await tool.run(
      ["get", "--output-dir", "d", server.url("/a"), server.url("/missing"), "no url", server.url("/b")])
    #expect(run.status == 1)
    #expect(tool.names(in: "d") == ["a", "b"])
    #expect(run.notes.contains("/missing: "))
    #expect(run.notes.contains("no url: "))
    #expect(run.notes.contains("; 2 failed"))
  }

  @Test func `secrets of a URL are not printed for people`() async throws {
    let run = try await tool.run("get", server.url("/x?token=hunter2"))
    #expect(run.status == 1)
    #expect(!run.notes.contains("hunter2"))
  }

  // MARK: Usage

  @Test func `wrong usage ends with 2, help with 0`() async throws {
    let wrong = try await tool.run("get", "--jbos", "3", "http://127.0.0.1:1/")
    #expect(wrong.status == 2)
    #expect(wrong.notes.contains("--jbos") && wrong.notes.contains("--jobs?"))
    #expect(wrong.output.isEmpty)
    #expect(wrong.notes.hasSuffix("Try 'mobj get --help'.\n"))
    for words in [[], ["--help"], ["help"], ["get", "--help"], ["cache", "--help"], ["cache"]] {
      let help = try await tool.run(words)
      #expect(help.status == 0 && help.text.hasPrefix("usage: mobj ") && help.notes.isEmpty)
    }
    #expect(try await tool.run("--version").text.hasPrefix("mobj "))
    #expect(try await tool.run("get", "--json", "--input", "nowhere").status == 2)
  }

  // MARK: Lists

  @Test func `a list is read from a file and from standard input`() async throws {
    serve("/a", "/b", "/c")
    let list = "# pictures\r\n\n  \(server.url("/a"))\n\(server.url("/b"))\nnot a url\n\(server.url("/c"))"
    try tool.home.write("list", list)
    for (words, input) in [(["--input", "list"], nil), (["--input", "-"], list)] as [([String], String?)] {
      let run = try await tool.run(["get", "--json"] + words, input: input)
      #expect(run.status == 1)
      #expect(run.objects.count == 4)
      #expect(run.objects.count { $0["error"] is NSNull } == 3)
    }
    #expect(server.allHits == 3)
  }

  @Test func `a long list is loaded once each, a few at a time`() async throws {
    server.otherwise { Reply($0.path, ["Cache-Control": "max-age=3600"]) }
    let list = (0..<1000).map { server.url("/\($0)") }.joined(separator: "\n")
    let run = try await tool.run(["get", "--output-dir", "d", "--input", "-", "--jobs", "5"], input: list)
    #expect(run.status == 0)
    #expect(tool.names(in: "d").count == 1000)
    #expect(tool.text("d/777") == "/777")
    #expect(server.allHits == 1000)
    #expect(server.connectionsOpened <= 5)
    #expect(run.notes.contains("1,000 objects"))
  }
}
