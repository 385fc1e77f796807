import Testing

@testable import ManagedObjects

struct TrimRuleTests {
  private static let now = WallTime(seconds: 1_000_000)

  /// An item used so many seconds ago.
  private func item(_ index: Int, ago: Int64, charge: Int = 4096, storedAgo: Int64? = nil) -> TrimRule.Item {
    TrimRule.Item(
      name: EntryName(key("\(index)")), inode: UInt64(index), charge: charge,
      lastUse: (Self.now.seconds - ago) * 1_000_000_000,
      stored: storedAgo.map { (Self.now.seconds - $0) * 1_000_000_000 } ?? 0)
  }

  private func victims(_ rule: TrimRule, _ items: [TrimRule.Item]) -> [UInt64] {
    var items = items
    let count = rule.select(&items)
    return items[..<count].map(\.inode).sorted()
  }

  @Test func `without goals and ages nothing goes`() {
    let items = (0..<100).map { item($0, ago: Int64($0)) }
    #expect(victims(TrimRule(now: Self.now), items).isEmpty)
    #expect(victims(TrimRule(goalBytes: .max, goalEntries: 100, now: Self.now), items).isEmpty)
  }

  @Test func `the least recently used go until the number is right`() {
    let items = (0..<1000).map { item($0, ago: Int64($0)) }.shuffled()
    #expect(victims(TrimRule(goalEntries: 900, now: Self.now), items) == (900..<1000).map(UInt64.init))
  }

  @Test func `the least recently used go until the bytes are right`() {
    let items = (0..<100).map { item($0, ago: Int64($0), charge: 4096 * (1 + $0 % 3)) }
    let total = items.reduce(0) { $0 + $1.charge }
    let gone = Set(victims(TrimRule(goalBytes: total / 2, now: Self.now), items.shuffled()))
    let left = items.filter { !gone.contains($0.inode) }.reduce(0) { $0 + $1.charge }
    #expect(left <= total / 2)
    #expect(left > total / 2 - 3 * 4096)
    #expect(gone == Set((UInt64(100 - gone.count)..<100)))
  }

  @Test func `it is what sorting would give`() {
    for seed in 0..<50 {
      let items = (0..<Int.random(in: 1...200)).map { item($0, ago: .random(in: 0...50), charge: .random(in: 1...9)) }
      let goal = Int.random(in: 0...items.reduce(0) { $0 + $1.charge })
      var left = items.reduce(0) { $0 + $1.charge }
      var expected = 0
      for item in items.sorted(by: { $0.lastUse < $1.lastUse }) where left > goal {
        left -= item.charge
        expected = max(expected, Int(Self.now.seconds) - Int(item.lastUse / 1_000_000_000))
      }
      let gone = Set(victims(TrimRule(goalBytes: goal, now: Self.now), items))
      let removed = items.filter { gone.contains($0.inode) }
      let kept = items.filter { !gone.contains($0.inode) }
      #expect(kept.reduce(0) { $0 + $1.charge } <= goal, "round \(seed)")
      #expect((removed.map(\.lastUse).max() ?? .min) <= (kept.map(\.lastUse).min() ?? .max))
    }
  }

  @Test func `a bounded visit takes no more than it may`() {
    let items = (0..<100).map { item($0, ago: Int64($0)) }
    #expect(victims(TrimRule(goalEntries: 0, limitVictims: 20, now: Self.now), items) == (80..<100).map(UInt64.init))
  }

  @Test func `entries of equal date go one by one`() {
    let items = (0..<1000).map { item($0, ago: 5) }
    #expect(victims(TrimRule(goalEntries: 999, now: Self.now), items).count == 1)
    #expect(victims(TrimRule(goalEntries: 1, now: Self.now), items).count == 999)
  }

  @Test func `an entry dated in the future is the first to go`() {
    let items = [item(0, ago: 10), item(1, ago: -86_400 * 365), item(2, ago: 1)]
    #expect(victims(TrimRule(goalEntries: 2, now: Self.now), items) == [1])
  }

  @Test func `a clock that differs a little is no future`() {
    let items = [item(0, ago: 10), item(1, ago: -30), item(2, ago: 1)]
    #expect(victims(TrimRule(goalEntries: 2, now: Self.now), items) == [0])
  }

