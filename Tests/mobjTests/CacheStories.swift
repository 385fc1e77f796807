import Foundation
import TestSupport
import Testing

/// The tool with cache folders that cannot be used.
@Suite(.serialized)
struct CacheStories {
  private let server: LoopbackServer
  private let place: TemporaryFolder
  private let tool: Tool

  init() throws {
    server = try LoopbackServer { Reply("body of \($0.path)", ["Cache-Control": "max-age=3600"]) }
    place = try TemporaryFolder("mobj-binary")
    tool = try Tool.asNobody(in: place)
  }

  private func makeFolder(mode: mode_t) throws -> String {
    let path = tool.home.path("c")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    if geteuid() == 0 { chown(path, Tool.nobody, Tool.nobody) }
    chmod(path, mode)
    return path
  }

  private func expectGoesOn(_ cache: String, backend: String = "file") async throws {
    for path in ["/a", "/b"] {
      let run = try await tool.run("get", "--backend", backend, "--cache", cache, server.url(path))
      #expect(run.status == 0)
      #expect(run.text == "body of \(path)")
      #expect(run.warnings <= 1)
    }
    let many = try await tool.run(
      ["get", "--json", "--backend", backend, "--cache", cache] + (0..<50).map { server.url("/many/\($0)") })
    #expect(many.status == 0)
    #expect(many.objects.count == 50)
    #expect(many.warnings <= 1)
    #expect(!FileManager.default.fileExists(atPath: tool.home.path("cache")), "nothing is made elsewhere")
  }

  @Test(arguments: [0o500, 0o000] as [mode_t], ["file", "big"])
  func `a folder that cannot be written stops nothing`(mode: mode_t, backend: String) async throws {
    try await expectGoesOn(makeFolder(mode: mode), backend: backend)
  }

  @Test func `a run of one object tells what is wrong with its cache`() async throws {
    let folder = try makeFolder(mode: 0o500)
    for number in 0..<10 {
      let run = try await tool.run("get", "--cache", folder, server.url("/\(number)"))
      #expect(run.status == 0 && run.warnings == 1)
    }
  }

  @Test func `a path below a file stops nothing`() async throws {
    try tool.home.write("file", "")
    try await expectGoesOn(tool.home.path("file/cache"))
  }

  @Test func `a folder that others may write to is not used, and the warning says so`() async throws {
    let folder = try makeFolder(mode: 0o777)
    let run = try await tool.run("get", "--cache", folder, server.url("/a"))
    #expect(run.status == 0)
    #expect(run.text == "body of /a")
    #expect(run.warnings == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }

  @Test(arguments: ["file", "big"])
  func `what is stored is still served when nothing more can be`(backend: String) async throws {
    let folder = try makeFolder(mode: 0o700)
    let words = ["get", "--json", "--backend", backend, "--cache", folder] + ["/a", "/b", "/c"].map(server.url)
    #expect(try await tool.run(words).status == 0)
    chmod(folder, 0o500)
    let run = try await tool.run(words)
    #expect(run.status == 0)
    #expect(run.sources == ["file", "file", "file"])
    #expect(run.warnings <= 1)
    #expect(server.allHits == 3)
  }
}
