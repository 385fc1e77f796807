import TestSupport
import Testing

@testable import CacheBenchmark
@testable import ManagedObjects

/// What trimming a part at a time costs in hits, beside a cache that always drops what was used longest ago. Simulated,
/// with the rules that the caches use.
struct TrimmedHitRatioTests {
  private static let limit = 2000
  private static let keys = 7000

  enum Load: String, CaseIterable, Sendable {
    case zipf09 = "Zipf 0.9"
    case zipf10 = "Zipf 1.0"
    case scans = "Zipf 0.9 with scans"
    case oneHit = "Zipf 1.0 with a third of keys asked for once"
    case drift = "Zipf 1.0 that drifts"

    /// Keys above `keys` are asked for once, or seldom.
    var requests: [Int] {
      let popular = ZipfTrace(keys: keys, exponent: [.zipf09, .scans].contains(self) ? 0.9 : 1, seed: 3).requests(
        60_000)
      var random = SeededRandom(seed: 4)
      var next = 10 * keys
      func new() -> Int {
        next += 1
        return next
      }
      switch self {
      case .zipf09, .zipf10: return popular
      case .scans:
        return popular.enumerated().flatMap { place, key in
          place % 7000 == 6999 ? [key] + (0..<1400).map { _ in new() } : [key]
        }
      case .oneHit: return popular.map { Int.random(in: 0..<3, using: &random) == 0 ? new() : $0 }
      case .drift: return popular.enumerated().map { place, key in (key + place / 3500 * keys / 20) % (2 * keys) }
      }
    }
  }

  @Test(arguments: Load.allCases)
  func `a big cache hits as often as exact LRU, less three tenths of a point, and stays full`(load: Load) {
    let requests = load.requests
    var cache = SimulatedCache(limit: Self.limit, shards: 256, part: 0.2)
    for (place, key) in requests.enumerated() { cache.ask(for: key, at: Int64(place) * 100) }
    let exact = LeastRecentlyUsed.hitRatio(of: requests, limit: Self.limit)
    let difference = Double(cache.hits) / Double(requests.count) - exact
    #expect(difference >= -0.003, "\(difference * 100) points")
    #expect(cache.most <= Self.limit + 1)
    #expect(cache.meanFill >= 0.95, "\(cache.meanFill)")
  }

  @Test func `trimming all at once costs hits, which is why a big cache does not`() {
    let requests = Load.zipf10.requests
    var parts = SimulatedCache(limit: Self.limit, shards: 256, part: 0.2)
    var whole = SimulatedCache(limit: Self.limit, shards: 1, part: 1)
    for (place, key) in requests.enumerated() {
      parts.ask(for: key, at: Int64(place) * 100)
      whole.ask(for: key, at: Int64(place) * 100)
    }
    #expect(parts.hits > whole.hits)
    #expect(parts.mostLookedAt < Self.limit / 10)
  }
}

/// The rules of `FileStoreTrimming` over names alone.
private struct SimulatedCache {
  private let limit: Int
  private let part: Double
  private var shards: [[TrimRule.Item]]
  private var lastUse: [Int: Int64] = [:]
  private var evictedAge: Int64?
  private var filled = 0
  private var asked = 0
  private(set) var hits = 0
  private(set) var most = 0
  private(set) var mostLookedAt = 0

  init(limit: Int, shards: Int, part: Double) {
    (self.limit, self.part) = (limit, part)
    self.shards = Array(repeating: [], count: shards)
  }

  /// Once it was full.
  var meanFill: Double { Double(filled) / Double(max(1, asked)) / Double(limit) }

  mutating func ask(for key: Int, at now: Int64) {
    if evictedAge != nil {
      asked += 1
      filled += lastUse.count
    }
    if let use = lastUse[key] {
      hits += 1
      let turnover = evictedAge ?? TouchRule.turnover(oldestAge: now, fill: Double(lastUse.count) / Double(limit))
      if TouchRule.isDue(age: now - use, turnover: turnover) { lastUse[key] = now }
      return
    }
    lastUse[key] = now
    let name = EntryName(ManagedObjectsTests.key("\(key)"))
    let item = TrimRule.Item(name: name, inode: UInt64(key), charge: 4096, lastUse: now, stored: 0)
    shards[Int(name.high >> 56) % shards.count].append(item)
    most = max(most, lastUse.count)
    while lastUse.count > limit { trimFullest(now) }
  }

  private mutating func trimFullest(_ now: Int64) {
    var run = 1
    while run < shards.count, lastUse.count * run < 64 * shards.count { run *= 2 }
    let runs = stride(from: 0, to: shards.count, by: run).map { $0..<($0 + run) }
    func count(_ run: Range<Int>) -> Int { shards[run].reduce(0) { $0 + $1.count } }
    guard let fullest = runs.max(by: { count($0) < count($1) }) else { return }
    var items = shards[fullest].joined().map { item in
      var item = item
      item.lastUse = (lastUse[Int(item.inode)] ?? 0) * 1_000_000
      return item
    }
    mostLookedAt = max(mostLookedAt, items.count)
    let limits = LimitRule(CacheLimits(bytes: nil, entries: limit), total: SharedCounters.Count(), space: nil)
    let rule = TrimRule(
      goalEntries: limits.goal(limit, lowWater: 0.9, share: Double(run) / Double(shards.count)),
      limitVictims: max(1, Int(Double(items.count) * part)), now: WallTime(milliseconds: now))
    let victims = items[..<rule.select(&items)]
    evictedAge = victims.map { now - $0.lastUse / 1_000_000 }.min() ?? evictedAge
    for victim in victims { lastUse[Int(victim.inode)] = nil }
    for shard in fullest { shards[shard].removeAll { lastUse[Int($0.inode)] == nil } }
  }
}
