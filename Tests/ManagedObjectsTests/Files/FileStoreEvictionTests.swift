import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What a trim removes and what it spares: beside large bodies, beside others at work, and where something is in its way.
struct FileStoreEvictionTests {
  private func put(_ range: Range<Int>, bytes: Int = 100, in cache: any CacheBackend) throws {
    for index in range { try cache.put(key("\(index)"), body(bytes)) }
  }

  private func left(_ range: Range<Int>, in cache: any CacheBackend) throws -> [Int] {
    try range.filter { try cache.contains(key("\($0)")) }
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
}
