import Foundation
import TestSupport
import Testing

/// What failed, and how hard it was tried: `--failed`, `--retry` and `--per-host`.
@Suite(.serialized)
struct FailedStories {
  private let server: LoopbackServer
  private let tool: Tool

  init() throws {
    server = try LoopbackServer()
    tool = try Tool()
    server.on("/a", Reply("a", ["Cache-Control": "max-age=3600"]))
    server.on("/b", Reply("b", ["Cache-Control": "max-age=3600"]))
    server.on("/bad", Reply(404))
  }

  @Test func `the lines that failed are a list for the next run, in their order`() async throws {
    let lines = ["/bad?1", "/a", "/bad?2", "/b", "/bad?3"].map(server.url)
    try tool.home.write("list", ([lines[0], "# comment", "no url"] + lines.dropFirst()).joined(separator: "\n"))
    let run = try await tool.run(["get", "--json", "--input", "list", "--failed", "rest", server.url("/bad?0")])
    #expect(run.status == 1)
    let expected = [server.url("/bad?0"), lines[0], "no url", lines[2], lines[4]]
    #expect(tool.text("rest") == expected.map { $0 + "\n" }.joined())
    server.on("/bad", Reply("good now"))
    // The file may be the list itself.
    let again = try await tool.run(["get", "--json", "--mode", "reload", "--input", "rest", "--failed", "rest"])
    #expect(again.status == 1)
    #expect(tool.text("rest") == "no url\n")
    #expect(tool.home.names.filter { $0.contains("mobj-failed") } == [])
  }

  @Test func `where all went well the file is empty`() async throws {
    try tool.home.write("rest", "of the run before\n")
    #expect(try await tool.run("get", "--json", "--failed", "rest", server.url("/a")).status == 0)
    #expect(tool.text("rest") == "")
  }

  @Test func `they go to standard output where nothing else does`() async throws {
    let run = try await tool.run(
      "get", "--failed", "-", "--output-dir", "d", server.url("/bad"), server.url("/a"))
    #expect(run.status == 1)
    #expect(run.text == server.url("/bad") + "\n")
  }

  @Test func `an interrupted run writes what it gave up`() async throws {
    let gate = Gate()
    server.on("/slow", Reply([UInt8](repeating: 1, count: 100_000)).held(until: gate, afterBytes: 1000))
    let server = self.server
    let running = try tool.start(
      ["get", "--json", "--failed", "rest"] + ["/slow", "/a", "/bad"].map(server.url))
    try await until("all are asked for") { server.allHits == 3 }
    running.interrupt()
    #expect(try await running.end().status == 130)
    gate.open()
    let lines = try #require(tool.text("rest")).split(separator: "\n").map(String.init)
    #expect(lines.first == server.url("/slow"))
    #expect(Set(lines).isSubset(of: [server.url("/slow"), server.url("/bad"), server.url("/a")]))
  }

  @Test func `an interrupted run leaves a list from which the next one can go on`() async throws {
    let gate = Gate()
    server.otherwise { Reply($0.path) }
    server.on("/slow", Reply([UInt8](repeating: 1, count: 100_000)).held(until: gate, afterBytes: 1000))
    // Several pieces of the list, and two URLs that it does not hold.
    let rest = (0..<4_000).map { server.url("/rest/\($0)") }
    try tool.home.write("list", rest.joined(separator: "\n"))
    let running = try tool.start(
      ["get", "--json", "--jobs", "1", "--input", "list", "--failed", "list"]
        + ["/a", "/slow", "/b"].map(server.url))
    try await server.waitForHits("/slow", 1)
    running.interrupt()
    #expect(try await running.end().status == 130)
    gate.open()
    let lines = try #require(tool.text("list")).split(separator: "\n").map(String.init)
    #expect(lines == ["/slow", "/b"].map(server.url) + rest)
    let again = try await tool.run("get", "--json", "--input", "list", "--failed", "list")
    #expect(again.status == 0)
    #expect(again.objects.count == lines.count)
    #expect(tool.text("list") == "")
  }

  @Test func `a reader that goes away leaves what was not done in the list`() async throws {
    server.otherwise { Reply($0.path) }
    let urls = (0..<5_000).map { server.url("/rest/\($0)") }
    try tool.home.write("list", urls.joined(separator: "\n"))
    let command = "\(Tool.built) get --json --jobs 2 --input list --failed list | head -1"
    let run = try await RunningTool(
      ["bash", "-c", command], environment: tool.environment, folder: tool.home.path
    ).end()
    #expect(run.objects.count == 1)
    let lines = try #require(tool.text("list")).split(separator: "\n").map(String.init)
    #expect(lines.count > 1000)
    #expect(Set(urls).subtracting(lines).allSatisfy { server.hits(String($0.dropFirst(server.url("").count))) > 0 })
  }

  @Test func `where the rest of the list cannot be read, what was there stays`() async throws {
    try tool.home.write("rest", "of the run before\n")
    let run = try await tool.run("get", "--json", "--input", "/proc/self/mem", "--failed", "rest", server.url("/bad"))
    #expect(run.status == 1)
    #expect(tool.text("rest") == "of the run before\n")
    #expect(run.notes.contains("--failed rest would not be whole, and what was there stays"))
    #expect(tool.home.names.filter { $0.contains("mobj-failed") } == [])
  }

  @Test(arguments: ["nowhere/rest", "d"])
  func `a file that cannot be written is refused before anything is asked for`(path: String) async throws {
    try tool.home.write("d/x", "")
    let run = try await tool.run("get", "--json", "--failed", path, server.url("/a"))
    #expect(run.status == 2)
    #expect(run.notes.hasPrefix("mobj: --failed cannot write \(path): "))
    #expect(server.allHits == 0)
  }

  @Test func `a full disk behind it is told`() async throws {
    let run = try await tool.run("get", "--json", "--failed", "/dev/full", server.url("/bad"))
    #expect(run.status == 1)
    #expect(run.notes.contains("mobj: --failed /dev/full cannot be written: No space left on device\n"))
  }

  @Test(arguments: ["> /dev/full", "| true"])
  func `an object whose body standard output did not take has failed`(_ output: String) async throws {
    // More than a pipe holds.
    server.on("/big", Reply(200, body: .pattern(Pattern(), count: 1_000_000)))
    let command = "\(Tool.built) get --failed rest '\(server.url("/big"))' \(output)"
    let run = try await RunningTool(
      ["bash", "-c", command], environment: tool.environment, folder: tool.home.path
    ).end()
    #expect(tool.text("rest") == server.url("/big") + "\n")
    if output == "| true" { return #expect(run.notes == "") }
    #expect(run.status == 1)
    #expect(run.notes.hasPrefix("mobj: standard output cannot be written: No space left on device\n"))
    #expect(run.notes.contains("mobj: 0 objects, 0 B, ") && run.notes.hasSuffix("; 1 failed\n"))
  }

  @Test(arguments: [1, 2, 4]) func `each object is tried as often as asked`(tries: Int) async throws {
    server.on("/busy", Reply(503))
    let run = try await tool.run("get", "--json", "--retry", "\(tries)", server.url("/busy"))
    #expect(run.status == 1)
    #expect(run.objects.first?["status"] as? Int == 503)
    #expect(server.hits("/busy") == tries)
  }

  @Test func `a host is asked for no more at once than allowed`() async throws {
    server.otherwise { Reply($0.path) }
    let urls = (0..<200).map { server.url("/\($0)") }
    #expect(try await tool.run(["get", "--json", "--per-host", "2"] + urls).status == 0)
    #expect(server.connectionsOpened <= 2)
    #expect(server.allHits == 200)
  }
}
