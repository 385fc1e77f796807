import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Folders that are caches are opened as they were made; all others stay as they are.
struct ExistingCacheTests {
  private let folder = CacheFolder()

  private func open(_ limits: CacheLimits = CacheFolder.limits()) throws -> any StoredCache {
    try ExistingCache.open(folder.url, limits: limits, fileSystem: folder.files, time: folder.time)
  }

  private func refusal() -> String? {
    do {
      _ = try open()
      return nil
    } catch { return (error as? ObjectError)?.message }
  }

  private func make(_ names: String...) throws {
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: false)
    chmod(folder.url.path, 0o700)
    for name in names { try Data("x".utf8).write(to: folder.url.appending(path: name)) }
  }

  @Test func `the backend that made the folder opens it`() throws {
    try folder.fileCache().put(key("a"), body(10))
    let cache = try open()
    #expect(cache is FileCache && cache.backendName == "FileCache" && cache.shards == 16)
    #expect(try cache.get(key("a")) == body(10))
  }

  @Test(arguments: [256, 4096]) func `so does the one for millions, with its shards`(shards: Int) throws {
    try folder.bigFileCache(shards: shards).put(key("a"), body(10))
    let cache = try open()
    #expect(cache is BigFileCache && cache.shards == shards)
    #expect(try cache.get(key("a")) == body(10))
  }

  @Test func `a folder that has lost its counters is looked at and trimmed without any`() throws {
    let cache = try folder.fileCache()
    for number in 0..<10 { try cache.put(key("\(number)"), body(10)) }
    // Its own worker makes a lock file, now or not at all.
    cache.settle(atMost: .seconds(10))
    try FileManager.default.removeItem(atPath: folder.full("counters"))
    let before = folder.paths
    let existing = try open(CacheFolder.limits(entries: 20))
    #expect(try existing.get(key("1")) == body(10))
    #expect(try existing.survey { _ in }.entries == 10)
    #expect(folder.paths == before)
    #expect(try existing.trim(budget: .seconds(10)).lookedAtEntries == 10)
    #expect(try existing.statistics().entries == 10)
    #expect(!folder.paths.contains("counters"))
  }

  @Test func `a folder that is not there is not made`() {
    #expect(refusal()?.contains("No such file") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.url.path))
  }

  @Test func `a foreign folder is left as it is`() throws {
    try make("precious")
    #expect(refusal()?.contains("is no cache: it has no file 'format'") == true)
    #expect(folder.paths == ["precious"])
  }

  @Test func `a foreign file called format is left as it is`() throws {
    try make("format")
    #expect(refusal()?.contains("does not say which cache") == true)
    #expect(folder.paths == ["format"])
    #expect(try folder.bytes("format") == Data("x".utf8))
  }

  @Test func `a newer version is named`() throws {
    try make()
    try folder.overwrite("format", Data("ManagedObjects 2 HugeCache 16\n".utf8))
    #expect(refusal()?.contains("was made by HugeCache, version 2") == true)
  }

  @Test func `a folder that others may write to is not touched`() throws {
    try folder.fileCache().put(key("a"), body(10))
    chmod(folder.url.path, 0o770)
    #expect(refusal()?.contains("chmod go-w") == true)
    chmod(folder.url.path, 0o700)
    #expect(refusal() == nil)
  }

  @Test func `a folder that goes away while it is open does not come back`() throws {
    try folder.fileCache().put(key("a"), body(10))
    let cache = try open()
    try FileManager.default.removeItem(at: folder.url)
    #expect(try cache.lookUp(key("a")) == nil)
    #expect(throws: (any Error).self) { try cache.put(key("b"), body(10)) }
    #expect(!FileManager.default.fileExists(atPath: folder.url.path))
  }

  @Test func `nothing is trimmed but on request`() throws {
    let big = try folder.fileCache()
    for number in 0..<20 { try big.put(key("\(number)"), body(100)) }
    let cache = try open(CacheFolder.limits(entries: 5))
    folder.time.runScheduled()
    #expect(try cache.survey { _ in }.entries == 20)
  }
}
