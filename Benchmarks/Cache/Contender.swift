public import Foundation
public import ManagedObjects

/// Somebody's own backend, that takes part in the benchmark beside ours.
///
///     try CacheBenchmark.main(adding: [CacheContender("Mine") { folder, limits in try MyBackend(folder, limits) }])
public struct CacheContender: Sendable {
  let name: String
  let version: String
  let open: @Sendable (URL, CacheLimits) throws -> any CacheBackend

  /// - Parameters:
  ///   - version: stands beside the name in the report.
  ///   - open: the backend on this folder, which it may have filled before, held to these limits; nil of a limit: none.
  public init(
    _ name: String, version: String = "", open: @escaping @Sendable (URL, CacheLimits) throws -> any CacheBackend
  ) {
    self.name = name
    self.version = version
    self.open = open
  }
}

/// A `CacheBackend`. Its keys come with their hash finished, as the floor's names do; it stores a head as a server sends
/// one, and gives it back with every get.
final class BackendCandidate: Candidate {
  let name: String
  let version: String
  let abilities: Set<Ability> = [.limit, .trim]
  let folder: URL
  private let contender: CacheContender
  static let facts = EntryFacts(
    head: LoadHead(status: 200, reason: "OK", fields: ["Content-Type": "image/jpeg", "ETag": "\"5e3f-9c2\""]))
  private var cache: any CacheBackend
  /// Of each step of the trim that was asked for last, in nanoseconds; none where the backend does not say.
  private(set) var longestPieces: [Int] = []
  /// For a backend that never says that it is done.
  private static let limitSteps = 100

  init(_ contender: CacheContender, in folder: URL) throws {
    self.contender = contender
    self.folder = folder
    (name, version) = (contender.name, contender.version)
    cache = try contender.open(folder, Self.limits(Job(operation: .open)))
  }

  func sibling() throws -> any Candidate { try BackendCandidate(contender, in: folder) }

  func count() throws -> Int { try cache.statistics().entries }

  private static func limits(_ job: Job) -> CacheLimits {
    var limits = CacheLimits(bytes: nil, entries: job.limitEntries)
    limits.keepFreeBytes = 0
    limits.lowWater = job.lowWater
    return limits
  }

  func run(_ job: Job) throws -> [Int] {
    switch job.operation {
    case .open: return [try open(job)]
    case .trim: return try trim()
    default:
      let keys = job.keys.map { (number: $0, key: EntryKey(ObjectID(Job.name(of: $0), kind: .url))) }
      let cache = cache
      return try keys.map { try measure(job, $0.number, $0.key, cache) }
    }
  }

  private func open(_ job: Job) throws -> Int {
    let keys = job.keys.map { EntryKey(ObjectID(Job.name(of: $0), kind: .url)) }
    let start = nanoseconds()
    cache = try contender.open(folder, Self.limits(job))
    for key in keys { _ = try cache.lookUp(key)?.data() }
    return nanoseconds() - start
  }

  private func measure(
    _ job: Job, _ number: Int, _ key: EntryKey, _ cache: any CacheBackend
  ) throws -> Int {
    let body = [.put, .mixed].contains(job.operation) ? job.body(of: number) : []
    let start = nanoseconds()
    var isHit = true
    switch job.operation {
    case .put: try put(key, body, cache)
    case .get: if try !isFound(key, number, job, cache) { throw Breach("\(name) lost \(Job.name(of: number)).") }
    case .miss: if try cache.lookUp(key) != nil { throw Breach("\(name) found what was never stored.") }
    case .contains: if try !cache.contains(key) { throw Breach("\(name) lost \(Job.name(of: number)).") }
    default:
      isHit = try isFound(key, number, job, cache)
      if !isHit { try put(key, body, cache) }
    }
    let time = nanoseconds() - start
    return isHit ? time : -time
  }

  private func put(_ key: EntryKey, _ body: [UInt8], _ cache: any CacheBackend) throws {
    var writer = try cache.begin(key, expectedBytes: body.count)
    try writer.append(body.span.bytes)
    guard try writer.commit(Self.facts).count == body.count else { throw Breach("\(name) stored another length.") }
  }

  private func isFound(_ key: EntryKey, _ number: Int, _ job: Job, _ cache: any CacheBackend) throws -> Bool {
    guard let data = try cache.lookUp(key)?.data() else { return false }
    guard data.count == job.bytes, data.starts(with: number) else {
      throw Breach("\(name) gave other bytes for \(Job.name(of: number)).")
    }
    return true
  }

  /// Until it is done, or all was looked at once: others may be putting meanwhile.
  private func trim() throws -> [Int] {
    let entries = try cache.statistics().entries
    var times: [Int] = []
    var looked = 0
    var isDone = false
    longestPieces = []
    while !isDone, looked < entries, times.count < Self.limitSteps {
      let start = nanoseconds()
      let result = try cache.trim(budget: .seconds(60))
      times.append(nanoseconds() - start)
      (isDone, looked) = (result.isDone, looked + result.lookedAtEntries)
      if result.longestPiece > .zero { longestPieces.append(Int(result.longestPiece / .nanoseconds(1))) }
    }
    return times
  }
}

extension Data {
  /// Whether the first eight bytes are this number's.
  fileprivate func starts(with number: Int) -> Bool {
    withUnsafeBytes { $0.count >= 8 && $0.loadUnaligned(as: Int.self).littleEndian == number }
  }
}
