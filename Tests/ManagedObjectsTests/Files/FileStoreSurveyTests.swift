import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct FileStoreSurveyTests {
  private let folder = CacheFolder()

  @Test func `everything is counted as it lies there`() throws {
    let cache = try folder.bigFileCache(shards: 256)
    try cache.put(key("small"), body(100))
    try cache.put(key("large"), body(200_000))
    try cache.put(EntryKey(ObjectID("p"), kind: .partial), body(50))
    try cache.put(EntryKey(ObjectID("e"), kind: .error), body(0))
    var steps = 0
    let survey = try cache.survey { _ in steps += 1 }
    #expect(steps == 4)
    #expect(survey.entries == 4 && survey.partials == 1 && survey.errors == 1 && survey.unreadable == 0)
    #expect(survey.bodyBytes == 200_150)
    #expect(survey.chargedBytes == cache.statistics().bytes)
    #expect(survey.temporaryFiles == 0)
  }

  @Test func `look-ups of all instances and what was removed for room are told`() throws {
    let cache = try folder.fileCache()
    for number in 0..<10 { try cache.put(key("\(number)"), body(10)) }
    for name in ["1", "2", "none"] { _ = try folder.fileCache().lookUp(key(name)) }
    let strict = try folder.fileCache(CacheFolder.limits(entries: 4))
    _ = strict.trim(budget: .seconds(5))
    let history = try #require(try cache.survey { _ in }.history)
    #expect(history.hits == 2 && history.misses == 1 && history.evictedEntries == 7 && history.healedEntries == 0)
  }

  @Test func `the dates are those of the last use`() throws {
    let cache = try folder.fileCache()
    #expect(try cache.survey { _ in }.oldestUse == nil)
    for name in ["a", "b"] { try cache.put(key(name), body(10)) }
    try folder.age(folder.head(key("a")), by: .seconds(86_400))
    let survey = try cache.survey { _ in }
    let (oldest, newest) = (try #require(survey.oldestUse), try #require(survey.newestUse))
    #expect((86_000...87_000).contains((newest - oldest).components.seconds))
  }

  @Test func `what dead writers left is no entry`() throws {
    let cache = try folder.fileCache()
    try cache.put(key("a"), body(200_000))
    try FileManager.default.removeItem(atPath: folder.full(folder.head(key("a"))))
    try FileManager.default.createDirectory(atPath: folder.full("temp"), withIntermediateDirectories: true)
    try folder.overwrite("temp/t" + String(repeating: "0", count: 32), Data(count: 7))
    try folder.overwrite("0/unknown", Data(count: 7))
    let survey = try cache.survey { _ in }
    #expect(survey.entries == 0)
    #expect(survey.temporaryFiles == 2 && survey.temporaryBytes == 200_007)
  }

  @Test func `an unreadable head is an entry all the same`() throws {
    let cache = try folder.fileCache()
    try cache.put(key("a"), body(10))
    try folder.flip(folder.head(key("a")), at: 0)
    let survey = try cache.survey { _ in }
    #expect(survey.entries == 1 && survey.unreadable == 1 && survey.bodyBytes == 0)
  }

  @Test func `looking puts away nothing that stands in a shard's place`() throws {
    try folder.fileCache().put(key("a"), body(10))
    let shard = String(folder.head(key("a")).prefix(1))
    try FileManager.default.moveItem(atPath: folder.full(shard), toPath: folder.full("moved"))
    symlink(folder.full("moved"), folder.full(shard))
    let cache = try ExistingCache.open(folder.url, limits: CacheFolder.limits())
    #expect(try cache.survey { _ in }.entries == 0)
    #expect(try cache.lookUp(key("a")) == nil)
    #expect(try !cache.contains(key("a")))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.full(shard)) == folder.full("moved"))
    try folder.fileCache().put(key("a"), body(20))
    #expect(try cache.get(key("a")) == body(20))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.full("moved")).count == 1)
  }

  @Test(arguments: [FaultyFileSystem.Call.list, .info])
  func `what cannot be listed to its end is not said to be cleared`(call: FaultyFileSystem.Call) throws {
    let cache = try folder.fileCache()
    try cache.put(key("a"), body(10))
    folder.files.fail(call, with: .readFailed)
    #expect(throws: ObjectError.self) { try cache.clear() }
    #expect(throws: ObjectError.self) { _ = try cache.survey { _ in } }
    folder.files.mend()
    try cache.clear()
    #expect(folder.paths.filter { $0.contains("/") }.isEmpty)
  }

  @Test func `clearing tells how far it is, and empties all`() throws {
    let cache = try folder.bigFileCache(shards: 256)
    for number in 0..<30 { try cache.put(key("\(number)"), body(100)) }
    try folder.flip(folder.head(key("7"), shardDigits: 2), at: 0)
    var seen: [Int] = []
    let result = try cache.clear { seen.append($0.removedEntries) }
    #expect(seen == Array(1...30))
    #expect(result.removedEntries == 30 && result.removedBytes == 30 * 4096)
    var empty = StoreSurvey()
    empty.history = try #require(cache.core.store.openFolder()).counters.history
    #expect(try cache.survey { _ in } == empty)
    #expect(cache.statistics().entries == 0)
  }
}
