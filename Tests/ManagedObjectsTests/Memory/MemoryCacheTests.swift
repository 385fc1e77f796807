import Testing

@testable import CacheBenchmark
@testable import ManagedObjects

@Suite struct MemoryCacheTests {
  @Test(arguments: [MemoryEviction.s3FIFO, .lru])
  func `what was inserted is found with its facts and length`(eviction: MemoryEviction) throws {
    let cache = MemoryCache(limitCost: 100, eviction: eviction)
    #expect(cache.find(memoryKey("a")) == nil)
    #expect(cache.insert(ready(42, etag: "\"1\"", count: 7), for: memoryKey("a"), cost: 10))
    let found = try #require(cache.find(memoryKey("a")))
    #expect(found.object() == 42)
    #expect(found.facts.head.fields["ETag"] == "\"1\"")
    #expect(found.count == 7)
    #expect(cache.count == 1)
    #expect(cache.cost == 10)
  }

  @Test func `scope, kind, namespace and representation tell objects of one name apart`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    let representation = Representation(of: Int.self, variant: "")
    let keys = [
      memoryKey("a"), memoryKey("a", scope: "user 1"), memoryKey("a", variant: "small"),
      MemoryKey(id: ObjectID("a", kind: .url), representation: representation),
      MemoryKey(id: ObjectID("a", namespace: "n"), representation: representation),
      MemoryKey(id: ObjectID("a"), representation: Representation(of: Int.self, madeBy: Picture.self)),
    ]
    for (number, key) in keys.enumerated() { cache.insert(ready(number), for: key, cost: 1) }
    #expect(cache.count == keys.count)
    for (number, key) in keys.enumerated() { #expect(cache.find(key)?.object() == number) }
  }

  @Test(arguments: [MemoryEviction.s3FIFO, .lru])
  func `inserting again replaces object and cost`(eviction: MemoryEviction) {
    let cache = MemoryCache(limitCost: 100, eviction: eviction)
    cache.insert(ready(1), for: memoryKey("a"), cost: 25)
    #expect(cache.insert(ready(2), for: memoryKey("a"), cost: 5))
    #expect(cache.find(memoryKey("a"))?.object() == 2)
    #expect(cache.count == 1)
    #expect(cache.cost == 5)
  }

  @Test func `after a 304 the same object stands under the new facts`() throws {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    let picture = Picture(1)
    cache.insert(ready(picture, etag: "old", count: 9), for: memoryKey("a"), cost: 1)
    cache.replaceFacts(EntryFacts(head: LoadHead(fields: ["ETag": "new"])), for: memoryKey("a"))
    let found = try #require(cache.find(memoryKey("a")))
    #expect(found.picture === picture)
    #expect(found.facts.head.fields["ETag"] == "new")
    #expect(found.count == 9)
    cache.replaceFacts(EntryFacts(head: LoadHead()), for: memoryKey("b"))
    #expect(cache.find(memoryKey("b")) == nil)
  }

  // MARK: What is made while something is taken back

