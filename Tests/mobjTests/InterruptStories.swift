import Foundation
import TestSupport
import Testing

/// Ctrl-C and what comes before its end.
@Suite(.serialized)
struct InterruptStories {
  private let server: LoopbackServer
  private let tool: Tool

  init() throws {
    server = try LoopbackServer()
    tool = try Tool()
  }

  @Test func `an interrupted run keeps what is whole, and says so`() async throws {
    server.on("/a", Reply("whole", ["Cache-Control": "max-age=3600"]))
    let gate = Gate()
    server.on(
      "/slow",
      Reply([UInt8](repeating: 1, count: 3_000_000), ["Cache-Control": "max-age=3600"]).held(
        until: gate, afterBytes: 2_000_000))
    let tool = self.tool
    let running = try tool.start(
      [
        "get", "--json", "--jobs", "2", "--output-dir", "d", server.url("/a"), server.url("/slow"),
        server.url("/later"),
      ])
    try await until("the first is whole and the second half here") {
      tool.names(in: "d").contains("a") && server.hits("/slow") == 1
    }
    running.interrupt()
    let run = try await running.end()
    gate.open()
    #expect(run.status == 130)
    #expect(tool.names(in: "d") == ["a"])
    #expect(tool.text("d/a") == "whole")
    #expect(run.notes.contains("given up"))
    let again = try await tool.run("get", server.url("/a"))
    #expect(again.text == "whole")
    #expect(server.hits("/a") == 1)
  }

  @Test func `a run that waits for its list ends too`() async throws {
    server.on("/a", Reply("whole"))
    let fifo = tool.home.path("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    let writer = open(fifo, O_RDWR)
    defer { close(writer) }
    let line = server.url("/a") + "\n"
    #expect(write(writer, line, line.utf8.count) == line.utf8.count)
    let running = try tool.start(["get", "--json", "--input", "fifo"])
    try await server.waitForHits("/a", 1)
    running.interrupt()
    let run = try await running.end(seconds: 20)
    #expect(run.status == 130)
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func `a run that is told to end does so`(signal: Int32) async throws {
    server.on("/never", .never)
    let running = try tool.start(["get", "--timeout", "60", server.url("/never")])
    try await server.waitForHits("/never", 1)
    running.interrupt(signal)
    let start = ContinuousClock.now
    let run = try await running.end()
    #expect(run.status == 130)
    #expect(run.output.isEmpty)
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  @Test func `a run that is to outlive its terminal does so`() async throws {
    let gate = Gate()
    server.on("/slow", Reply("whole").held(until: gate, afterBytes: 2))
    let command = "trap '' HUP; exec \(Tool.built) get '\(server.url("/slow"))'"
    let running = try RunningTool(
      ["bash", "-c", command], environment: tool.environment, folder: tool.home.path)
    try await server.waitForHits("/slow", 1)
    running.interrupt(SIGHUP)
    gate.open()
    let run = try await running.end()
    #expect(run.status == 0 && run.text == "whole")
  }
}
