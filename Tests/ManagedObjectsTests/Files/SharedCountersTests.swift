import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct SharedCountersTests {
  private func counters(_ folder: CacheFolder, shards: Int = 256, isNew: Bool = true) throws -> SharedCounters {
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    let root = try folder.files.openFolder(at: folder.url.path)
    return SharedCounters(
      in: root, shards: shards, fileSystem: folder.files, isNew: isNew, now: WallTime(seconds: 1000))
  }

  @Test func `what one adds the other sees`() throws {
    let folder = CacheFolder()
    let first = try counters(folder)
    let second = try counters(folder)
    first.add(entries: 3, bytes: 12_288, to: 255)
    second.add(entries: -1, bytes: -4096, to: 255)
    #expect(first.total == SharedCounters.Count(entries: 2, bytes: 8192))
    #expect(second.count(of: 255..<256) == first.total)
    second.position = 77
    #expect(first.position == 77)
    first.add(entries: 1, bytes: 1, to: 256)
    first.add(entries: 1, bytes: 1, to: -1)
    #expect(first.total.entries == 2)
  }

  @Test func `the fullest run is the one with the most entries, however large they are`() throws {
    let folder = CacheFolder()
    let counters = try counters(folder)
    counters.add(entries: 1, bytes: 1_000_000, to: 9)
    counters.add(entries: 5, bytes: 20_480, to: 200)
    #expect(counters.fullestRun(of: 1) == 200..<201)
    #expect(counters.fullestRun(of: 64) == 192..<256)
    #expect(counters.fullestRun(of: 256) == 0..<256)
    #expect(counters.fullestRun(of: 1, passingOver: [200]) == 9..<10)
    #expect(counters.fullestRun(of: 64, passingOver: [192]) == 0..<64)
    #expect(counters.fullestRun(of: 256, passingOver: [0]) == nil)
  }

  @Test func `a shard that lost count is not less than empty`() throws {
    let folder = CacheFolder()
    let counters = try counters(folder)
    counters.add(entries: -5, bytes: -5, to: 1)
    counters.add(entries: 2, bytes: 2, to: 2)
    #expect(counters.total == SharedCounters.Count(entries: 2, bytes: 2))
  }

  @Test func `the ages of the oldest entry and of the one evicted last are known to all`() throws {
    let folder = CacheFolder()
    let counters = try counters(folder)
    #expect(counters.oldestAge(now: WallTime(seconds: 1500)) == 500_000)
    #expect(counters.oldestAge(now: WallTime(seconds: 500)) == 0)
    #expect(counters.evictedAge == nil)
    counters.noteEviction(age: .seconds(60))
    #expect(try self.counters(folder).evictedAge == 60_000)
  }

  @Test func `garbage in the file is counted anew`() throws {
    let folder = CacheFolder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    try folder.overwrite("counters", body(5000))
    #expect(try counters(folder).total == SharedCounters.Count())
  }

  @Test func `that no error was ever stored is known to all, and in no folder of unknown past`() throws {
    let folder = CacheFolder()
    let first = try counters(folder)
    let second = try counters(folder)
    #expect(!first.mayHoldErrors && !second.mayHoldErrors)
    second.noteError()
    #expect(first.mayHoldErrors)
    #expect(try counters(CacheFolder(), isNew: false).mayHoldErrors)
  }

  @Test func `what became of look-ups is counted for all`() throws {
    let folder = CacheFolder()
    let (first, second) = (try counters(folder), try counters(folder))
    for _ in 0..<3 { first.noteHit() }
    second.noteMiss()
    first.noteEvicted()
    second.noteHealed()
    let history = StoreHistory(
      hits: 3, misses: 1, evictedEntries: 1, healedEntries: 1, since: WallTime(seconds: 1000))
    #expect(first.history == history)
    #expect(try counters(folder).history == history)
  }

  @Test func `eight threads lose no count`() async throws {
    let folder = CacheFolder()
    let counters = try counters(folder)
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { for round in 0..<1000 { counters.add(entries: 1, bytes: 2, to: round % 256) } }
      }
    }
    #expect(counters.total == SharedCounters.Count(entries: 8000, bytes: 16_000))
  }
}
