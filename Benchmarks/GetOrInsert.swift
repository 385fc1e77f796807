import CacheBenchmark
import CurlFloor
import Dispatch
import ManagedObjects
import TestSupport

/// Gets from two threads at once, and an insertion after each miss: what a cache in memory does when it is full.
///
/// A hundred thousand URLs, popular by Zipf's law, in caches that hold a tenth of them; beside what one writes by hand, a
/// dictionary with a list of last uses, under a lock.
///
/// Whoever asks has just made the URL, and who inserts the object. So a thread reads those of its next requests before
/// their time is taken: memory that is slow to reach would be half of what is measured, and is none of a cache's.
struct GetOrInsert {
  static let keys = 100_000
  private static let limit = 10_000
  private static let threads = 2
  /// Requests whose time is taken together.
  private static let batch = 200
  private let rounds: Int
  private let urls: [String]
  private let objects: [ReadyObject]
  /// Places in `urls`, for each thread its own.
  private let requests: [[Int]]

  init(rounds: Int, isQuick: Bool) {
    self.rounds = rounds
    urls = (0..<Self.keys).map { "https://cdn.example.org/assets/2024/08/\($0 / 100)/item-\($0).jpg" }
    objects = urls.map { _ in
      ReadyObject(box: ObjectBox([UInt8]()), facts: EntryFacts(head: LoadHead(), generation: 1), count: 1)
    }
    requests = (0..<Self.threads).map { thread in
      ZipfTrace(keys: Self.keys, exponent: 1, seed: UInt64(thread + 1)).requests(isQuick ? 50_000 : 200_000)
    }
  }

  var contest: Contest {
    let plain = HandwrittenCache<ReadyObject>(limit: Self.limit)
    let cache = MemoryCache(limitCost: Self.limit, eviction: .s3FIFO)
    let representation = ObjectDecoder<[UInt8]>("bytes") { _ in [] }.representation
    return Contest(
      name: "get or insert, 2 threads", rounds: rounds, bodies: requests.count * requests[0].count,
      candidates: [
        candidate("Dictionary and list, locked") { url, object in
          if plain.find(url) != nil { return true }
          plain.insert(object, for: url)
          return false
        },
        candidate("MemoryCache") { url, object in
          let key = MemoryKey(id: ObjectID(url, kind: .url), representation: representation)
          if cache.find(key) != nil { return true }
          cache.insert(object, for: key, cost: 1)
          return false
        },
      ],
      bounds: [
        .init(
          name: "Memory cache, get or insert, 2 threads", measure: .wall, candidate: 1, against: 0, must: 0.35,
          goal: 0.35)
      ])
  }

  private func candidate(
    _ name: String, _ isHit: @escaping @Sendable (String, ReadyObject) -> Bool
  ) -> Contest.Candidate {
    Contest.Candidate(name: name) {
      let parts = Lock([Part]())
      DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
        let part = part(of: requests[thread], isHit)
        parts.withLock { $0.append(part) }
      }
      let all = parts.withLock { $0 }
      let hitRatio = Double(all.reduce(0) { $0 + $1.hits }) / Double(Self.threads * requests[0].count)
      guard hitRatio > 0.5, hitRatio < 0.95 else { throw Wrong("\(name): a hit ratio of \(hitRatio)") }
      return Contest.Run(wall: all.map(\.run.wall).max() ?? 0, cpu: all.reduce(0) { $0 + $1.run.cpu })
    }
  }

  /// What one thread did.
  private struct Part {
    var run = Contest.Run(wall: 0, cpu: 0)
    var hits = 0
  }

  private func part(of requests: [Int], _ isHit: (String, ReadyObject) -> Bool) -> Part {
    var part = Part()
    for start in stride(from: 0, to: requests.count, by: Self.batch) {
      let asked = requests[start..<min(start + Self.batch, requests.count)].map { (urls[$0], objects[$0]) }
      let textHash = asked.reduce(0) { $0 ^ $1.0.hashValue }
      let (wall, cpu) = (floor_now(), floor_thread_cpu())
      for at in asked.indices where isHit(asked[at].0, asked[at].1) { part.hits += 1 }
      part.run.cpu += floor_thread_cpu() - cpu
      part.run.wall += floor_now() - wall
      withExtendedLifetime(textHash) {}
    }
    return part
  }
}

/// Least recently used by a dictionary and a doubly linked list, as it is written by hand everywhere.
private final class HandwrittenCache<Value: Sendable>: Sendable {
  private let list: Lock<HandwrittenList<Value>>

  init(limit: Int) { list = Lock(HandwrittenList(limit: limit)) }

  func find(_ key: String) -> Value? { list.withLock { $0.find(key) } }
  func insert(_ value: Value, for key: String) { list.withLock { $0.insert(value, for: key) } }
}

private struct HandwrittenList<Value: Sendable> {
  private final class Node {
    let key: String
    let value: Value
    var newer: Node?
    var older: Node?

    init(_ key: String, _ value: Value) { (self.key, self.value) = (key, value) }
  }

  private let limit: Int
  private var nodes: [String: Node] = [:]
  private var newest: Node?
  private var oldest: Node?

  init(limit: Int) { self.limit = limit }

  mutating func find(_ key: String) -> Value? {
    guard let node = nodes[key] else { return nil }
    if node !== newest {
      unlink(node)
      link(node)
    }
    return node.value
  }

  mutating func insert(_ value: Value, for key: String) {
    guard nodes[key] == nil else { return }
    if nodes.count >= limit, let victim = oldest {
      unlink(victim)
      nodes[victim.key] = nil
    }
    let node = Node(key, value)
    nodes[key] = node
    link(node)
  }

  private mutating func link(_ node: Node) {
    node.older = newest
    newest?.newer = node
    newest = node
    oldest = oldest ?? node
  }

  private mutating func unlink(_ node: Node) {
    if let newer = node.newer { newer.older = node.older } else { newest = node.older }
    if let older = node.older { older.newer = node.newer } else { oldest = node.newer }
    (node.newer, node.older) = (nil, nil)
  }
}
