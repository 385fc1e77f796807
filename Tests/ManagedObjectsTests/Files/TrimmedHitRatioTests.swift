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

  private static let entries = LimitRule(
    CacheLimits(bytes: nil, entries: limit), total: SharedCounters.Count(), space: nil)

  @Test(arguments: Load.allCases)
  func `a big cache hits as often as exact LRU, less three tenths of a point, and stays full`(load: Load) {
    let requests = load.requests
    var cache = SimulatedCache(Self.entries, shards: 256)
    for (place, key) in requests.enumerated() { cache.ask(for: key, at: Int64(place) * 100) }
    let exact = LeastRecentlyUsed.hitRatio(of: requests, limit: Self.limit)
    let difference = Double(cache.hits) / Double(requests.count) - exact
    #expect(difference >= -0.003, "\(difference * 100) points")
    #expect(cache.most.entries <= Self.limit + 1)
    #expect(cache.meanFill >= 0.95, "\(cache.meanFill)")
  }

  @Test(arguments: [20 << 20, 50 << 20])
  func `of small and large bodies a big cache finds as many bytes as exact LRU, less a point`(large: Int) {
    let limit = LimitRule(CacheLimits(bytes: 1 << 30), total: SharedCounters.Count(), space: nil)
    // One in fifty asks for one of a hundred large ones.
    let small = ZipfTrace(keys: 30_000, exponent: 0.9, seed: 3).requests(60_000)
    let some = ZipfTrace(keys: 100, exponent: 0.8, seed: 4).requests(60_000)
    let requests = zip(small, some).enumerated().map { $0.isMultiple(of: 50) ? -1 - $1.1 : $1.0 }
    func bytes(_ key: Int) -> Int { key < 0 ? large : 4096 * (1 + key % 8) }
    var cache = SimulatedCache(limit, shards: 256, bytes: bytes)
    var exact = ExactCache(limit: 1 << 30)
    var (found, foundByExact) = (0, 0)
    for (place, key) in requests.enumerated() {
      if cache.ask(for: key, at: Int64(place) * 100) { found += bytes(key) }
      if exact.ask(for: key, bytes(key)) { foundByExact += bytes(key) }
    }
    let asked = requests.reduce(0) { $0 + bytes($1) }
    let difference = Double(found - foundByExact) / Double(asked)
    #expect(difference >= -0.01, "\(difference * 100) points")
    func left(_ has: (Int) -> Bool) -> Int { (1...100).count { has(-$0) } }
    #expect(left(cache.contains) >= left(exact.contains) - 2)
    #expect(cache.most.bytes <= 1 << 30 + large)
    #expect(cache.meanFill >= 0.95, "\(cache.meanFill)")
  }

  @Test func `trimming all at once costs hits, which is why a big cache does not`() {
    let requests = Load.zipf10.requests
    var parts = SimulatedCache(Self.entries, shards: 256)
    var whole = SimulatedCache(Self.entries, shards: 1)
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
  private let limit: LimitRule
  private let bytes: (Int) -> Int
  private var shards: [[TrimRule.Item]]
  private var lastUse: [Int: Int64] = [:]
  private var total = SharedCounters.Count()
  private var evictedAge: Int64?
  private var filled = 0.0
  private var asked = 0
  private(set) var hits = 0
  private(set) var most = SharedCounters.Count()
  private(set) var mostLookedAt = 0

  /// - Parameter shards: one: all is looked at, and trimmed to the low water.
  init(_ limit: LimitRule, shards: Int, bytes: @escaping (Int) -> Int = { _ in 4096 }) {
    (self.limit, self.bytes) = (limit, bytes)
    self.shards = Array(repeating: [], count: shards)
  }

  /// Once it was full.
  var meanFill: Double { filled / Double(max(1, asked)) }

  func contains(_ key: Int) -> Bool { lastUse[key] != nil }

  @discardableResult
  mutating func ask(for key: Int, at now: Int64) -> Bool {
    if evictedAge != nil {
      asked += 1
      filled += limit.fill(total)
    }
    if let use = lastUse[key] {
      hits += 1
      let turnover = evictedAge ?? TouchRule.turnover(oldestAge: now, fill: limit.fill(total))
      if TouchRule.isDue(age: now - use, turnover: turnover) { lastUse[key] = now }
      return true
    }
    lastUse[key] = now
    let name = EntryName(ManagedObjectsTests.key("\(key)"))
    let item = TrimRule.Item(
      name: name, inode: UInt64(bitPattern: Int64(key)), charge: bytes(key), lastUse: now, stored: 0)
    shards[Int(name.high >> 56) % shards.count].append(item)
    total.entries += 1
    total.bytes += item.charge
    most = SharedCounters.Count(entries: max(most.entries, total.entries), bytes: max(most.bytes, total.bytes))
    while limit.isOver(total) { trimFullest(now) }
    return false
  }

  private mutating func trimFullest(_ now: Int64) {
    var run = 1
    while run < shards.count, total.entries * run < 64 * shards.count { run *= 2 }
    let runs = stride(from: 0, to: shards.count, by: run).map { $0..<($0 + run) }
    func count(_ run: Range<Int>) -> Int { shards[run].reduce(0) { $0 + $1.count } }
    guard let fullest = runs.max(by: { count($0) < count($1) }) else { return }
    var items = shards[fullest].joined().map { item in
      var item = item
      item.lastUse = (lastUse[Int(Int64(bitPattern: item.inode))] ?? 0) * 1_000_000
      return item
    }
    mostLookedAt = max(mostLookedAt, items.count)
    let seen = SharedCounters.Count(entries: items.count, bytes: items.reduce(0) { $0 + $1.charge })
    let goal =
      shards.count == 1
      ? limit.goalOfAll(lowWater: 0.9) : limit.goal(of: seen, total: total, lowWater: 0.9)
    let rule = TrimRule(
      goalBytes: goal.bytes, goalEntries: goal.entries, limitVictims: goal.limitVictims,
      now: WallTime(milliseconds: now))
    let victims = items[..<rule.select(&items)]
    evictedAge = victims.map { now - $0.lastUse / 1_000_000 }.min() ?? evictedAge
    for victim in victims {
      lastUse[Int(Int64(bitPattern: victim.inode))] = nil
      total.entries -= 1
      total.bytes -= victim.charge
    }
    for shard in fullest { shards[shard].removeAll { lastUse[Int(Int64(bitPattern: $0.inode))] == nil } }
  }
}

/// Drops what was used longest ago until the rest fits, by bytes.
private struct ExactCache {
  let limit: Int
  private var last: [Int: (place: Int, bytes: Int)] = [:]
  /// Uses in order; those that a later use of the same key made void are passed over.
  private var order: [Int] = []
  private var oldest = 0
  private var bytes = 0

  init(limit: Int) { self.limit = limit }

  func contains(_ key: Int) -> Bool { last[key] != nil }

  mutating func ask(for key: Int, _ count: Int) -> Bool {
    let isHit = last[key] != nil
    if !isHit { bytes += count }
    last[key] = (order.count, count)
    order.append(key)
    while bytes > limit {
      if let use = last[order[oldest]], use.place == oldest {
        last[order[oldest]] = nil
        bytes -= use.bytes
      }
      oldest += 1
    }
    return isHit
  }
}