  @Test func `what was made of bytes that were removed meanwhile is not kept`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    let key = memoryKey("a")
    let takers: [() -> Void] = [
      { cache.removeAll(of: key.id) }, { cache.removeAll { _ in false } }, { cache.invalidate(key.id) },
      { cache.removeAll() },
    ]
    for take in takers {
      let count = cache.recallCount(of: key.id)
      take()
      #expect(!cache.insert(ready(1), for: key, cost: 1, ifNoRecallSince: count))
      #expect(cache.find(key) == nil)
      #expect(cache.insert(ready(1), for: key, cost: 1, ifNoRecallSince: cache.recallCount(of: key.id)))
      cache.remove(key)
    }
  }

  @Test func `an old body that is decoded late does not replace a newer object`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    let count = cache.recallCount(of: memoryKey("a").id)
    cache.insert(ready(2, at: 20), for: memoryKey("a"), cost: 1)
    #expect(!cache.insert(ready(1, at: 10), for: memoryKey("a"), cost: 1, ifNoRecallSince: count))
    #expect(cache.find(memoryKey("a"))?.facts.responseTime == WallTime(seconds: 20))
  }

  @Test func `an old body is not kept in one form while a newer one is here in another`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    let (one, other) = (memoryKey("a"), memoryKey("a", variant: "other"))
    let count = cache.recallCount(of: one.id)
    cache.insert(ready(2, at: 20), for: one, cost: 1)
    #expect(!cache.insert(ready(1, at: 10), for: other, cost: 1, ifNoRecallSince: count))
    // That a 304 confirmed it just now makes it no newer.
    let confirmed = ready(1, at: 30)
    let time = WallTime(seconds: 10)
    #expect(!cache.insert(confirmed, for: other, cost: 1, ifNoRecallSince: count, bodyFrom: time))
    #expect(cache.insert(confirmed, for: other, cost: 1, ifNoRecallSince: count))
  }

  @Test func `what comes after the clock was set back is kept`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    cache.insert(ready(1, at: 1000), for: memoryKey("a"), cost: 1)
    let new = ready(2, at: 10)
    let count = cache.supersede(memoryKey("a").id, scope: "", by: new.facts)
    #expect(cache.insert(new, for: memoryKey("a"), cost: 1, ifNoRecallSince: count))
  }

  @Test(arguments: [1, 100]) func `all forms and scopes of an object go, and no other's, few or many`(many: Int) {
    let cache = MemoryCache(limitCost: 100_000, eviction: .s3FIFO)
    let keys = (0..<many).map { memoryKey("a", scope: "\($0 % 40)", variant: "\($0)") }
    for key in keys + [memoryKey("b")] { cache.insert(ready(1), for: key, cost: 1) }
    cache.updateFacts(of: keys[0].id, scope: "0") { _ in nil }
    cache.invalidate(keys[0].id)
    #expect(keys.allSatisfy { cache.find($0)?.facts.isInvalidated == true })
    #expect(cache.find(memoryKey("b"))?.facts.isInvalidated == false)
    cache.removeAll(of: keys[0].id)
    #expect(cache.count == 1 && cache.find(memoryKey("b")) != nil)
  }

  @Test func `objects of an older body are asked about once a newer one is stored`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    let old = ready(1, at: 10)
    cache.insert(old, for: memoryKey("a"), cost: 1)
    cache.insert(ready(2, at: 10), for: memoryKey("b"), cost: 1)
    cache.supersede(memoryKey("a").id, scope: "", by: old.facts)
    #expect(cache.find(memoryKey("a"))?.facts.isInvalidated == false)
    cache.supersede(memoryKey("a").id, scope: "", by: ready(3, at: 20).facts)
    #expect(cache.find(memoryKey("a"))?.facts.isInvalidated == true)
    #expect(cache.find(memoryKey("b"))?.facts.isInvalidated == false)
  }

  // MARK: Costs

  @Test func `instances that cost more than all there is are found while in use, and trap nothing`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    let things = (0..<3).map { Picture($0) }
    for (number, thing) in things.enumerated() {
      #expect(!cache.insert(ready(thing), for: memoryKey(number), cost: .max))
    }
    withExtendedLifetime(things) {
      for number in 0..<3 { #expect(cache.find(memoryKey(number)) != nil) }
    }
    #expect(cache.cost == 0)
  }

  @Test func `an object of over a quarter of the limit is refused`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    #expect(cache.insert(ready(1), for: memoryKey("a"), cost: 25))
    #expect(!cache.insert(ready(2), for: memoryKey("b"), cost: 26))
    #expect(!cache.insert(ready(3), for: memoryKey("c"), cost: .max))
    #expect(cache.count == 1)
    #expect(cache.cost == 25)
  }

  @Test func `a refused object leaves nothing older under its key`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    cache.insert(ready(1), for: memoryKey("a"), cost: 1)
    #expect(!cache.insert(ready(2), for: memoryKey("a"), cost: 50))
    #expect(cache.find(memoryKey("a")) == nil)
    #expect(cache.cost == 0)
  }

  @Test(arguments: [0, -1, Int.min])
  func `a cost of nothing or less counts as one`(cost: Int) {
    let cache = MemoryCache(limitCost: 100, eviction: .lru)
    #expect(cache.insert(ready(1), for: memoryKey("a"), cost: cost))
    #expect(cache.cost == 1)
  }

  @Test(arguments: [0, 1, 3, -5, Int.min])
  func `a limit too small for any object keeps none`(limit: Int) {
    let cache = MemoryCache(limitCost: limit, eviction: .s3FIFO)
    #expect(!cache.insert(ready(1), for: memoryKey("a"), cost: 1))
    #expect(cache.find(memoryKey("a")) == nil)
    #expect(cache.count == 0)
  }

  @Test(arguments: [MemoryEviction.s3FIFO, .lru])
  func `the largest limit does not overflow`(eviction: MemoryEviction) {
    let cache = MemoryCache(limitCost: .max, eviction: eviction)
    for number in 0..<8 { #expect(cache.insert(ready(number), for: memoryKey(number), cost: .max / 4)) }
    #expect(cache.count == 4)
    #expect(cache.cost == .max / 4 * 4)
  }

  @Test(arguments: [MemoryEviction.s3FIFO, .lru])
  func `very many tiny objects are bounded in number`(eviction: MemoryEviction) {
    let cache = MemoryCache(limitCost: 1 << 20, eviction: eviction)
    for number in 0..<70_000 { cache.insert(ready(number), for: memoryKey(number), cost: 1) }
    #expect(cache.count == 1 << 16)
  }

  // MARK: Removal

  @Test func `what was removed is not found`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    for number in 0..<10 { cache.insert(ready(number), for: memoryKey(number), cost: 1) }
    cache.remove(memoryKey(3))
    cache.remove(memoryKey(99))
    #expect(cache.count == 9)
    #expect(cache.find(memoryKey(3)) == nil)
    cache.removeAll { $0.id.name.hasSuffix("7") || $0.id.name.hasSuffix("8") }
    #expect(cache.count == 7)
    #expect(cache.find(memoryKey(7)) == nil)
    cache.removeAll()
    #expect(cache.count == 0)
    #expect(cache.cost == 0)
    #expect(cache.find(memoryKey(1)) == nil)
    #expect(cache.insert(ready(1), for: memoryKey(1), cost: 1))
  }

  @Test func `an object in use is not found once it was removed`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    let pictures = (0..<4).map(Picture.init)
    for picture in pictures { cache.insert(ready(picture), for: memoryKey(picture.number), cost: 50) }
    #expect(cache.weakCount == 4)
    cache.remove(memoryKey(0))
    cache.removeAll { $0 == memoryKey(1) }
    #expect(cache.find(memoryKey(0)) == nil)
    #expect(cache.find(memoryKey(1)) == nil)
    #expect(cache.find(memoryKey(2))?.picture === pictures[2])
    cache.removeAll()
    #expect(cache.find(memoryKey(3)) == nil)
    #expect(cache.weakCount == 0)
  }

  // MARK: Hit ratio

  private func hits(_ trace: [Int], limit: Int, _ eviction: MemoryEviction) -> Int {
    let cache = MemoryCache(limitCost: limit, eviction: eviction)
    return trace.count { number in
      if cache.find(memoryKey(number)) != nil { return true }
      cache.insert(ready(number), for: memoryKey(number), cost: 1)
      return false
    }
  }

  /// How many of a hundred requests hit more than with LRU, in a cache for a tenth of the keys.
  private func gain(_ trace: [Int]) -> Double {
    Double(hits(trace, limit: 500, .s3FIFO) - hits(trace, limit: 500, .lru)) * 100 / Double(trace.count)
  }

  private func popular(_ exponent: Double, seed: UInt64) -> [Int] {
    ZipfTrace(keys: 5_000, exponent: exponent, seed: seed).requests(30_000)
  }

  @Test(arguments: [(0.8, 1), (0.8, 2), (1.0, 3), (1.0, 4), (1.0, 5), (1.1, 6)] as [(Double, UInt64)])
  func `S3-FIFO hits more often than LRU where some objects are more popular`(exponent: Double, seed: UInt64) {
    let gain = gain(popular(exponent, seed: seed))
    #expect(gain >= 3, "\(gain) points")
  }

  @Test(arguments: [3, 4, 5] as [UInt64]) func `S3-FIFO hits more often than LRU between scans`(seed: UInt64) {
    let trace = popular(0.9, seed: seed).enumerated().flatMap { at, key in
      at % 5_000 == 4_999 ? [key] + (0..<1_000).map { 10_000 + at + $0 } : [key]
    }
    let gain = gain(trace)
    #expect(gain >= 5, "\(gain) points")
  }

  /// A twentieth of the keys become others at once, or a hundredth five times as often.
  @Test(arguments: [(20, 3), (20, 4), (20, 5), (100, 3), (100, 4), (100, 5)] as [(Int, UInt64)])
  func `S3-FIFO loses little to LRU where popularity drifts`(part: Int, seed: UInt64) {
    let trace = popular(1, seed: seed).enumerated().map { at, key in (key + at * part / 50_000 * 5_000 / part) % 10_000
    }
    let gain = gain(trace)
    #expect(gain >= -5, "\(gain) points")
  }

  @Test func `a scan does not flush the objects that are read again and again`() {
    let cache = MemoryCache(limitCost: 600, eviction: .s3FIFO)
    for _ in 0..<3 {
      for number in 0..<300 where cache.find(memoryKey(number)) == nil {
        cache.insert(ready(number), for: memoryKey(number), cost: 1)
      }
    }
    for number in 10_000..<15_000 { cache.insert(ready(number), for: memoryKey(number), cost: 1) }
    #expect((0..<300).count { cache.find(memoryKey($0)) != nil } >= 298)
  }
}
