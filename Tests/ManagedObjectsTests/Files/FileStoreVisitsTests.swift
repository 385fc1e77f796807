import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Walks over shards: what they see, and what they make of what they cannot see.
struct FileStoreVisitsTests {
  @Test(arguments: [FaultyFileSystem.Call.list, .open, .info])
  func `what cannot be listed is not counted as gone`(call: FaultyFileSystem.Call) throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    for number in 0..<40 { try cache.put(key("\(number)"), body(100)) }
    let before = cache.statistics()
    folder.files.fail(call, with: .noDescriptors)
    #expect(!cache.trim(budget: .seconds(10)).isDone)
    func visit(_ entry: EntrySummary) -> EntryVerdict { .keep }
    if call == .list { #expect(throws: ObjectError.self) { try cache.forEach(visit) } }
    folder.files.mend()
    #expect(cache.statistics().entries == 40 && cache.statistics().bytes == before.bytes)
    #expect(cache.trim(budget: .seconds(10)).isDone)
    #expect(cache.statistics().entries == 40 && cache.statistics().bytes == before.bytes)
  }

  @Test(arguments: [1, 12, 25, 26, 130, 255]) func `a trim that begins in the middle of a tenth sees every shard`(
    position: Int
  ) throws {
    let folder = CacheFolder()
    let cache = try folder.bigFileCache(shards: 256)
    for number in 0..<300 { try cache.put(key("\(number)"), body(100)) }
    cache.settle(atMost: .seconds(10))
    let counters = try #require(cache.core.store.openFolder()).counters
    for shard in 0..<256 {
      let count = counters.rawCount(of: shard)
      counters.add(entries: -count.entries, bytes: -count.bytes, to: shard)
    }
    counters.position = position
    for _ in 0..<10 { _ = cache.trim(budget: .seconds(10)) }
    #expect(cache.statistics().entries == 300)
  }
}
