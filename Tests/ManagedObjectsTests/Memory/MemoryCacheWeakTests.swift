import Dispatch
import TestSupport
import Testing

@testable import ManagedObjects

/// Its deinit uses the cache in every way, as a user's may.
private final class Meddler: Sendable {
  let cache: MemoryCache
  let deaths: Lock<Int>.Counter

  init(_ cache: MemoryCache, _ deaths: Lock<Int>.Counter) {
    self.cache = cache
    self.deaths = deaths
  }

  deinit {
    deaths.add()
    _ = cache.find(memoryKey("kept"))
    cache.insert(ready(0), for: memoryKey("from a deinit"), cost: 1)
    cache.replaceFacts(EntryFacts(head: LoadHead()), for: memoryKey("from a deinit"))
    cache.remove(memoryKey("from a deinit"))
    cache.removeAll { $0 == memoryKey("another") }
  }
}

extension Lock<Int> {
  /// A number that several may hold.
  fileprivate final class Counter: Sendable {
    private let number = Lock(0)
    var value: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
  }
}

/// A weak reference that comes alive when it is loaded, and holds the only reference then.
private final class LastMoment: ObjectBoxing, WeakBoxing {
  let make: @Sendable () -> any ObjectBoxing
  init(_ make: @escaping @Sendable () -> any ObjectBoxing) { self.make = make }
  var isInstance: Bool { true }
  func weakBox() -> (any WeakBoxing)? { self }
  func box() -> (any ObjectBoxing)? { make() }
}

@Suite struct MemoryCacheWeakTests {
  /// Inserts objects that nobody keeps until those before them are evicted.
  private func flood(_ cache: MemoryCache, from start: Int = 100_000) {
    for number in start..<(start + 500) { cache.insert(ready(number), for: memoryKey(number), cost: 25) }
  }

  @Test(arguments: [MemoryEviction.s3FIFO, .lru])
  func `an evicted object in use is found again and kept again`(eviction: MemoryEviction) {
    let cache = MemoryCache(limitCost: 100, eviction: eviction)
    let picture = Picture(1)
    cache.insert(ready(picture, etag: "e", count: 5), for: memoryKey("a"), cost: 10)
    flood(cache)
    #expect(cache.weakCount == 1)
    cache.replaceFacts(EntryFacts(head: LoadHead(fields: ["ETag": "f"])), for: memoryKey("a"))
    let found = cache.find(memoryKey("a"))
    #expect(found?.picture === picture)
    #expect(found?.facts.head.fields["ETag"] == "f")
    #expect(found?.count == 5)
    #expect(cache.weakCount == 0)
    #expect(cache.cost <= 100)
  }

  @Test func `an evicted object that nobody uses dies and is not found`() {
    let cache = MemoryCache(limitCost: 100, eviction: .lru)
    weak var picture: Picture?
    do {
      let made = Picture(1)
      picture = made
      cache.insert(ready(made), for: memoryKey("a"), cost: 10)
    }
    #expect(picture != nil)
    flood(cache)
    #expect(picture == nil)
    #expect(cache.find(memoryKey("a")) == nil)
    #expect(cache.weakCount == 0)
  }

