import Foundation
import ManagedObjects
import TestSupport

/// What HTTP's rules cost: a fresh hit under `.http` beside the same hit under `.immutable`, through the whole manager.
/// From memory and from file; the ratio of each pair must not exceed 1.2.
///
/// The answers look like those of a busy site, with all fields that the rules read. In memory a batch is one sample, since
/// a hit takes less than the clock can tell; in files each hit is one.
struct HitCost {
  private static let count = 200
  private static let candidates: [(name: String, freshness: Freshness)] = [
    (".immutable", .immutable), (".http", .http),
  ]
  private static let head = LoadHead(
    reason: "OK",
    fields: [
      "Date": "Sun, 04 Jan 2026 08:49:37 GMT", "Content-Type": "image/jpeg", "Content-Length": "4096",
      "Cache-Control": "public, max-age=2147483647, stale-while-revalidate=600, stale-if-error=86400",
      "ETag": "\"5e3f-9c2\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Age": "7", "Server": "nginx",
      "Accept-Ranges": "bytes", "X-Cache": "HIT", "Strict-Transport-Security": "max-age=31536000",
    ])

  let rounds: Int
  let body: [UInt8]
  private let requests = (0..<Self.count).map { ObjectRequest("https://cdn.example.org/assets/2024/08/item-\($0).jpg") }

  init(rounds: Int, body: [UInt8]) {
    self.rounds = rounds
    self.body = body
  }

  func figures(_ folder: String) async throws -> [Figure] {
    var managers: [ObjectManager] = []
    for candidate in Self.candidates {
      managers.append(try await manager(candidate.freshness, URL(filePath: folder + "/hit\(candidate.name)")))
    }
    var memory = managers.map { _ in Samples() }
    var files = managers.map { _ in Samples() }
    for round in 0..<(rounds * 2) {
      for turn in managers.indices {
        let at = (turn + round) % managers.count
        try await fileHits(managers[at], &files[at])
        try memoryHits(managers[at], &memory[at])
      }
    }
    for manager in managers { manager.shutdown() }
    return rows("fresh hit, memory", memory) + rows("fresh hit, file", files)
  }

  private func manager(_ freshness: Freshness, _ folder: URL) async throws -> ObjectManager {
    var policy = Policy()
    policy.freshness = freshness
    // Nothing is to be loaded.
    let loader = HeldLoader(scheme: "https") { _, sink in sink.fail(ObjectError(.transport, "a miss")) }
    let manager = ObjectManager(loaders: [loader], cache: try FileCache(folder: folder), policy: policy)
    for request in requests { try await manager.store(Data(body), for: request, head: Self.head) }
    return manager
  }

  private func fileHits(_ manager: ObjectManager, _ samples: inout Samples) async throws {
    manager.removeAllFromMemory()
    for request in requests {
      let start = ContinuousClock.now
      let answer = try await manager.answer(for: request, decodedBy: .data)
      samples.add(ContinuousClock.now - start)
      guard answer.source == .file, answer.object.count == body.count else { throw Wrong("not from the file") }
    }
  }

  private func memoryHits(_ manager: ObjectManager, _ samples: inout Samples) throws {
    let repeats = 50
    let start = ContinuousClock.now
    for _ in 0..<repeats {
      for request in requests where manager.peek(request, decodedBy: .data)?.count != body.count {
        throw Wrong("not in memory")
      }
    }
    samples.add(ContinuousClock.now - start, operations: repeats * requests.count)
  }

  private func rows(_ operation: String, _ samples: [Samples]) -> [Figure] {
    zip(Self.candidates, samples).map { candidate, own in
      Figure(
        operation: operation, candidate: candidate.name, medianMicroseconds: own.median,
        p99Microseconds: own.quantile(0.99), ratio: own.median / max(samples[0].median, 1e-9))
    }
  }
}
