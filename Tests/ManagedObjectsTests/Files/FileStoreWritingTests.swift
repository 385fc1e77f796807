import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// A 304 while others replace and remove the same entry: at each moment between its steps.
struct FileStoreWritingTests {
  private static let sizes = [1000, 200_000, 3 << 20]

  /// The steps before which somebody is quicker: when the head was read, when it was written, at the last moment.
  private static let moments = [FaultyFileSystem.Call.create, .write, .exchange]

  private let folder = CacheFolder()

  /// An entry, and its facts as a 304 renews them.
  private func stored(_ size: Int, in cache: FileCache) throws -> EntryFacts {
    var facts = newFacts()
    try cache.put(key("k"), body(size), facts)
    cache.settle(atMost: .seconds(10))
    facts.head.reason = "Renewed"
    return facts
  }

  /// Nothing is left over, and the counts are those of the files.
  private func expectSound(_ cache: FileCache, entries: Int, bodies: Int) throws {
    #expect(folder.leftovers.isEmpty)
    #expect(folder.bodies.count == bodies)
    let counted = cache.statistics()
    #expect(counted.entries == entries)
    _ = cache.trim(budget: .seconds(10))
    #expect(cache.statistics().bytes == counted.bytes)
    #expect(cache.verify(repairs: false) { _ in }.badEntries == 0)
  }

  @Test(arguments: moments, sizes)
  func `a 304 does not bring back what was replaced while it was written`(
    moment: FaultyFileSystem.Call, size: Int
  ) throws {
    let (cache, other) = (try folder.fileCache(), try folder.fileCache())
    for newSize in Self.sizes {
      let facts = try stored(size, in: cache)
      folder.files.act(before: moment) { _ = try? other.put(key("k"), body(newSize, seed: 9)) }
      try cache.update(key("k"), facts: facts)
      let found = try #require(try cache.lookUp(key("k")))
      #expect(try found.data() == body(newSize, seed: 9))
      #expect(found.facts.head.reason == "OK")
      try expectSound(cache, entries: 1, bodies: newSize > 100_000 ? 1 : 0)
    }
  }

  @Test(arguments: moments, sizes)
  func `a 304 does not bring back what was removed while it was written`(
    moment: FaultyFileSystem.Call, size: Int
  ) throws {
    let (cache, other) = (try folder.fileCache(), try folder.fileCache())
    let facts = try stored(size, in: cache)
    folder.files.act(before: moment) { try? other.remove(key("k")) }
    try cache.update(key("k"), facts: facts)
    #expect(try cache.lookUp(key("k")) == nil)
    try expectSound(cache, entries: 0, bodies: 0)
  }

  @Test(arguments: sizes) func `of two that are committed while a 304 is undone the last stays`(size: Int) throws {
    let (cache, other) = (try folder.fileCache(), try folder.fileCache())
    let facts = try stored(size, in: cache)
    folder.files.act(before: .exchange) { [files = folder.files] in
      _ = try? other.put(key("k"), body(size, seed: 7))
      files.act(before: .exchange) { _ = try? other.put(key("k"), body(size, seed: 8)) }
    }
    try cache.update(key("k"), facts: facts)
    #expect(try cache.get(key("k")) == body(size, seed: 8))
    try expectSound(cache, entries: 1, bodies: size > 100_000 ? 1 : 0)
  }

  @Test(arguments: sizes) func `what is removed while a 304 is undone stays away`(size: Int) throws {
    let (cache, other) = (try folder.fileCache(), try folder.fileCache())
    let facts = try stored(size, in: cache)
    folder.files.act(before: .exchange) { [files = folder.files] in
      _ = try? other.put(key("k"), body(size, seed: 7))
      files.act(before: .exchange) { try? other.remove(key("k")) }
    }
    try cache.update(key("k"), facts: facts)
    #expect(try cache.lookUp(key("k")) == nil)
    try expectSound(cache, entries: 0, bodies: 0)
  }

  @Test(arguments: moments, sizes)
  func `of two 304s at once none is lost for the other`(moment: FaultyFileSystem.Call, size: Int) throws {
    let (cache, other) = (try folder.fileCache(), try folder.fileCache())
    let facts = try stored(size, in: cache)
    folder.files.act(before: moment) { try? other.update(key("k"), facts: facts.invalidated) }
    try cache.update(key("k"), facts: facts)
    let found = try #require(try cache.lookUp(key("k")))
    #expect(found.facts.head.reason == "Renewed" && !found.facts.isInvalidated)
    #expect(try found.data() == body(size))
    try expectSound(cache, entries: 1, bodies: size > 100_000 ? 1 : 0)
  }

  @Test(arguments: sizes) func `where names cannot be exchanged a 304 is written all the same`(size: Int) throws {
    let cache = try folder.fileCache()
    let facts = try stored(size, in: cache)
    folder.files.fail(.exchange, with: .badPath)
    try cache.update(key("k"), facts: facts)
    folder.files.mend()
    #expect(try cache.lookUp(key("k"))?.facts.head.reason == "Renewed")
    #expect(try cache.get(key("k")) == body(size))
    try expectSound(cache, entries: 1, bodies: size > 100_000 ? 1 : 0)
  }

  @Test(arguments: [FaultyFileSystem.Call.create, .write, .exchange])
  func `a fault while a 304 is written is one typed error and harms nothing`(call: FaultyFileSystem.Call) throws {
    let cache = try folder.fileCache()
    let facts = try stored(200_000, in: cache)
    folder.files.fail(call, with: .diskFull)
    #expect(throws: ObjectError.self) { try cache.update(key("k"), facts: facts) }
    folder.files.mend()
    #expect(try cache.lookUp(key("k"))?.facts.head.reason == "OK")
    #expect(try cache.get(key("k")) == body(200_000))
    try expectSound(cache, entries: 1, bodies: 1)
  }
}