  @Test func `an object that was too large to keep is found while it is in use`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    var picture: Picture? = Picture(1)
    #expect(!cache.insert(ready(Picture(0)), for: memoryKey("b"), cost: 60))
    #expect(picture.map { cache.insert(ready($0), for: memoryKey("a"), cost: 60) } == false)
    #expect(cache.find(memoryKey("a"))?.picture === picture)
    #expect(cache.count == 0)
    picture = nil
    #expect(cache.find(memoryKey("a")) == nil)
  }

  @Test(arguments: [MemoryEviction.s3FIFO, .lru])
  func `evicting all leaves only what is in use to be found`(eviction: MemoryEviction) {
    let cache = MemoryCache(limitCost: 2_000, eviction: eviction)
    let inUse = Picture(0)
    cache.insert(ready(inUse), for: memoryKey(0), cost: 1)
    for number in 1..<1_000 { cache.insert(ready(Picture(number)), for: memoryKey(number), cost: 1) }
    for number in 0..<1_000 { for _ in 0..<3 { _ = cache.find(memoryKey(number)) } }
    cache.evictAll()
    #expect(cache.count == 0)
    #expect(cache.cost == 0)
    #expect(cache.find(memoryKey(0))?.picture === inUse)
    #expect(cache.find(memoryKey(1)) == nil)
    #expect(cache.count == 1)
  }

  @Test func `values leave nothing behind when they are evicted`() {
    let cache = MemoryCache(limitCost: 100, eviction: .lru)
    for number in 0..<1_000 { cache.insert(ready("\(number)"), for: memoryKey(number), cost: 10) }
    #expect(cache.count == 10)
    #expect(cache.weakCount == 0)
  }

  @Test func `entries of dead objects do not pile up`() {
    let cache = MemoryCache(limitCost: 100, eviction: .s3FIFO)
    let inUse = (0..<50).map(Picture.init)
    for picture in inUse { cache.insert(ready(picture), for: memoryKey(picture.number), cost: 25) }
    for number in 1_000..<3_000 {
      cache.insert(ready(Picture(number)), for: memoryKey(number), cost: 25)
      #expect(cache.weakCount <= 2 * inUse.count + 4)
    }
    for picture in inUse { #expect(cache.find(memoryKey(picture.number))?.picture === picture) }
  }

  @Test(arguments: [MemoryEviction.s3FIFO, .lru])
  func `a deinit may call the cache, however its object goes`(eviction: MemoryEviction) {
    let cache = MemoryCache(limitCost: 100, eviction: eviction)
    let deaths = Lock<Int>.Counter()
    func insert(_ number: Int) { cache.insert(ready(Meddler(cache, deaths)), for: memoryKey(number), cost: 10) }
    for number in 0..<100 { insert(number) }
    #expect(deaths.value >= 90)
    cache.removeAll()
    #expect(deaths.value == 100)
    insert(1)
    cache.insert(ready(1), for: memoryKey(1), cost: 10)
    insert(2)
    cache.remove(memoryKey(2))
    insert(3)
    cache.removeAll { $0 == memoryKey(3) }
    insert(4)
    cache.insert(ready(Meddler(cache, deaths)), for: memoryKey(4), cost: 1_000)
    #expect(deaths.value == 105)
  }

  @Test func `a weak reference that turns out to be the last strong one dies outside the lock`() {
    let cache = MemoryCache(limitCost: 100, eviction: .lru)
    let deaths = Lock<Int>.Counter()
    let object = LastMoment { ObjectBox(Meddler(cache, deaths)) }
    let asleep = ReadyObject(box: object, facts: EntryFacts(head: LoadHead()), count: 0)
    cache.insert(asleep, for: memoryKey("too large"), cost: 50)
    let afterInsert = deaths.value
    #expect(afterInsert > 0)
    #expect(cache.find(memoryKey("too large")) != nil)
    #expect(deaths.value > afterInsert)
    flood(cache)
  }

  @Test(arguments: [MemoryEviction.s3FIFO, .lru])
  func `eight threads at once`(eviction: MemoryEviction) {
    let cache = MemoryCache(limitCost: 400, eviction: eviction)
    let pictures = (0..<40).map(Picture.init)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      var generator = SeededRandom(seed: UInt64(thread))
      for step in 0..<2_000 {
        let number = Int.random(in: 0..<80, using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<60:
          let found: Picture? = cache.find(memoryKey(number))?.object()
          #expect(found == nil || found?.number == number)
        case ..<96:
          let picture = number < 40 ? pictures[number] : Picture(number)
          cache.insert(ready(picture), for: memoryKey(number), cost: Int.random(in: 1...120, using: &generator))
        case ..<97: cache.remove(memoryKey(number))
        case ..<98: cache.removeAll { $0 == memoryKey(number) }
        default: cache.replaceFacts(EntryFacts(head: LoadHead(status: 200 + step % 7)), for: memoryKey(number))
        }
        #expect(cache.cost <= 400)
      }
    }
    cache.removeAll()
    #expect(cache.count == 0)
    #expect(cache.weakCount == 0)
  }
}
