import TestSupport
import Testing

@testable import ManagedObjects

/// Least recently used, spelled out: the slowest and plainest way.
private struct PlainLRU {
  let limit: Int
  /// Oldest first.
  private(set) var entries: [(number: Int, value: Int, cost: Int)] = []
  var cost: Int { entries.reduce(0) { $0 + $1.cost } }

  init(limit: Int) { self.limit = limit }

  mutating func find(_ number: Int) -> Int? {
    guard let at = entries.firstIndex(where: { $0.number == number }) else { return nil }
    entries.append(entries.remove(at: at))
    return entries.last?.value
  }

  mutating func insert(_ number: Int, _ value: Int, cost given: Int) -> Bool {
    let cost = max(1, given)
    entries.removeAll { $0.number == number }
    guard cost <= limit / 4 else { return false }
    while self.cost + cost > limit { entries.removeFirst() }
    entries.append((number, value, cost))
    return true
  }

  mutating func removeAll(where fits: (Int) -> Bool) { entries.removeAll { fits($0.number) } }
}

@Suite struct MemoryCacheModelTests {
  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `LRU keeps exactly what the plain model keeps`(seed: UInt64) {
    var generator = SeededRandom(seed: seed)
    let cache = MemoryCache(limitCost: 200, eviction: .lru)
    var model = PlainLRU(limit: 200)
    for step in 0..<3_000 {
      let number = Int.random(in: 0..<60, using: &generator)
      switch Int.random(in: 0..<100, using: &generator) {
      case ..<50: #expect(cache.find(memoryKey(number))?.object() == model.find(number))
      case ..<95:
        let cost = Int.random(in: -3...60, using: &generator)
        let isKept = cache.insert(ready(step), for: memoryKey(number), cost: cost)
        #expect(isKept == model.insert(number, step, cost: cost))
      case ..<98:
        cache.remove(memoryKey(number))
        model.removeAll { $0 == number }
      default:
        cache.removeAll { $0 == memoryKey(number) || $0 == memoryKey(number + 1) }
        model.removeAll { $0 == number || $0 == number + 1 }
      }
      #expect(cache.count == model.entries.count)
      #expect(cache.cost == model.cost)
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func `S3-FIFO never exceeds its limit and never gives an old object`(seed: UInt64) {
    var generator = SeededRandom(seed: seed)
    let cache = MemoryCache(limitCost: 200, eviction: .s3FIFO)
    var last: [Int: Int] = [:]
    for step in 0..<3_000 {
      let number = Int.random(in: 0..<60, using: &generator)
      switch Int.random(in: 0..<100, using: &generator) {
      case ..<50:
        if let found = cache.find(memoryKey(number)) { #expect(found.object() == last[number]) }
      case ..<97:
        let isKept = cache.insert(
          ready(step), for: memoryKey(number), cost: Int.random(in: -3...60, using: &generator))
        last[number] = isKept ? step : nil
        #expect((cache.find(memoryKey(number)) != nil) == isKept)
      default:
        cache.remove(memoryKey(number))
        last[number] = nil
      }
      #expect(cache.cost <= 200)
    }
    #expect((0..<60).count { cache.find(memoryKey($0)) != nil } == cache.count)
    cache.removeAll { _ in true }
    #expect(cache.count == 0)
    #expect(cache.cost == 0)
  }

  @Test(arguments: [MemoryEviction.s3FIFO, .lru], 1...2 as ClosedRange<UInt64>)
  func `an object in use is found, or replaced or removed, whatever is evicted`(eviction: MemoryEviction, seed: UInt64)
  {
    var generator = SeededRandom(seed: seed)
    let cache = MemoryCache(limitCost: 100, eviction: eviction)
    var inUse: [Int: Picture] = [:]
    for step in 0..<3_000 {
      let number = Int.random(in: 0..<80, using: &generator)
      switch Int.random(in: 0..<100, using: &generator) {
      case ..<40:
        if let picture = inUse[number] { #expect(cache.find(memoryKey(number))?.picture === picture) }
      case ..<80:
        let picture = Picture(step)
        cache.insert(ready(picture), for: memoryKey(number), cost: Int.random(in: 1...40, using: &generator))
        inUse[number] = Bool.random(using: &generator) ? picture : nil
      case ..<95: inUse[number] = nil
      default:
        cache.remove(memoryKey(number))
        inUse[number] = nil
      }
      #expect(cache.cost <= 100)
    }
    #expect(cache.weakCount <= 2 * 80)
  }
}