  @Test func `what is past its age goes even where nothing is over a limit`() {
    let items = [item(0, ago: 1, storedAgo: 101), item(1, ago: 1, storedAgo: 99), item(2, ago: 1)]
    #expect(victims(TrimRule(limitVictims: 0, limitAge: .seconds(100), now: Self.now), items) == [0])
  }

  @Test func `what was not used for long goes`() {
    let items = [item(0, ago: 101), item(1, ago: 99)]
    #expect(victims(TrimRule(limitUnused: .seconds(100), now: Self.now), items) == [0])
  }

  @Test func `nothing to choose from is no fault`() {
    #expect(victims(TrimRule(goalBytes: 0, goalEntries: 0, now: Self.now), []).isEmpty)
  }

  @Test(arguments: [0, 1, 2]) func `thirty thousand entries take a moment, whatever their order`(order: Int) {
    var items = (0..<30_000).map { item($0, ago: Int64(order == 2 ? $0 % 7 : $0)) }
    if order == 1 { items.reverse() }
    let start = ContinuousClock.now
    let count = TrimRule(goalEntries: 24_000, now: Self.now).select(&items)
    #expect(count == 6000)
    #expect(ContinuousClock.now - start < .seconds(3))
  }
}

struct TouchRuleTests {
  private func isDue(ago seconds: Int64, turnover: Int64?, limitUnused: Int64? = nil) -> Bool {
    TouchRule.isDue(
      age: seconds * 1000, turnover: turnover.map { $0 * 1000 }, limitUnused: limitUnused.map { $0 * 1000 })
  }

  @Test func `a use is worth noting when it is a tenth of the turnover later`() {
    #expect(isDue(ago: 101, turnover: 1000))
    #expect(!isDue(ago: 100, turnover: 1000))
  }

  @Test func `after an hour it always is`() {
    #expect(isDue(ago: 3601, turnover: 86_400 * 365))
    #expect(!isDue(ago: 3599, turnover: 86_400 * 365))
  }

