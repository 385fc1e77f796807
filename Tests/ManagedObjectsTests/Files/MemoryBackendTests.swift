import Foundation
import Testing

@testable import ManagedObjects

struct MemoryBackendTests {
  @Test func `it keeps what is committed, and only that`() throws {
    let cache = MemoryBackend()
    let facts = newFacts()
    var writer = cache.begin(key("k"), expectedBytes: nil)
    try writer.append(body(10).bytes)
    try writer.append(body(20).bytes)
    #expect(try writer.salvage() == body(10) + body(20))
    #expect(cache.lookUp(key("k")) == nil)
    _ = try writer.commit(facts)
    let found = try #require(cache.lookUp(key("k")))
    #expect(try found.data() == body(10) + body(20))
    #expect(found.facts.head == facts.head)
    #expect(found.facts.checksum != nil)
    #expect(try found.lendPath() == nil)
    do {
      var lost = cache.begin(key("lost"), expectedBytes: nil)
      try lost.append(body(1).bytes)
    }
    #expect(!cache.contains(key("lost")))
  }

  @Test func `a 304 changes the facts of the same body only`() throws {
    let cache = MemoryBackend()
    try cache.put(key("k"), body(5))
    var facts = try #require(cache.lookUp(key("k"))).facts
    facts.head.reason = "New"
    cache.update(key("k"), facts: facts)
    #expect(cache.lookUp(key("k"))?.facts.head.reason == "New")
    cache.update(key("k"), facts: newFacts())
    #expect(cache.lookUp(key("k"))?.facts.head.reason == "New")
  }

  @Test func `it lists, removes, clears and counts`() throws {
    let cache = MemoryBackend()
    for index in 0..<4 { try cache.put(key("\(index)"), body(index)) }
    try cache.forEach({ $0.key == key("3") ? .remove : .keep })
    #expect(cache.statistics().entries == 3)
    #expect(cache.statistics().bytes == 3)
    #expect(try cache.verify(repairs: false) { _ in }.goodEntries == 3)
    cache.remove(key("2"))
    cache.clear()
    #expect(cache.statistics().entries == 0)
    #expect(cache.secret().count == 32)
    #expect(cache.secret() == cache.secret())
  }
}

/// A backend that writes only what it must.
private final class LeastBackend: CacheBackend {
  private let memory = MemoryBackend()
  let isDamaged = Lock(false)

  func lookUp(_ key: EntryKey) throws -> (any EntryLease)? { isDamaged.withLock { $0 } ? nil : memory.lookUp(key) }
  func begin(_ key: EntryKey, expectedBytes: Int?) throws -> EntryWriter {
    memory.begin(key, expectedBytes: expectedBytes)
  }
  func remove(_ key: EntryKey) throws { memory.remove(key) }
  func clear() throws { memory.clear() }
  func statistics() throws -> BackendStatistics { memory.statistics() }
}

struct CacheBackendDefaultsTests {
  @Test func `what a backend does not write is done by what it does`() throws {
    let cache = LeastBackend()
    try cache.put(key("k"), body(100))
    #expect(try cache.contains(key("k")))
    #expect(try !cache.contains(key("other")))
    var facts = try #require(try cache.lookUp(key("k"))).facts
    facts.head.reason = "New"
    try cache.update(key("k"), facts: facts)
    #expect(try cache.lookUp(key("k"))?.facts.head.reason == "New")
    #expect(try cache.get(key("k")) == body(100))
    try cache.update(key("k"), facts: newFacts())
    #expect(try cache.lookUp(key("k"))?.facts.head.reason == "New")
    try cache.touch(key("k"))
    cache.settle(atMost: .seconds(1))
    #expect(try cache.trim(budget: .seconds(1)).isDone)
    #expect(!cache.appendsQuickly)
    #expect(try cache.secret() == cache.secret())
    #expect(throws: ObjectError.self) { try cache.forEach({ _ in .keep }) }
  }
}
