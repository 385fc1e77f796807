import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Limits, use and leftovers, over both caches.
struct FileStoreTrimmingTests {
  private typealias Kind = FileCacheTests.Kind

  /// All of it, which of a big cache takes ten steps.
  @discardableResult
  private func trimAll(_ cache: any StoredCache) throws -> TrimResult {
    var sum = TrimResult()
    for _ in 0..<10 { sum.add(try cache.trim(budget: .seconds(10))) }
    return sum
  }

  /// As often as it takes to come by every shard.
  private func runTimer(_ folder: CacheFolder, _ cache: any StoredCache) {
    for _ in 0..<10 {
      folder.time.runScheduled()
      cache.settle(atMost: .seconds(10))
    }
  }

  // MARK: Limits

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a limit of entries holds over thousands of commits`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder, CacheFolder.limits(entries: 500))
    var most = 0
    for index in 0..<2500 {
      try cache.put(key("\(index)"), Data())
      if index.isMultiple(of: 10) { most = max(most, try cache.statistics().entries) }
    }
    cache.settle(atMost: .seconds(10))
    #expect(most <= 510)
    let statistics = try cache.statistics()
    #expect(statistics.entries <= 500)
    #expect(statistics.entries >= 400)
    #expect(try left(2400..<2500, in: cache).count >= 95)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a limit of bytes holds, whatever the sizes`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let limit = 8 << 20
    let cache = try kind.open(folder, CacheFolder.limits(bytes: limit))
    for index in 0..<600 { try cache.put(key("\(index)"), body(index % 7 == 0 ? 150_000 : 9000)) }
    cache.settle(atMost: .seconds(10))
    #expect(try cache.statistics().bytes <= limit)
    #expect(try cache.statistics().bytes > limit / 2)
    let onDisk = try folder.paths.reduce(0) {
      try $0
        + (FileManager.default.attributesOfItem(
          atPath: folder.full($1))[.size] as? Int ?? 0)
    }
    #expect(onDisk <= limit + (200 << 10))
    #expect(try cache.verify(repairs: false) { _ in }.badEntries == 0)
  }

  @Test func `two instances with limits of their own share one count`() throws {
    let folder = CacheFolder()
    let generous = try folder.fileCache(CacheFolder.limits(entries: 1000))
    let strict = try folder.fileCache(CacheFolder.limits(entries: 50))
    try put(0..<100, in: generous)
    #expect(strict.statistics().entries == 100)
    try put(100..<101, in: strict)
    strict.settle(atMost: .seconds(10))
    #expect(generous.statistics().entries <= 50)
  }

  @Test func `a disk that is nearly full makes the cache smaller`() throws {
    let folder = CacheFolder()
    let cache = try cacheOnFullDisk(in: folder)
    _ = cache.trim(budget: .seconds(10))
    #expect((75...90).contains(cache.statistics().entries))
  }

  @Test func `nothing is removed below the limits`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache(CacheFolder.limits(bytes: 100 * 4096, entries: 100))
    try put(0..<100, in: cache)
    cache.settle(atMost: .seconds(10))
    let result = cache.trim(budget: .seconds(10))
    #expect(result.removedEntries == 0)
    #expect(result.lookedAtEntries == 100)
    #expect(result.isDone)
  }

  // MARK: Last use and age

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `what was read lately stays, also when another instance read it`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let limits = CacheFolder.limits(entries: 10)
    let cache = try kind.open(folder, limits)
    try put(0..<10, in: cache)
    // What its first commit woke; of two that trim at once one does nothing.
    cache.settle(atMost: .seconds(10))
    for index in 0..<10 {
      try folder.age(folder.head(key("\(index)"), shardDigits: kind.digits), by: .seconds(60 * (20 - index)))
    }
    let reader = try kind.open(folder, limits)
    for index in 0..<2 { #expect(try reader.get(key("\(index)")) != nil) }
    try put(10..<11, in: reader)
    reader.settle(atMost: .seconds(10))
    let kept = try left(0..<11, in: cache)
    #expect(kept.starts(with: [0, 1]))
    #expect(!kept.contains(2))
    #expect(kept.contains(10))
    #expect(kept.count >= 8)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `entries dated in the future do not crowd out the new ones`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder, CacheFolder.limits(entries: 100))
    try put(0..<100, in: cache)
    for index in 0..<10 {
      try folder.age(folder.head(key("\(index)"), shardDigits: kind.digits), by: .seconds(-365 * 86_400))
    }
    for index in 10..<100 {
      try folder.age(folder.head(key("\(index)"), shardDigits: kind.digits), by: .seconds(600))
    }
    try put(100..<110, in: cache)
    cache.settle(atMost: .seconds(10))
    #expect(try cache.statistics().entries <= 100)
    #expect(try left(100..<110, in: cache).count == 10)
    #expect(try left(0..<10, in: cache).isEmpty)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `an entry past its age is a miss, and goes with a trim`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder, CacheFolder.limits(age: .seconds(100)))
    try put(0..<5, in: cache)
    folder.time.shift(by: .seconds(101))
    #expect(try cache.lookUp(key("0")) == nil)
    #expect(try !cache.contains(key("1")))
    #expect(try cache.statistics().entries == 4)
    #expect(try trimAll(cache).removedEntries == 4)
    #expect(try cache.statistics().entries == 0)
  }

  @Test func `reading does not make an entry younger`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache(CacheFolder.limits(age: .seconds(100)))
    try put(0..<1, in: cache)
    folder.time.shift(by: .seconds(60))
    let lease = try #require(try cache.lookUp(key("0")))
    try cache.update(key("0"), facts: lease.facts)
    folder.time.shift(by: .seconds(60))
    #expect(try cache.lookUp(key("0")) == nil)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `an entry that nobody uses goes, one that is used stays`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    var limits = CacheFolder.limits()
    limits.limitUnused = .seconds(100)
    let cache = try kind.open(folder, limits)
    try put(0..<2, in: cache)
    folder.time.shift(by: .seconds(90))
    #expect(try cache.lookUp(key("0")) != nil)
    folder.time.shift(by: .seconds(90))
    #expect(try cache.lookUp(key("0")) != nil)
    #expect(try cache.lookUp(key("1")) == nil)
  }

  @Test func `in an old folder too an entry that is used does not count as unused`() throws {
    let folder = CacheFolder()
    var limits = CacheFolder.limits()
    limits.limitUnused = .seconds(100)
    let cache = try folder.fileCache(limits)
    folder.time.shift(by: .seconds(86_400))
    try put(0..<1, in: cache)
    try folder.age(folder.head(key("0")), by: .seconds(-86_400))
    for _ in 0..<10 {
      folder.time.shift(by: .seconds(30))
      #expect(try cache.lookUp(key("0")) != nil)
    }
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `without commits the timer finds what is past its age`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder, CacheFolder.limits(age: .seconds(100)))
    try put(0..<5, in: cache)
    cache.settle(atMost: .seconds(10))
    folder.time.shift(by: .seconds(101))
    runTimer(folder, cache)
    #expect(try cache.statistics().entries == 0)
    // And it goes on.
    try put(5..<6, in: cache)
    folder.time.shift(by: .seconds(101))
    runTimer(folder, cache)
    #expect(try cache.statistics().entries == 0)
  }

  @Test func `a date is renewed by a use only when that matters`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache(CacheFolder.limits(entries: 2))
    try put(0..<1, in: cache)
    let path = folder.head(key("0"))
    try folder.age(path, by: .seconds(7200))
    _ = try cache.lookUp(key("0"))
    #expect(abs(folder.date(path).timeIntervalSinceNow) < 60)
    // Half full in this time: the turnover is twice as long, and a tenth of it matters.
    for (seconds, isDue) in [(1000, true), (150, false), (150, true)] {
      folder.time.shift(by: .seconds(seconds))
      _ = folder.files.takeCalls()
      _ = try cache.lookUp(key("0"))
      #expect(folder.files.takeCalls()[.setModified] == (isDue ? 1 : nil), "\(seconds) s later")
    }
    _ = try cache.lookUp(key("0"))
    #expect(folder.files.takeCalls()[.setModified] == nil)
    cache.touch(key("0"))
    #expect(folder.files.takeCalls()[.setModified] == 1)
  }

  // MARK: Leftovers

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `what dead writers left is removed after the grace, and no live writer's file`(kind: FileCacheTests.Kind) throws
  {
    let folder = CacheFolder()
    var limits = CacheFolder.limits()
    limits.graceForLeftovers = .seconds(100)
    let cache = try kind.open(folder, limits)
    var writer = try cache.begin(key("live"), expectedBytes: nil)
    try writer.append(body(200_000).bytes)
    try cache.put(key("kept"), body(200_000))
    try cache.put(key("gone"), body(200_000))
    let name = "t" + String(repeating: "0", count: 32)
    let orphan = folder.bodies.first { $0.contains(key("gone").digest.hex.prefix(32)) }
    try FileManager.default.removeItem(atPath: folder.full(folder.head(key("gone"), shardDigits: kind.digits)))
    let shard = String(repeating: "0", count: kind.digits)
    let dead = ["temp/\(name)", "\(shard)/\(name)", name, try #require(orphan)]
    mkdir(folder.full(shard), 0o700)
    for path in dead where path.hasSuffix(name) {
      #expect(FileManager.default.createFile(atPath: folder.full(path), contents: body(1000)))
    }
    try trimAll(cache)
    for path in dead { #expect(FileManager.default.fileExists(atPath: folder.full(path))) }
    folder.time.shift(by: .seconds(200))
    try trimAll(cache)
    for path in dead { #expect(!FileManager.default.fileExists(atPath: folder.full(path)), "\(path)") }
    _ = try writer.commit(newFacts())
    #expect(try cache.get(key("live")) == body(200_000))
    #expect(try cache.get(key("kept")) == body(200_000))
  }

  @Test func `a second body of one entry is found and removed`() throws {
    let folder = CacheFolder()
    var limits = CacheFolder.limits()
    limits.graceForLeftovers = .zero
    let cache = try folder.fileCache(limits)
    try cache.put(key("k"), body(200_000))
    let old = folder.head(key("k")) + "." + String(repeating: "0", count: 16)
    #expect(FileManager.default.createFile(atPath: folder.full(old), contents: body(70_000)))
    _ = cache.trim(budget: .seconds(10))
    #expect(!FileManager.default.fileExists(atPath: folder.full(old)))
    #expect(try cache.get(key("k")) == body(200_000))
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `the first commit of a process sweeps`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    var limits = CacheFolder.limits()
    limits.graceForLeftovers = .seconds(2)
    let first = try kind.open(folder, limits)
    try put(0..<1, in: first)
    first.settle(atMost: .seconds(10))
    mkdir(folder.full("temp"), 0o700)
    let dead = "temp/t" + String(repeating: "0", count: 32)
    #expect(FileManager.default.createFile(atPath: folder.full(dead), contents: body(5000)))
    folder.time.shift(by: .seconds(10))
    let next = try kind.open(folder, limits)
    try put(1..<2, in: next)
    next.settle(atMost: .seconds(10))
    #expect(!FileManager.default.fileExists(atPath: folder.full(dead)))
  }

  // MARK: Steps and counters

  @Test(arguments: [256, 4096]) func `ten steps look at every entry of a big cache once`(shards: Int) throws {
    let folder = CacheFolder()
    let cache = try folder.bigFileCache(shards: shards)
    try put(0..<300, in: cache)
    cache.settle(atMost: .seconds(10))
    for round in 0..<2 {
      // Steps of two instances make one round together.
      var looked: [Int] = []
      for step in 0..<10 {
        let instance = step.isMultiple(of: 2) ? cache : try folder.bigFileCache()
        looked.append(instance.trim(budget: .seconds(10)).lookedAtEntries)
      }
      #expect(looked.reduce(0, +) == 300, "round \(round)")
      #expect(looked.max() ?? 0 < 75)
      #expect(looked.min() ?? 0 > 5)
    }
  }

  @Test func `a step without time does a little, and the next goes on there`() throws {
    let folder = CacheFolder()
    let cache = try folder.bigFileCache(shards: 256)
    try put(0..<200, in: cache)
    var looked = 0
    var steps = 0
    repeat {
      looked += cache.trim(budget: .zero).lookedAtEntries
      steps += 1
    } while cache.core.store.openFolder()?.counters.position != 0 && steps < 1000
    #expect(looked == 200)
    #expect(steps >= 10)
  }

  @Test func `the number of shards follows the limits, and then stays`() throws {
    #expect(BigFileCache.shards(for: CacheLimits(bytes: 1 << 30)) == 4096)
    #expect(BigFileCache.shards(for: CacheLimits(bytes: 100 << 20)) == 256)
    #expect(BigFileCache.shards(for: CacheLimits(bytes: nil, entries: 1000)) == 256)
    #expect(BigFileCache.shards(for: CacheLimits(bytes: nil)) == 4096)
    let folder = CacheFolder()
    try folder.bigFileCache(shards: 256).put(key("k"), body(10))
    #expect(try folder.bigFileCache(shards: 4096).get(key("k")) == body(10))
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `counts that are wrong are set right by a trim`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    try put(0..<20, bytes: 5000, in: cache)
    let right = try cache.statistics()
    let counters = try #require(cache.core.store.openFolder()).counters
    for shard in 0..<counters.shards { counters.add(entries: shard * 7 - 20, bytes: shard << 12, to: shard) }
    #expect(try cache.statistics() != right)
    try trimAll(cache)
    #expect(try cache.statistics() == right)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `counts that are lost are made again from what is there`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    try put(0..<40, in: try kind.open(folder))
    try FileManager.default.removeItem(atPath: folder.full("counters"))
    let cache = try kind.open(folder)
    #expect(try cache.statistics().entries == 0)
    for index in 40..<60 {
      try cache.put(key("\(index)"), Data())
      cache.settle(atMost: .seconds(10))
    }
    #expect(try cache.statistics().entries == 60)
  }

  @Test func `counters take little room and are there before they are written to`() throws {
    let folder = CacheFolder()
    _ = try folder.bigFileCache(shards: 4096)
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.full("counters"))
    #expect(attributes[.size] as? Int == 8 * (16 + 2 * 4096))
    var status = stat()
    #expect(stat(folder.full("counters"), &status) == 0)
    #expect(Int(status.st_blocks) * 512 >= Int(status.st_size))
  }

  @Test func `a long visit lets others run`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache(CacheFolder.limits(entries: 10_000))
    try put(0..<2000, bytes: 0, in: cache)
    let before = folder.files.yields
    let start = ContinuousClock.now
    let result = cache.trim(budget: .seconds(10))
    // Every two milliseconds, give or take the steps between two looks at the clock.
    let time = ContinuousClock.now - start
    let pieces = folder.files.yields - before
    #expect(pieces >= Int(time.wholeMilliseconds) / 20)
    // The longest is no less than all of them on the average, but for what is done before and after the visit.
    #expect(result.longestPiece >= time / (pieces * 2))
    #expect(result.longestPiece < time)
  }
}
