import Dispatch
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ManagedObjects

/// What file caches are known to get wrong, over both of ours.
struct FileCachePromiseTests {
  private typealias Kind = FileCacheTests.Kind

  // MARK: Names

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a name that would be a path elsewhere removes nothing else`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    try cache.put(key("kept"), body(100))
    let names = ["", ".", "..", "/", "../..", "./kept", "kept/", "x/../kept"]
    for name in names {
      #expect(try cache.lookUp(key(name)) == nil)
      try cache.remove(key(name))
    }
    for name in names { try cache.put(key(name), Data(name.utf8)) }
    for name in names { #expect(try cache.get(key(name)) == Data(name.utf8)) }
    for name in names { try cache.remove(key(name)) }
    #expect(try cache.get(key("kept")) == body(100))
    #expect(try cache.statistics().entries == 1)
  }

  @Test func `names that end alike are in many shards`() throws {
    let folder = CacheFolder()
    let cache = try folder.bigFileCache(shards: 256)
    for index in 0..<500 { try cache.put(key("https://example.org/\(index).jpg"), Data()) }
    let shards = Set(folder.paths.compactMap { $0.split(separator: "/").first }.filter { $0.count == 2 })
    #expect(shards.count > 180)
  }

  // MARK: Living beside others

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `neither a second instance nor clearing harms what the first is writing`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let first = try kind.open(folder)
    var small = try first.begin(key("small"), expectedBytes: nil)
    var large = try first.begin(key("large"), expectedBytes: nil)
    try small.append(body(1000).bytes)
    try large.append(body(300_000).bytes)
    let second = try kind.open(folder)
    try second.clear()
    _ = try second.trim(budget: .seconds(5))
    _ = try small.commit(newFacts())
    _ = try large.commit(newFacts())
    #expect(try second.get(key("small")) == body(1000))
    #expect(try second.get(key("large")) == body(300_000))
  }

  @Test func `caches in different folders have each their own place in trimming`() throws {
    let (one, other) = (CacheFolder(), CacheFolder())
    let caches = try [one.bigFileCache(shards: 256), other.bigFileCache(shards: 256)]
    for number in 0..<200 { for cache in caches { try cache.put(key("\(number)"), Data()) } }
    for cache in caches { cache.settle(atMost: .seconds(10)) }
    for _ in 0..<5 { _ = caches[0].trim(budget: .seconds(10)) }
    #expect(caches[0].core.store.openFolder()?.counters.position == 128)
    #expect(caches[1].core.store.openFolder()?.counters.position == 0)
    #expect((0..<10).reduce(0) { sum, _ in sum + caches[1].trim(budget: .seconds(10)).lookedAtEntries } == 200)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `trims from eight threads at once come to an end and keep the limit`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let generous = try kind.open(folder)
    for number in 0..<300 { try generous.put(key("\(number)"), Data()) }
    let strict = try kind.open(folder, CacheFolder.limits(entries: 100))
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<10 { _ = try? strict.trim(budget: .milliseconds(200)) }
      strict.settle(atMost: .seconds(10))
    }
    #expect((50...100).contains(try strict.statistics().entries))
    #expect(try (0..<300).count { try strict.contains(key("\($0)")) } == strict.statistics().entries)
  }

  // MARK: Limits

  @Test func `a cache has a limit without being given one`() {
    #expect(CacheLimits().limitBytes == 1 << 30)
    let rule = LimitRule(CacheLimits(), total: SharedCounters.Count(), space: nil)
    #expect(rule.isOver(SharedCounters.Count(entries: 1, bytes: 1 << 30 + 1)))
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a limit of nothing leaves nothing, not even the youngest`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    for number in 0..<5 { try kind.open(folder).put(key("\(number)"), body(100)) }
    let cache = try kind.open(folder, CacheFolder.limits(entries: 0))
    for _ in 0..<100 where try cache.statistics().entries > 0 { _ = try cache.trim(budget: .seconds(5)) }
    #expect(try cache.statistics().entries == 0)
    #expect(folder.paths.allSatisfy { $0.split(separator: "/").last?.count != 32 })
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a lease outlives the trim of its entry`(kind: FileCacheTests.Kind) throws {
    for count in [1000, 200_000, 3 << 20] {
      let folder = CacheFolder()
      try kind.open(folder).put(key("k"), body(count))
      let cache = try kind.open(folder, CacheFolder.limits(entries: 0))
      let lease = try #require(try cache.lookUp(key("k")))
      for _ in 0..<100 where try cache.statistics().entries > 0 { _ = try cache.trim(budget: .seconds(5)) }
      #expect(try cache.lookUp(key("k")) == nil)
      #expect(try lease.data() == body(count))
    }
  }

  @Test func `others run between two visits, however short`() throws {
    let folder = CacheFolder()
    let cache = try folder.bigFileCache(CacheFolder.limits(entries: 10_000), shards: 256)
    for number in 0..<300 { try cache.put(key("\(number)"), Data()) }
    let before = folder.files.yields
    _ = cache.trim(budget: .seconds(10))
    // A tenth of the shards, some at a time.
    #expect(folder.files.yields > before)
  }

  @Test func `a big cache under a limit of thousands stays nearly full and never goes over`() throws {
    let folder = CacheFolder()
    let limit = 1000
    let cache = try folder.bigFileCache(CacheFolder.limits(entries: limit), shards: 256)
    var (most, sum, looks) = (0, 0, 0)
    for number in 0..<(2 * limit) {
      try cache.put(key("\(number)"), Data())
      guard number >= limit else { continue }
      let entries = cache.statistics().entries
      (most, sum, looks) = (max(most, entries), sum + entries, looks + 1)
    }
    cache.settle(atMost: .seconds(10))
    // A hundredth and one object; the thread that puts is never more than a commit ahead of that.
    #expect(most <= limit + limit / 100 + 2, "\(most)")
    #expect(Double(sum) / Double(looks) / Double(limit) >= 0.95)
  }

  // MARK: Many entries

  /// Bytes that malloc has given out, by malloc_info(3), whose header Swift does not see.
  private func heap() throws -> Int {
    typealias Info = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
    let info = unsafeBitCast(try #require(dlsym(nil, "malloc_info")), to: Info.self)
    var (text, count): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
    let stream = try #require(open_memstream(&text, &count))
    #expect(info(0, stream) == 0)
    fclose(stream)
    defer { free(text) }
    // What is said of all arenas together comes last.
    let lines = String(cString: try #require(text)).split(separator: "\n")
    func size(_ line: String) -> Int {
      let last = lines.last { $0.hasPrefix("<\(line)") }
      return last?.split(separator: "size=\"").last.flatMap { Int($0.prefix { $0 != "\"" }) } ?? 0
    }
    let (system, mapped) = (size("system type=\"current\""), size("total type=\"mmap\""))
    #expect(system > 0)
    return system + mapped - size("total type=\"fast\"") - size("total type=\"rest\"")
  }

  /// The sanitizer brings an allocator of its own, which keeps no such account.
  @Test(.enabled(if: !isSanitized), arguments: FileCacheTests.Kind.allCases)
  func `an entry takes no memory`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    func use(_ numbers: Range<Int>) throws {
      for number in numbers {
        try cache.put(key("\(number)"), body(100))
        #expect(try cache.get(key("\(number)"))?.count == 100)
      }
    }
    try use(0..<500)
    let before = try heap()
    try use(500..<3000)
    // Eight bytes would do for no more than a pointer to each.
    let growth = try heap() - before
    #expect(growth < 2500 * 8, "\(growth) bytes")
  }

  /// Files that look like entries; no look-up has to do with them.
  private func crowd(_ folder: CacheFolder, _ kind: FileCacheTests.Kind, _ count: Int) throws {
    _ = try kind.open(folder)
    var random = SeededRandom(seed: 1)
    for _ in 0..<count {
      let name = hexadecimal((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
      let shard = folder.full(String(name.prefix(kind.digits)))
      let path = shard + "/" + name
      var file = Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
      if file < 0 {
        mkdir(shard, 0o700)
        file = Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
      }
      close(file)
    }
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `opening and looking up take no longer among very many entries`(kind: FileCacheTests.Kind) throws {
    let isLong = ProcessInfo.processInfo.environment["MO_LONG"] != nil
    let folder = CacheFolder()
    try crowd(folder, kind, isLong ? 100_000 : 5000)
    try kind.open(folder).put(key("k"), body(1000))
    func time(_ what: String, _ work: () throws -> Void) throws {
      let start = ContinuousClock.now
      try work()
      #expect(ContinuousClock.now - start < .milliseconds(250), "\(what)")
    }
    var cache: (any StoredCache)?
    try time("opening") { cache = try kind.open(folder) }
    let opened = try #require(cache)
    var (hit, miss): (Data?, (any EntryLease)?)
    try time("the first hit") { hit = try opened.get(key("k")) }
    try time("the first miss") { miss = try opened.lookUp(key("none")) }
    #expect(hit == body(1000) && miss == nil)
    try time("800 hits from 8 threads") {
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        for _ in 0..<100 { #expect((try? opened.get(key("k"))) != nil) }
      }
    }
    #expect(folder.files.takeCalls()[.list, default: 0] < 20, "nobody listed the entries to look one up")
  }
}
