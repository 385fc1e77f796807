import Foundation
import TestSupport
import Testing

/// Lists of URLs that are longer than what fits into a small memory.
@Suite(.serialized)
struct LongListStories {
  #if THREAD_SANITIZER
    private static let isSanitized = true
  #else
    private static let isSanitized = false
  #endif

  /// A hundred thousand in the long form (`./dev test --long`), which a debug build needs some minutes for.
  private static var count: Int {
    if ProcessInfo.processInfo.environment["MO_LONG"] != nil { return 100_000 }
    return isSanitized ? 500 : 3_000
  }

  @Test(.timeLimit(.minutes(10))) func `a list however long takes no more memory than its first tenth`()
    async throws
  {
    let count = Self.count
    let gates = [Gate(), Gate()]
    let (early, last) = ("/\(count / 10)", "/\(count - 1)")
    let server = try LoopbackServer { request in
      let reply = Reply("body of \(request.path)", ["Cache-Control": "max-age=3600"])
      switch request.path {
      case early: return reply.held(until: gates[0])
      case last: return reply.held(until: gates[1])
      default: return reply
      }
    }
    let tool = try Tool()
    let list = (0..<count).map { server.url("/\($0)") }.joined(separator: "\n")
    let running = try tool.start(["get", "--json", "--input", "-"], input: list)
    // Each is held back while the memory is read, the other jobs running on.
    var peaks: [Int] = []
    for (path, gate) in zip([early, last], gates) {
      try await server.waitForHits(path, 1, seconds: 500)
      peaks.append(try running.peakBytes)
      gate.open()
    }
    let run = try await running.end(seconds: 500)
    #expect(run.status == 0, "\(run.notes.suffix(300))")
    #expect(run.output.count { $0 == 0x0A } == count)
    #expect(server.allHits == count)
    #expect(peaks[1] < 256 << 20 && peaks[1] - peaks[0] < 16 << 20, "\(peaks)")
  }
}
