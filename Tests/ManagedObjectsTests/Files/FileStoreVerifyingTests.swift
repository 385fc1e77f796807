import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct FileStoreVerifyingTests {
  private let folder = CacheFolder()

  private func verify(_ cache: any StoredCache, repairs: Bool = false) -> (VerifyResult, [DamagedEntry]) {
    var found: [DamagedEntry] = []
    let result = cache.verify(repairs: repairs, found: { found.append($0) }, progress: { _ in })
    return (result, found)
  }

  @Test func `each damaged entry is named, with what is wrong`() throws {
    let cache = try folder.fileCache()
    for name in ["good", "body", "head"] { try cache.put(key(name), body(100)) }
    for name in ["gone", "cut", "changed"] { try cache.put(key(name), body(200_000)) }
    let bodies = Dictionary(grouping: folder.bodies) { String($0.prefix(34)) }
    func bodyFile(of name: String) throws -> String { try #require(bodies[folder.head(key(name))]?.first) }
    try folder.flip(folder.head(key("body")), at: try folder.bytes(folder.head(key("body"))).count - 1)
    try folder.flip(folder.head(key("head")), at: 0)
    try FileManager.default.removeItem(atPath: folder.full(bodyFile(of: "gone")))
    try folder.overwrite(bodyFile(of: "cut"), Data(count: 10))
    try folder.flip(bodyFile(of: "changed"), at: 100_000)

    let (result, found) = verify(cache)
    #expect(result.goodEntries == 1 && result.badEntries == 5 && result.bytes == 100)
    let problems = Dictionary(uniqueKeysWithValues: found.map { ($0.file, $0) })
    for (name, problem) in [
      ("body", "the body has changed"), ("head", "the head is damaged"), ("gone", "the body is missing"),
      ("cut", "the body has another length"), ("changed", "the body has changed"),
    ] {
      let entry = try #require(problems[folder.head(key(name))])
      #expect(entry.problem == problem)
      #expect(entry.id == (name == "head" ? nil : ObjectID(name)))
    }
    #expect(verify(cache).0 == result, "looking changes nothing")
  }

  @Test func `repairing removes the damaged and keeps the good`() throws {
    let cache = try folder.bigFileCache(shards: 256)
    for number in 0..<10 { try cache.put(key("\(number)"), body(100)) }
    for number in 0..<3 { try folder.flip(folder.head(key("\(number)"), shardDigits: 2), at: 60) }
    #expect(verify(cache, repairs: true).0.badEntries == 3)
    let (result, found) = verify(cache)
    #expect(result.goodEntries == 7 && result.badEntries == 0 && found.isEmpty)
    #expect(cache.statistics().entries == 7)
  }

  @Test func `repairing removes nothing for a passing fault, and claims only what went`() throws {
    let cache = try folder.fileCache()
    for name in ["a", "b"] { try cache.put(key(name), body(100)) }
    try cache.put(key("large"), body(200_000))
    try folder.flip(folder.head(key("a")), at: 60)
    folder.files.fail(.read, with: .readFailed)
    let (unread, none) = verify(cache, repairs: true)
    #expect(unread.badEntries == 3 && none.count == 3 && none.allSatisfy { !$0.isRemoved })
    folder.files.mend()
    #expect(folder.paths.filter { $0.contains("/") }.count == 4)

    folder.files.fail(.remove, with: .refused)
    let (refused, kept) = verify(cache, repairs: true)
    #expect(refused.badEntries == 1 && kept.map(\.isRemoved) == [false])
    folder.files.mend()
    #expect(cache.statistics().healedEntries == 0)
    #expect(verify(cache, repairs: true).1.map(\.isRemoved) == [true])
    #expect(verify(cache).0.badEntries == 0 && verify(cache).0.goodEntries == 2)
  }

  @Test(arguments: [100, 200_000]) func `what replaced a damaged entry while it was looked at stays`(size: Int) throws {
    let (cache, other) = (try folder.fileCache(), try folder.fileCache())
    try cache.put(key("a"), body(size))
    try folder.flip(folder.head(key("a")), at: 60)
    // Twice it is found damaged; then its name is asked for.
    folder.files.act(before: .read, after: 2) { _ = try? other.put(key("a"), body(size, seed: 2)) }
    let (result, found) = verify(cache, repairs: true)
    #expect(result.badEntries == 1 && found.map(\.isRemoved) == [false])
    #expect(try cache.get(key("a")) == body(size, seed: 2))
  }

  @Test func `a link in a body's place is damage, and goes`() throws {
    let cache = try folder.fileCache()
    try cache.put(key("a"), body(200_000))
    let file = folder.full(folder.bodies[0])
    try FileManager.default.moveItem(atPath: file, toPath: folder.full("elsewhere"))
    symlink(folder.full("elsewhere"), file)
    let (result, found) = verify(cache, repairs: true)
    #expect(result.badEntries == 1 && found.first?.problem == "the body is no file")
    #expect(found.first?.isRemoved == true)
    #expect(verify(cache).0.badEntries == 0)
    #expect(try folder.bytes("elsewhere") == body(200_000))
  }

  @Test func `something else in an entry's place is named`() throws {
    let cache = try folder.fileCache()
    try cache.put(key("a"), body(100))
    let place = folder.full(folder.head(key("a")))
    try FileManager.default.removeItem(atPath: place)
    mkfifo(place, 0o600)
    let (result, found) = verify(cache)
    #expect(result.badEntries == 1)
    #expect(found.first?.file == folder.head(key("a")))
  }

  @Test func `a folder that cannot be opened hides nothing`() throws {
    let cache = try folder.fileCache()
    try cache.put(key("a"), body(100))
    folder.files.fail(.open, with: .refused)
    let (result, found) = verify(cache)
    folder.files.mend()
    #expect(result.badEntries > 0)
    #expect(found.first?.problem.contains("Permission denied") == true)
    #expect(verify(cache).0.badEntries == 0)
  }

  @Test func `a trim that may not remove claims nothing`() throws {
    let cache = try folder.fileCache()
    for number in 0..<50 { try cache.put(key("\(number)"), body(100)) }
    var limits = CacheFolder.limits(entries: 1)
    limits.lowWater = 1
    let trimmer = try ExistingCache.open(folder.url, limits: limits, fileSystem: folder.files, time: folder.time)
    folder.files.fail(.remove, with: .refused)
    let result = try trimmer.trim(budget: .seconds(60))
    #expect(result.removedEntries == 0 && !result.isDone)
    #expect(try trimmer.statistics().entries == 50)
    folder.files.mend()
    #expect(try trimmer.trim(budget: .seconds(60)).removedEntries == 49)
  }
}
