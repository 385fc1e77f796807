import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Folders that somebody emptied, all or in part, while programs use them or between two of them.
struct FileStoreEmptiedTests {
  private static let small = body(10_000)
  private static let large = body(200_000)

  @Test(arguments: FileCacheTests.Kind.allCases, [false, true])
  func `a folder that is emptied while in use is a cache again, also for another process`(
    kind: FileCacheTests.Kind, isLarge: Bool
  ) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    let content = isLarge ? Self.large : Self.small
    for number in 0..<10 { try cache.put(key("\(number)"), Self.small) }
    try cache.put(key("k"), content)
    cache.settle(atMost: .seconds(5))
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
      try FileManager.default.removeItem(atPath: folder.full(name))
    }
    if (try? cache.put(key("k"), content)) == nil { try cache.put(key("k"), content) }
    #expect(throws: Never.self) { try ExistingCache.open(folder.url, limits: CacheFolder.limits()) }
    #expect(throws: ObjectError.self) { try (kind == .file ? FileCacheTests.Kind.big : .file).open(folder) }
    let other = try kind.open(folder)
    #expect(try other.get(key("k")) == content)
    for number in 0..<5 { try other.put(key("\(number)"), Self.small) }
    for _ in 0..<10 { _ = try other.trim(budget: .seconds(10)) }
    for cache in [cache, other] { #expect(try cache.statistics().entries == 6) }
    #expect(try cache.secret() == other.secret())
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a folder whose own files are gone is no new one, and is counted`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    for number in 0..<20 { try kind.open(folder).put(key("\(number)"), Self.small) }
    try kind.open(folder).put(EntryKey(ObjectID("e"), kind: .error), Data())
    for name in ["format", "counters"] { try FileManager.default.removeItem(atPath: folder.full(name)) }
    let cache = try kind.open(folder)
    #expect(cache.mayHold(.error))
    for number in 20..<40 {
      try cache.put(key("\(number)"), Self.small)
      cache.settle(atMost: .seconds(10))
    }
    #expect(try cache.statistics().entries == 41)
  }
}
