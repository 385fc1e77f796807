import Foundation
import TestSupport
import Testing

/// `mobj cache` with folders that are none of its business: one clear line, status 1, and nothing changed.
@Suite(.serialized)
struct CacheRefusalStories {
  private let tool: Tool
  private let place: TemporaryFolder
  static let verbs = [
    ["stat"], ["list"], ["verify", "--repair"], ["trim", "--max-files", "0"], ["clear"], ["remove", "", "x"],
  ]

  init() throws {
    place = try TemporaryFolder("mobj-binary")
    tool = try Tool.asNobody(in: place)
  }

  private func run(_ verb: [String], _ folder: String) async throws -> Tool.Run {
    let words = verb.contains("") ? verb.map { $0.isEmpty ? folder : $0 } : verb + [folder]
    return try await tool.run(["cache"] + words)
  }

  private func expectRefusal(_ verb: [String], _ folder: String, _ reason: String) async throws {
    let before = tool.home.names.filter { $0.hasPrefix(folder) }
    let run = try await run(verb, folder)
    #expect(run.status == 1)
    #expect(run.output.isEmpty)
    #expect(run.notes.hasPrefix("mobj: ") && run.notes.split(separator: "\n").count == 1)
    #expect(run.notes.contains(reason), "\(run.notes)")
    #expect(tool.home.names.filter { $0.hasPrefix(folder) } == before)
  }

  private func give(_ name: String, mode: mode_t) {
    if geteuid() == 0 { chown(tool.home.path(name), Tool.nobody, Tool.nobody) }
    chmod(tool.home.path(name), mode)
  }

  @Test(arguments: verbs) func `a folder that is not there is not made`(verb: [String]) async throws {
    try await expectRefusal(verb, "nowhere", "No such file or directory")
  }

  @Test(arguments: verbs) func `a file is no folder`(verb: [String]) async throws {
    try tool.home.write("file", "precious")
    give("file", mode: 0o600)
    try await expectRefusal(verb, "file", "Not a directory")
  }

  @Test(arguments: verbs) func `a foreign folder is no cache and does not become one`(verb: [String]) async throws {
    try tool.home.write("d/precious", "x")
    give("d", mode: 0o700)
    try await expectRefusal(verb, "d", "is no cache")
    #expect(tool.text("d/precious") == "x")
  }

  @Test(arguments: verbs) func `a newer cache is left to newer tools`(verb: [String]) async throws {
    try tool.home.write("d/format", "ManagedObjects 9 FileCache 16\n")
    give("d/format", mode: 0o600)
    give("d", mode: 0o700)
    try await expectRefusal(verb, "d", "version 9")
  }

  @Test(arguments: verbs) func `a folder that others may write to is refused`(verb: [String]) async throws {
    try tool.home.write("d/format", "ManagedObjects 1 FileCache 16\n")
    give("d", mode: 0o777)
    try await expectRefusal(verb, "d", "chmod go-w")
  }

  @Test(arguments: verbs) func `a folder that may not be read is refused`(verb: [String]) async throws {
    try tool.home.write("d/format", "ManagedObjects 1 FileCache 16\n")
    give("d", mode: 0o000)
    try await expectRefusal(verb, "d", "Permission denied")
  }

  @Test(arguments: verbs) func `a folder of somebody else is refused`(verb: [String]) async throws {
    // Only root can give folders away.
    guard geteuid() == 0 else { return }
    try tool.home.write("d/format", "ManagedObjects 1 FileCache 16\n")
    chmod(tool.home.path("d"), 0o755)
    try await expectRefusal(verb, "d", "belongs to another user")
  }

  @Test func `a cache that may only be read is shown, and what cannot be removed is told`() async throws {
    let server = try LoopbackServer { Reply("body of \($0.path)", ["Cache-Control": "max-age=3600"]) }
    let got = try await tool.run(["get", "--json", "--cache", "c"] + (0..<40).map { server.url("/\($0)") })
    #expect(got.status == 0)
    let folders = ["c"] + tool.names(in: "c").filter { $0.count == 2 }.map { "c/\($0)" }
    for folder in folders { chmod(tool.home.path(folder), 0o500) }
    #expect(try await run(["list"], "c").text.split(separator: "\n").count == 40)
    #expect(try await run(["verify"], "c").text.hasPrefix("40 entries good"))
    for verb in [["trim", "--max-files", "0"], ["clear"], ["remove", "", server.url("/1")]] {
      let run = try await run(verb, "c")
      #expect(run.status == 1)
      #expect(run.notes.hasPrefix("mobj: "))
    }
    #expect(try await run(["list"], "c").text.split(separator: "\n").count == 40)
    chmod(tool.home.path(folders[1]), 0o000)
    let hidden = try await run(["verify"], "c")
    #expect(hidden.status == 1 && hidden.text.contains("the folder cannot be read: Permission denied"))
    for folder in folders { chmod(tool.home.path(folder), 0o700) }
  }
}