  @Test func `as long as no turnover is known every use counts`() { #expect(isDue(ago: 0, turnover: nil)) }

  @Test func `a date in the future is put right`() { #expect(isDue(ago: -100, turnover: 86_400)) }

  @Test func `what must not stay unused for long is noted in time`() {
    #expect(isDue(ago: 11, turnover: 86_400 * 365, limitUnused: 100))
    #expect(!isDue(ago: 10, turnover: 86_400 * 365, limitUnused: 100))
  }

  @Test func `before the first eviction the turnover follows from how far the cache has filled up`() {
    #expect(TouchRule.turnover(oldestAge: 1000, fill: 0.25) == 4000)
    #expect(TouchRule.turnover(oldestAge: 1000, fill: 1) == 1000)
    #expect(TouchRule.turnover(oldestAge: 1000, fill: 2) == 1000)
    #expect(TouchRule.turnover(oldestAge: 1000, fill: 0) == 1_000_000_000)
    #expect(TouchRule.turnover(oldestAge: .max, fill: 0) == .max)
  }
}

struct LimitRuleTests {
  private let total = SharedCounters.Count(entries: 100, bytes: 1_000_000)

  private func limits(bytes: Int? = nil, entries: Int? = nil, keepFree: Int? = nil) -> CacheLimits {
    var limits = CacheLimits(bytes: bytes, entries: entries)
    limits.keepFreeBytes = keepFree
    return limits
  }

  @Test func `a cache is over when either limit is exceeded`() {
    #expect(LimitRule(limits(bytes: 999_999), total: total, space: nil).isOver(total))
    #expect(LimitRule(limits(entries: 99), total: total, space: nil).isOver(total))
    #expect(!LimitRule(limits(bytes: 1_000_000, entries: 100), total: total, space: nil).isOver(total))
    #expect(!LimitRule(limits(), total: total, space: nil).isOver(total))
  }

  @Test func `a disk that fills up lowers the limit by what is missing`() {
    let space = FileSpace(free: 700_000, total: 1 << 40)
    #expect(LimitRule(limits(keepFree: 1_000_000), total: total, space: space).limitBytes == 700_000)
    #expect(LimitRule(limits(keepFree: 0), total: total, space: space).limitBytes == nil)
    #expect(LimitRule(limits(keepFree: 5_000_000), total: total, space: space).limitBytes == 0)
  }

  @Test func `what is kept free is the smaller of a gibibyte and a twentieth`() {
    let small = FileSpace(free: 40_000, total: 1_000_000)
    #expect(LimitRule(limits(), total: total, space: small).limitBytes == 990_000)
    let large = FileSpace(free: (1 << 30) - 1000, total: 1 << 50)
    #expect(LimitRule(limits(), total: total, space: large).limitBytes == 999_000)
  }

  @Test func `the part of the limits in use is that of the fuller one`() {
    #expect(LimitRule(limits(bytes: 4_000_000), total: total, space: nil).fill(total) == 0.25)
    #expect(LimitRule(limits(bytes: 4_000_000, entries: 200), total: total, space: nil).fill(total) == 0.5)
    #expect(LimitRule(limits(), total: total, space: nil).fill(total) == 0)
    #expect(LimitRule(limits(entries: 0), total: total, space: nil).fill(total) == 2)
  }

  @Test func `writers wait only when it is over by nearly a hundredth and an object`() {
    let rule = LimitRule(limits(bytes: 900_000), total: total, space: nil)
    #expect(rule.isFarOver(total, object: 4096))
    #expect(!rule.isFarOver(total, object: 200_000))
    #expect(!LimitRule(limits(entries: 99), total: total, space: nil).isFarOver(total, object: 0))
    #expect(LimitRule(limits(entries: 98), total: total, space: nil).isFarOver(total, object: 0))
    // What may be added before the next look is a five-hundredth: together no more than a hundredth.
    let most = SharedCounters.Count(entries: 100_800 + LimitRule.checkInterval(limits(entries: 100_000), shards: 4096))
    #expect(most.entries <= 101_000)
    #expect(LimitRule(limits(entries: 100_000), total: most, space: nil).isFarOver(most, object: 0))
  }

  @Test func `all entries are trimmed to the low water`() {
    let rule = LimitRule(limits(bytes: 5000, entries: 1000), total: total, space: nil)
    #expect(rule.goalOfAll(lowWater: 0.9) == TrimGoal(bytes: 4500, entries: 900))
    #expect(LimitRule(limits(), total: total, space: nil).goalOfAll(lowWater: 0.9) == TrimGoal())
  }

  @Test func `a part of the cache loses a tenth, or what is needed, up to a fifth of its entries`() {
    let part = SharedCounters.Count(entries: 40, bytes: 400_000)
    func goal(_ limits: CacheLimits, lowWater: Double = 0.9) -> TrimGoal {
      LimitRule(limits, total: total, space: nil).goal(of: part, total: total, lowWater: lowWater)
    }
    #expect(goal(limits(bytes: 999_000)) == TrimGoal(bytes: 399_000, entries: 36, limitVictims: 8))
    #expect(goal(limits(bytes: 999_000), lowWater: 1) == TrimGoal(bytes: 399_000, entries: 40, limitVictims: 8))
    #expect(goal(limits(entries: 94)) == TrimGoal(bytes: nil, entries: 34, limitVictims: 8))
    #expect(goal(limits(entries: 99)).entries == 36)
    #expect(goal(limits(bytes: 1_000_000, entries: 99)).bytes == 400_000)
  }

  @Test func `limits of any value are no trap`() {
    for limit in [Int.min, -1, 0, .max] {
      let rule = LimitRule(limits(bytes: limit, entries: limit, keepFree: limit), total: total, space: nil)
      _ = rule.isFarOver(total, object: 4096)
      for lowWater in [-1.0, 0, 1, 2, .nan, .infinity] {
        _ = rule.goalOfAll(lowWater: lowWater)
        _ = rule.goal(of: total, total: total, lowWater: lowWater)
      }
    }
    let rule = LimitRule(limits(keepFree: .max), total: total, space: FileSpace(free: 0, total: .max))
    #expect(rule.limitBytes == 0)
  }

  @Test func `small limits are looked at after each commit`() {
    #expect(LimitRule.checkInterval(limits(entries: 10), shards: 4096) == 1)
    #expect(LimitRule.checkInterval(limits(), shards: 256) == 16)
    #expect(LimitRule.checkInterval(limits(entries: 1_000_000), shards: 4096) == 256)
  }
}
