import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What a trim removes and what it spares: beside large bodies, beside others at work, and where something is in its way.
struct FileStoreEvictionTests {
  @Test func `a large body that was just stored outlives small ones that nobody used`() throws {
    let folder = CacheFolder()
    let cache = try folder.bigFileCache(CacheFolder.limits(bytes: 16 << 20), shards: 256)
    try put(0..<1300, bytes: 9000, in: cache)
    for round in 0..<3 {
      try cache.put(key("large \(round)"), body(3 << 20))
      try put(2000 + 50 * round..<2050 + 50 * round, bytes: 9000, in: cache)
      cache.settle(atMost: .seconds(10))
      #expect(cache.contains(key("large \(round)")))
    }
    #expect(cache.statistics().bytes <= 16 << 20)
    #expect(cache.statistics().bytes >= 15 << 20)
    #expect(try left(2000..<2150, in: cache).count >= 140)
  }

  @Test func `a part that cannot be listed does not keep the others from being trimmed`() throws {
    let folder = CacheFolder()
    let cache = try folder.bigFileCache(CacheFolder.limits(entries: 15_000), shards: 256)
    try put(0..<200, bytes: 0, in: cache)
    let counters = try #require(cache.core.store.openFolder()).counters
    let shard = Int(key("0").digest.bytes[0])
    // The fullest one, so that each is looked at by itself; and it is no folder any more.
    counters.add(entries: 20_000, bytes: 0, to: shard)
    let path = folder.full(String(folder.head(key("0"), shardDigits: 2).prefix(2)))
    try FileManager.default.moveItem(atPath: path, toPath: path + ".moved")
    symlink(path + ".moved", path)
    cache.settle(atMost: .seconds(20))
    #expect(try left(0..<200, in: cache).count < 20)
    #expect(counters.count(of: shard..<(shard + 1)).entries >= 20_000)
  }

  @Test func `an entry dated in the future says nothing of how long others stay when it goes`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache(CacheFolder.limits(entries: 10))
    try put(0..<10, in: cache)
    cache.settle(atMost: .seconds(10))
    try folder.age(folder.head(key("0")), by: .seconds(-86_400))
    for index in 1..<10 { try folder.age(folder.head(key("\(index)")), by: .seconds(3600)) }
    try put(10..<11, in: cache)
    cache.settle(atMost: .seconds(10))
    let age = try #require(cache.core.store.openFolder()).counters.evictedAge
    #expect(try #require(age) >= 3_500_000)
  }

  @Test(arguments: [false, true])
  func `an entry that is used or replaced while a trim is on its way to it stays`(isReplaced: Bool) throws {
    let folder = CacheFolder()
    let generous = try folder.fileCache()
    try put(0..<3, in: generous)
    generous.settle(atMost: .seconds(10))
    for index in 0..<2 { try folder.age(folder.head(key("\(index)")), by: .seconds(600)) }
    var limits = CacheFolder.limits(entries: 1)
    limits.lowWater = 1
    let trimmer = try folder.fileCache(limits)
    // Both are to go; when the first of them goes the other is not what it was.
    folder.files.act(before: .remove) {
      for index in 0..<2 {
        if isReplaced { _ = try? generous.put(key("\(index)"), body(300)) } else { generous.touch(key("\(index)")) }
      }
    }
    #expect(trimmer.trim(budget: .seconds(10)).removedEntries == 1)
    #expect(try left(0..<3, in: generous).count == 2)
    #expect(generous.statistics().entries == 2)
  }

  @Test func `a put that finds the disk full has room made for the next`() throws {
    let folder = CacheFolder()
    let cache = try cacheOnFullDisk(in: folder)
    folder.files.fail(.write, with: .diskFull, times: 1)
    #expect(throws: ObjectError.self) { try put(100..<101, in: cache) }
    cache.core.store.worker.wait(atMost: .seconds(10))
    // All of them, since this disk says that it is as full as before.
    #expect(cache.statistics().entries <= 90)
  }
}
