import Foundation
import ManagedObjects
import TestSupport
import Testing

/// Runs that end without a chance to put things in order.
@Suite(.serialized)
struct KilledStories {
  #if THREAD_SANITIZER
    private static let (rounds, atOnce) = (2, 2)
  #else
    private static let (rounds, atOnce) = (3, 10)
  #endif
  private static let size = 5 << 20

  private let server: LoopbackServer
  private let tool: Tool
  private let live = Gate()

  init() throws {
    let (never, live) = (Gate(), live)
    server = try LoopbackServer { request in
      let reply = Reply([UInt8](repeating: 7, count: Self.size), ["Cache-Control": "max-age=3600"])
      switch request.path.prefix(5) {
      case "/dead": return reply.held(until: never, afterBytes: 2 << 20)
      case "/live": return reply.held(until: live, afterBytes: 2 << 20)
      default: return reply
      }
    }
    tool = try Tool()
  }

  private var cache: URL { tool.home.url.appending(path: "cache/mobj") }

  /// Unfinished entries that have some bytes.
  private var unfinished: Set<String> {
    Set(
      tool.home.names.filter { name in
        name.hasPrefix("cache/mobj/temp/")
          && (try? FileManager.default.attributesOfItem(atPath: tool.home.path(name))[.size] as? Int).map { $0 > 0 }
            ?? false
      })
  }

  /// What the folder takes of the disk.
  private var bytesOnDisk: Int {
    tool.home.names.filter { $0.hasPrefix("cache/mobj/") }.reduce(0) { sum, name in
      var facts = stat()
      return lstat(tool.home.path(name), &facts) == 0 ? sum + Int(facts.st_blocks) * 512 : sum
    }
  }

  @Test(.timeLimit(.minutes(4)), arguments: ["file", "big"])
  func `downloads that are killed leave nothing for long, and a live one goes on`(backend: String) async throws {
    let get = ["get", "--backend", backend]
    let living = try tool.start(get + ["-o", "live", server.url("/live")])
    try await until("the live one has begun") { [self] in !unfinished.isEmpty }
    let alive = unfinished
    for round in 0..<Self.rounds {
      let runs = try (0..<Self.atOnce).map {
        try tool.start(get + ["--json", server.url("/dead\(round)-\($0)")])
      }
      try await until("all are in mid-download", seconds: 60) { [self] in
        unfinished.count == alive.count + (round + 1) * Self.atOnce
      }
      for run in runs { run.kill() }
      for run in runs { #expect(try await run.end().status == 128 + SIGKILL) }
    }
    // Some whole entries as well, one more than the limit allows.
    for number in 0..<5 {
      let run = try await tool.run(get + ["--json", server.url("/whole\(number)")])
      #expect(run.status == 0 && run.warnings == 0)
    }
    var limits = CacheLimits(bytes: 20 << 20)
    limits.keepFreeBytes = 0
    limits.graceForLeftovers = .zero
    let trimming: any CacheBackend =
      backend == "big" ? try BigFileCache(folder: cache, limits: limits) : try FileCache(folder: cache, limits: limits)
    while try !trimming.trim(budget: .seconds(1)).isDone {}
    #expect(unfinished == alive)
    #expect(bytesOnDisk < (20 + 5) << 20, "\(bytesOnDisk)")
    live.open()
    #expect(try await living.end().status == 0)
    #expect(try tool.home.read("live") == [UInt8](repeating: 7, count: Self.size))
    let again = try await tool.run(get + ["--json", "--mode", "only-if-cached", server.url("/live")])
    #expect(again.status == 0)
    #expect(unfinished.isEmpty)
  }
}
