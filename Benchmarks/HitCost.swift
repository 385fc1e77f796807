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
  private let body = [UInt8](repeating: 7, count: 4096)
  private let requests = (0..<Self.count).map { ObjectRequest("https://cdn.example.org/assets/2024/08/item-\($0).jpg") }

  init(rounds: Int) { self.rounds = rounds }

  func scores() async throws -> [Score] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "mo-hits-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var managers: [ObjectManager] = []
    for candidate in Self.candidates {
      managers.append(try await manager(candidate.freshness, folder.appending(path: candidate.name)))
    }
    var memory = managers.map { _ in [Double]() }
    var files = managers.map { _ in [Double]() }
    for round in 0..<(rounds * 2) {
      for turn in managers.indices {
        let at = (turn + round) % managers.count
        files[at] += try await fileHits(managers[at])
        memory[at].append(try memoryHits(managers[at]))
      }
    }
    for manager in managers { manager.shutdown() }
    return [score("Fresh hit from memory", memory), score("Fresh hit from file", files)]
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

  /// Microseconds of each.
  private func fileHits(_ manager: ObjectManager) async throws -> [Double] {
    manager.removeAllFromMemory()
    var times: [Double] = []
    for request in requests {
      let start = ContinuousClock.now
      let answer = try await manager.answer(for: request, decodedBy: .data)
      times.append((ContinuousClock.now - start) / .microseconds(1))
      guard answer.source == .file, answer.object.count == body.count else { throw Wrong("not from the file") }
    }
    return times
  }

  /// Microseconds of one, of many.
  private func memoryHits(_ manager: ObjectManager) throws -> Double {
    let repeats = 50
    let start = ContinuousClock.now
    for _ in 0..<repeats {
      for request in requests where manager.peek(request, decodedBy: .data)?.count != body.count {
        throw Wrong("not in memory")
      }
    }
    return (ContinuousClock.now - start) / .microseconds(1) / Double(repeats * requests.count)
  }

  private func score(_ name: String, _ times: [[Double]]) -> Score {
    Score(
      name, "\(Self.candidates[1].name) / \(Self.candidates[0].name)", times[1].median / max(times[0].median, 1e-9),
      must: 1.2, goal: 1.1)
  }
}
