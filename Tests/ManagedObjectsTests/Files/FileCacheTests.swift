import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// The contract that `FileCache` and `BigFileCache` share, over both.
struct FileCacheTests {
  enum Kind: String, CaseIterable, Sendable {
    case file, big

    func open(_ folder: CacheFolder, _ limits: CacheLimits = CacheFolder.limits()) throws -> any StoredCache {
      switch self {
      case .file: try folder.fileCache(limits)
      case .big: try folder.bigFileCache(limits, shards: 256)
      }
    }

    var digits: Int { self == .file ? 1 : 2 }
  }

  private static let small = body(10_000)
  private static let large = body(200_000)
  private static let huge = body(3 << 20)

  // MARK: Storing and finding

  @Test(arguments: Kind.allCases) func `what was put is found, by this and by another instance`(kind: Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    for (name, body) in [("empty", Data()), ("s", Self.small), ("l", Self.large), ("h", Self.huge)] {
      let facts = newFacts()
      let lease = try cache.put(key(name), body, facts)
      #expect(try lease.data() == body)
      for cache in [cache, try kind.open(folder)] {
        let found = try #require(try cache.lookUp(key(name)))
        #expect(found.count == body.count)
        #expect(try found.data() == body)
        var expected = facts
        expected.checksum = StreamingChecksum.of(body.bytes)
        #expect(found.facts == expected)
        #expect(try cache.contains(key(name)))
      }
    }
    #expect(try cache.lookUp(key("other")) == nil)
    #expect(try !cache.contains(key("other")))
  }

