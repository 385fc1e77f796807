import Foundation
import ManagedObjects

/// `Benchmarks cache`: see the table in `main.swift`.
///
/// Each round takes a batch of new keys; for each operation the candidates take their turns, in an order that changes
/// from round to round. A cache's key comes with its hash finished, as the floor's name does.
struct CacheBenchmark {
  private let options: BenchmarkArguments
  private let rounds: Int
  private let batch: Int
  private let body = [UInt8]((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31) })
  private static let facts = EntryFacts(
    head: LoadHead(status: 200, reason: "OK", fields: ["Content-Type": "image/jpeg", "ETag": "\"5e3f-9c2\""]))

  init(_ options: BenchmarkArguments) {
    self.options = options
    rounds = options.isQuick ? 10 : 25
    batch = options.isQuick ? 400 : 1000
  }

  func run() async throws {
    let parent = options.directory ?? FileManager.default.temporaryDirectory.path
    let folder = parent + "/mo-benchmark-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let report = Report(
      machine: Machine(directory: folder), bytes: body.count, entries: rounds * batch, rounds: rounds,
      figures: try measure(folder) + (try await HitCost(rounds: rounds, body: body).figures(folder)))
    try options.write(report.table, report)
  }

  // MARK: Rounds

  private func measure(_ folder: String) throws -> [Figure] {
    let candidates = try candidates(folder)
    var samples = candidates.map { _ in [Operation: Samples]() }
    for round in 0..<rounds {
      let keys = (0..<batch).map { BenchmarkKey("https://cdn.example.org/assets/2024/08/\(round)/item-\($0).jpg") }
      let missing = (0..<batch).map { BenchmarkKey("https://cdn.example.org/missing/2024/08/\(round)/item-\($0).jpg") }
      for operation in Operation.allCases where operation != .trim {
        for turn in candidates.indices {
          let at = (turn + round) % candidates.count
          let candidate = candidates[at]
          let keys = operation == .miss ? missing : keys.shuffled()
          for key in keys {
            let start = ContinuousClock.now
            try candidate.perform(operation, key, body)
            samples[at][operation, default: Samples()].add(ContinuousClock.now - start)
          }
        }
      }
    }
    for at in candidates.indices {
      let start = ContinuousClock.now
      let looked = try candidates[at].trim()
      samples[at][.trim, default: Samples()].add(ContinuousClock.now - start, operations: looked)
    }
    return figures(candidates, samples)
  }

  private func figures(_ candidates: [any Candidate], _ samples: [[Operation: Samples]]) -> [Figure] {
    Operation.allCases.flatMap { operation in
      candidates.indices.map { at in
        let own = samples[at][operation] ?? Samples()
        let floor = samples[0][operation]?.median ?? 0
        return Figure(
          operation: operation.rawValue, candidate: candidates[at].name, medianMicroseconds: own.median,
          p99Microseconds: own.quantile(0.99), ratio: floor > 0 ? own.median / floor : 0)
      }
    }
  }

  private func candidates(_ folder: String) throws -> [any Candidate] {
    var limits = CacheLimits(bytes: nil)
    limits.keepFreeBytes = 0
    let entries = rounds * batch
    // What trims has a limit of its own on the same folder, a fifth lower.
    var lower = limits
    lower.limitEntries = entries * 8 / 10
    lower.lowWater = 1
    let file = URL(filePath: folder + "/file")
    let big = URL(filePath: folder + "/big")
    return [
      FloorCandidate(floor: PosixFloor(folder: folder + "/floor")),
      CacheCandidate(
        name: "FileCache", cache: try FileCache(folder: file, limits: limits), facts: Self.facts,
        trimming: { try FileCache(folder: file, limits: lower) }),
      CacheCandidate(
        name: "BigFileCache", cache: try BigFileCache(folder: big, limits: limits, shards: 256), facts: Self.facts,
        trimming: { try BigFileCache(folder: big, limits: lower) }),
    ]
  }
}

enum Operation: String, CaseIterable {
  case put
  case get = "get, hit"
  case miss = "get, miss"
  case contains
  case trim = "trim, per entry seen"
}

struct BenchmarkKey {
  let key: EntryKey
  let name: FloorName

  init(_ url: String) {
    key = EntryKey(ObjectID(url, kind: .url))
    name = FloorName(digest: key.digest.bytes)
  }
}

protocol Candidate {
  var name: String { get }
  func perform(_ operation: Operation, _ key: BenchmarkKey, _ body: [UInt8]) throws
  /// Removes the oldest fifth; the number of entries looked at.
  func trim() throws -> Int
}

struct FloorCandidate: Candidate {
  let name = "POSIX floor"
  let floor: PosixFloor

  func perform(_ operation: Operation, _ key: BenchmarkKey, _ body: [UInt8]) throws {
    let isRight =
      switch operation {
      case .put: floor.put(key.name, body)
      case .get: floor.get(key.name) == body.count
      case .miss: floor.get(key.name) == nil
      case .contains: floor.contains(key.name)
      case .trim: true
      }
    if !isRight { throw Wrong("The floor failed at \(operation.rawValue).") }
  }

  func trim() -> Int { floor.trim(part: 0.2) }
}

struct CacheCandidate: Candidate {
  let name: String
  let cache: any CacheBackend
  let facts: EntryFacts
  /// The same folder with lower limits.
  let trimming: () throws -> any CacheBackend

  func perform(_ operation: Operation, _ key: BenchmarkKey, _ body: [UInt8]) throws {
    let isRight =
      switch operation {
      case .put: try put(key.key, body)
      case .get: try cache.lookUp(key.key)?.data().count == body.count
      case .miss: try cache.lookUp(key.key) == nil
      case .contains: try cache.contains(key.key)
      case .trim: true
      }
    if !isRight { throw Wrong("\(name) failed at \(operation.rawValue).") }
  }

  private func put(_ key: EntryKey, _ body: [UInt8]) throws -> Bool {
    var writer = try cache.begin(key, expectedBytes: body.count)
    try writer.append(body.span.bytes)
    return try writer.commit(facts).count == body.count
  }

  /// A step each, until all was seen once: of a big cache ten.
  func trim() throws -> Int {
    let cache = try trimming()
    let entries = try cache.statistics().entries
    var looked = 0
    for _ in 0..<10 where looked < entries { looked += try cache.trim(budget: .seconds(60)).lookedAtEntries }
    return looked
  }
}