  @Test func `bytes may come in pieces of any size`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    let whole = body(500_000)
    for size in [1000, 65_535, 65_536, 65_537, 200_000] {
      var writer = try cache.begin(key("k"), expectedBytes: nil)
      for start in stride(from: 0, to: whole.count, by: size) {
        try writer.append(whole[start..<min(start + size, whole.count)].bytes)
      }
      _ = try writer.commit(newFacts())
      #expect(try cache.get(key("k")) == whole)
    }
  }

  @Test(arguments: [65_535, 65_536, 65_537]) func `around 64 KiB a body moves out of its head's file`(count: Int) throws
  {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("k"), body(count))
    #expect(folder.bodies.count == (count > 65_536 ? 1 : 0))
    #expect(try cache.get(key("k")) == body(count))
    if count > 65_536 { #expect(try folder.bytes(folder.bodies[0]) == body(count)) }
  }

  @Test func `keys that differ in one part are different entries`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    let keys = [
      key("a"), key("a", namespace: "n"), EntryKey(ObjectID("a", kind: .url)), EntryKey(ObjectID("a"), scope: "s"),
      EntryKey(ObjectID("a"), kind: .error), EntryKey(ObjectID("a"), variant: "v"), key("n"), key("/a"), key("_a"),
      key(".."), key("a/b"), key("a_b"), key("caf\u{E9}"), key("cafe\u{301}"),
    ]
    for (index, key) in keys.enumerated() { try cache.put(key, Data("\(index)".utf8)) }
    for (index, key) in keys.enumerated() { #expect(try cache.get(key) == Data("\(index)".utf8)) }
    #expect(cache.statistics().entries == keys.count)
  }

  @Test(arguments: Kind.allCases)
  func `twenty thousand like names and a thousand near-equal pairs are as many files`(kind: Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    // One of them is enough for so many; what differs is the number of folders.
    var names = (0..<(kind == .big ? 20_000 : 2000)).map {
      "https://example.org/images/items/\(String(1_000_000 + $0).dropFirst()).jpg"
    }
    for index in 0..<1000 {
      let middle = String(index + 1000)
      names.append(String(repeating: "x", count: 98) + middle.dropLast() + "a" + String(repeating: "y", count: 98))
      names.append(String(repeating: "x", count: 98) + middle.dropLast() + "b" + String(repeating: "y", count: 98))
    }
    let unique = Array(Set(names))
    for name in unique { try cache.put(key(name), Data(name.utf8)) }
    for name in unique { #expect(try cache.get(key(name)) == Data(name.utf8)) }
    #expect(try cache.statistics().entries == unique.count)
    #expect(Set(unique.map { folder.head(key($0), shardDigits: kind.digits) }).count == unique.count)
  }

  @Test(arguments: Kind.allCases) func `a name of any length makes file names the system takes`(kind: Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    let first = "/obj?sig=" + String(repeating: "s", count: 3000)
    try cache.put(key(first + "a"), Data("one".utf8))
    try cache.put(key(first + "b"), Self.large)
    #expect(try kind.open(folder).get(key(first + "a")) == Data("one".utf8))
    #expect(try kind.open(folder).get(key(first + "b")) == Self.large)
    #expect(folder.paths.allSatisfy { $0.split(separator: "/").allSatisfy { $0.utf8.count <= 255 } })
  }

  @Test func `folders and files are for the owner only`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("s"), Self.small)
    try cache.put(key("l"), Self.large)
    _ = cache.secret()
    let all = FileManager.default.enumerator(atPath: folder.url.path)?.compactMap { $0 as? String } ?? []
    #expect(all.count > 6)
    for path in all + [""] {
      let mode = try FileManager.default.attributesOfItem(atPath: folder.full(path))[.posixPermissions] as? Int ?? 0
      #expect(mode & 0o077 == 0, "\(path)")
    }
  }

  // MARK: Replacing, updating, removing

  @Test(
    arguments: [(10_000, 20_000), (10_000, 200_000), (200_000, 10_000), (200_000, 300_000)] as [(Int, Int)],
    Kind.allCases)
  func `a new body takes the place of the old and nothing is left of it`(sizes: (Int, Int), kind: Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    try cache.put(key("k"), body(sizes.0, seed: 1))
    try cache.put(key("k"), body(sizes.1, seed: 2))
    #expect(try cache.get(key("k")) == body(sizes.1, seed: 2))
    #expect(folder.bodies.count == (sizes.1 > 65_536 ? 1 : 0))
    #expect(folder.leftovers.isEmpty)
    let statistics = try cache.statistics()
    #expect(statistics.entries == 1)
    let files = try (folder.bodies + [folder.head(key("k"), shardDigits: kind.digits)]).reduce(0) {
      try $0 + folder.bytes($1).count
    }
    #expect(statistics.bytes == (files + 4095) / 4096 * 4096)
  }

  @Test(arguments: [10_000, 200_000, 3 << 20]) func `a lease stays as it was`(count: Int) throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("k"), body(count, seed: 1))
    let old = try #require(try cache.lookUp(key("k")))
    let fresh = try cache.put(key("x"), body(count, seed: 3))
    try cache.put(key("k"), body(count, seed: 2))
    let removed = try #require(try cache.lookUp(key("k")))
    try cache.clear()
    #expect(try old.data() == body(count, seed: 1))
    #expect(try removed.data() == body(count, seed: 2))
    #expect(try fresh.data() == body(count, seed: 3))
    #expect(try cache.get(key("k")) == nil)
  }

  @Test func `data outlives its lease`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    for body in [Self.small, Self.large, Self.huge] {
      try cache.put(key("k"), body)
      let data = try #require(try cache.get(key("k")))
      try cache.remove(key("k"))
      #expect(data == body)
    }
  }

  @Test(arguments: [10_000, 200_000]) func `a 304 changes the facts and keeps the bytes`(count: Int) throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("k"), body(count))
    let bodies = folder.bodies
    let lease = try #require(try cache.lookUp(key("k")))
    var facts = lease.facts
    facts.head.fields["Date"] = "now"
    facts.head.fields["X-Long"] = String(repeating: "x", count: 9000)
    facts.responseTime = WallTime(seconds: 2000)
    try cache.update(key("k"), facts: facts)
    let found = try #require(try folder.fileCache().lookUp(key("k")))
    #expect(found.facts == facts)
    #expect(try found.data() == body(count))
    #expect(folder.bodies == bodies)
    #expect(cache.statistics().entries == 1)
  }

  @Test func `a 304 for a body that is not there any more changes nothing`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("k"), Self.small)
    var stale = try #require(try cache.lookUp(key("k"))).facts
    stale.head.reason = "stale"
    try cache.put(key("k"), body(5))
    try cache.update(key("k"), facts: stale)
    #expect(try cache.lookUp(key("k"))?.facts.head.reason == "OK")
    try cache.update(key("missing"), facts: stale)
    #expect(try cache.lookUp(key("missing")) == nil)
  }

  @Test func `what is removed is gone with its files`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    for (name, body) in [("s", Self.small), ("l", Self.large)] {
      try cache.put(key(name), body)
      try cache.remove(key(name))
      try cache.remove(key(name))
      #expect(try cache.get(key(name)) == nil)
    }
    #expect(folder.bodies.isEmpty)
    #expect(cache.statistics().entries == 0)
    #expect(cache.statistics().bytes == 0)
  }

  @Test(arguments: Kind.allCases)
  func `clearing leaves nothing, and the cache goes on`(kind: Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    let other = try kind.open(folder)
    for index in 0..<50 { try cache.put(key("\(index)"), body(index * 3000)) }
    var writer = try other.begin(key("unfinished"), expectedBytes: nil)
    try writer.append(Self.large.bytes)
    try cache.clear()
    #expect(try cache.statistics().entries == 0)
    #expect(folder.bodies.isEmpty)
    _ = try writer.commit(newFacts())
    #expect(try cache.get(key("unfinished")) == Self.large)
    try cache.put(key("again"), Self.small)
    #expect(try other.get(key("again")) == Self.small)
  }

  // MARK: Writers

  @Test func `an unfinished entry is not seen and leaves nothing`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    do {
      var writer = try cache.begin(key("k"), expectedBytes: nil)
      try writer.append(Self.large.bytes)
      #expect(folder.leftovers.count == 1)
      #expect(try cache.lookUp(key("k")) == nil)
    }
    #expect(folder.leftovers.isEmpty)
    #expect(folder.bodies.isEmpty)
  }

  @Test(arguments: [1000, 200_000]) func `a writer gives back what it was given`(count: Int) throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    var writer = try cache.begin(key("k"), expectedBytes: nil)
    try writer.append(body(count).bytes)
    #expect(try writer.salvage() == body(count))
  }

  @Test func `a body that is not the promised one is not stored`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    var facts = newFacts()
    facts.checksum = 1
    #expect(throws: ObjectError.self) { try cache.put(key("k"), Self.small, facts) }
    #expect(throws: ObjectError.self) { try cache.put(key("k"), Self.large, facts) }
    #expect(try cache.lookUp(key("k")) == nil)
  }

  @Test func `a body larger than the cache is refused at once`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache(CacheFolder.limits(bytes: 100_000))
    #expect(throws: ObjectError.self) { _ = try cache.begin(key("k"), expectedBytes: 100_001) }
    var writer = try cache.begin(key("k"), expectedBytes: nil)
    try writer.append(body(90_000).bytes)
    #expect {
      try writer.append(body(10_001).bytes)
    } throws: {
      ($0 as? ObjectError)?.code == .tooLarge
    }
    #expect(try writer.salvage() == body(90_000))
  }

  // MARK: Listing and verifying

  @Test func `every entry is shown once, with its key, facts and length`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    let sizes = ["a": 0, "b": 5000, "c": 200_000]
    for (name, size) in sizes { try cache.put(key(name, namespace: "n"), body(size)) }
    var seen: [String: Int] = [:]
    try cache.forEach({ entry in
      #expect(entry.key == key(entry.key.id.name, namespace: "n"))
      #expect(entry.facts.head == someFacts.head)
      seen[entry.key.id.name] = entry.count
      return .keep
    })
    #expect(seen == sizes)
  }

  @Test func `a visitor may remove, and stop`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    for index in 0..<10 { try cache.put(key("\(index)", namespace: index < 5 ? "a" : "b"), Data()) }
    try cache.forEach({ $0.key.id.namespace == "a" ? .remove : .keep })
    #expect(cache.statistics().entries == 5)
    var seen = 0
    try cache.forEach({ _ in
      seen += 1
      return seen == 3 ? .stop : .keep
    })
    #expect(seen == 3)
  }

  @Test func `verifying finds what is damaged and removes it only when asked to`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    for index in 0..<6 { try cache.put(key("\(index)"), body(10_000)) }
    try cache.put(key("l"), Self.large)
    try folder.flip(folder.head(key("0")), at: 9000)
    try folder.flip(folder.bodies[0], at: 100_000)
    var steps = 0
    var result = cache.verify(repairs: false) { _ in steps += 1 }
    #expect(steps == 7)
    #expect(result.goodEntries == 5)
    #expect(result.badEntries == 2)
    #expect(result.bytes == 50_000)
    #expect(cache.verify(repairs: true) { _ in }.badEntries == 2)
    result = cache.verify(repairs: false) { _ in }
    #expect(result.goodEntries == 5)
    #expect(result.badEntries == 0)
    #expect(cache.statistics().entries == 5)
    #expect(cache.statistics().healedEntries == 2)
  }

  @Test func `hits, misses and evictions are counted`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache(CacheFolder.limits(entries: 5))
    for index in 0..<8 { try cache.put(key("\(index)"), Data()) }
    cache.settle(atMost: .seconds(10))
    _ = try cache.lookUp(key("7"))
    _ = try cache.lookUp(key("none"))
    let statistics = cache.statistics()
    #expect(statistics.hits == 1)
    #expect(statistics.misses == 1)
    #expect(statistics.entries + statistics.evictedEntries == 8)
  }

  // MARK: What a call costs

  @Test func `a small entry is written by one open, one write and one rename, and read by one read`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("warm"), Self.small)
    cache.settle(atMost: .seconds(10))
    let name = (0...).lazy.map { "\($0)" }.first { key($0).digest.hex.prefix(1) == key("warm").digest.hex.prefix(1) }
    let next = key(try #require(name))
    _ = folder.files.takeCalls()
    try cache.put(next, Self.small)
    #expect(folder.files.takeCalls() == [.create: 1, .lock: 1, .write: 1, .rename: 1])
    _ = try cache.lookUp(next)
    var calls = folder.files.takeCalls()
    // Its date may be renewed.
    calls[.setModified] = nil
    #expect(calls == [.open: 1, .info: 1, .read: 1])
    _ = cache.contains(next)
    #expect(folder.files.takeCalls() == [.info: 1])
    _ = try cache.lookUp(key("warm" + name!))
    #expect(folder.files.takeCalls().values.reduce(0, +) <= 2)
  }

  @Test func `opening a folder looks at none of its entries`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    for index in 0..<100 { try cache.put(key("\(index)"), Data()) }
    _ = folder.files.takeCalls()
    _ = try folder.fileCache()
    let calls = folder.files.takeCalls()
    #expect(calls[.list] == nil)
    #expect(calls.values.reduce(0, +) < 12)
  }

  @Test func `durability waits for body, head and folder`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache(durability: .data)
    try cache.put(key("s"), Self.small)
    #expect(folder.files.takeCalls()[.sync] == 2)
    try cache.put(key("l"), Self.large)
    #expect(folder.files.takeCalls()[.sync] == 3)
  }
}
