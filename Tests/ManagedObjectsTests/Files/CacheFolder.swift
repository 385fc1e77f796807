import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// A folder of one test, removed with it, and what tests of file caches do over and over.
final class CacheFolder: Sendable {
  let url: URL
  let time = ShiftedTime()
  let files = FaultyFileSystem()

  init() {
    url = FileManager.default.temporaryDirectory.appending(path: "mo-files-\(UUID().uuidString)")
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Limits that do not depend on how full the machine's disk is.
  static func limits(bytes: Int? = 1 << 30, entries: Int? = nil, age: Duration? = nil) -> CacheLimits {
    var limits = CacheLimits(bytes: bytes, entries: entries, age: age)
    limits.keepFreeBytes = 0
    return limits
  }

  /// With few shards, so that a few entries share them.
  func fileCache(_ limits: CacheLimits = limits(), durability: Durability = .none) throws -> FileCache {
    try FileCache(folder: url, limits: limits, durability: durability, shards: 16, fileSystem: files, time: time)
  }

  func bigFileCache(_ limits: CacheLimits = limits(), shards: Int? = nil) throws -> BigFileCache {
    try BigFileCache(folder: url, limits: limits, shards: shards, fileSystem: files, time: time)
  }

  // MARK: Files

  /// Every file below, by its path in the folder.
  var paths: [String] {
    let all = FileManager.default.enumerator(atPath: url.path)?.compactMap { $0 as? String } ?? []
    return all.filter { path in
      (try? FileManager.default.attributesOfItem(atPath: full(path))[.type] as? FileAttributeType) != .typeDirectory
    }.sorted()
  }

  func full(_ path: String) -> String { url.path + "/" + path }

  func head(_ key: EntryKey, shardDigits: Int = 1) -> String {
    "\(key.digest.hex.prefix(shardDigits))/\(key.digest.hex.prefix(32))"
  }

  /// Files that hold bodies too large for their heads.
  var bodies: [String] { paths.filter { $0.split(separator: "/").last?.count == 49 } }
  var leftovers: [String] {
    paths.filter { $0.split(separator: "/").last?.count == 33 && $0.split(separator: "/").last?.first == "t" }
  }

  func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: full(path))) }

  /// Writes into the file itself, as damage does, and not by rename.
  func overwrite(_ path: String, _ bytes: Data) throws {
    chmod(full(path), 0o600)
    let file = open(full(path), O_WRONLY | O_TRUNC | O_CREAT, 0o600)
    defer { close(file) }
    _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
  }

  func flip(_ path: String, at offset: Int) throws {
    var bytes = try bytes(path)
    bytes[offset] ^= 0x40
    try overwrite(path, bytes)
  }

  /// Sets a file's date to so long ago.
  func age(_ path: String, by age: Duration) throws {
    let date = Date(timeIntervalSinceNow: -age.inSeconds)
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: full(path))
  }

  func date(_ path: String) -> Date {
    (try? FileManager.default.attributesOfItem(atPath: full(path))[.modificationDate] as? Date) ?? .distantPast
  }
}

/// The machine's time, moved by as much as a test says; scheduled work never runs but by hand.
final class ShiftedTime: TimeSource {
  private struct State {
    var shift = Duration.zero
    var scheduled: [@Sendable () -> Void] = []
  }

  private let state = Lock(State())

  var now: Moment { .now }
  var wallNow: WallTime { SystemTime().wallNow + state.withLock { $0.shift } }

  func shift(by duration: Duration) { state.withLock { $0.shift += duration } }

  func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledWork {
    state.withLock { $0.scheduled.append(work) }
    return ScheduledWork {}
  }

  /// Runs what is scheduled now.
  func runScheduled() {
    let work = state.withLock { state in
      let work = state.scheduled
      state.scheduled = []
      return work
    }
    for work in work { work() }
  }
}

func key(_ name: String, namespace: String = "") -> EntryKey { EntryKey(ObjectID(name, namespace: namespace)) }

/// Bytes that differ with the seed and do not repeat soon.
func body(_ count: Int, seed: UInt8 = 1) -> Data {
  var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
  var words = [UInt64](repeating: 0, count: (count + 7) / 8)
  for at in words.indices {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    words[at] = state ^ state >> 33
  }
  return words.withUnsafeBytes { Data($0.prefix(count)) }
}

let someFacts = EntryFacts(
  head: LoadHead(status: 200, reason: "OK", fields: ["Content-Type": "text/plain", "ETag": "\"v1\""]),
  requestTime: WallTime(seconds: 1000), responseTime: WallTime(seconds: 1001), varying: ["Accept": "text/*"])

/// The same with a new body's name.
func newFacts() -> EntryFacts {
  var facts = someFacts
  facts.generation = .random(in: .min ... .max)
  return facts
}

/// With a hundred entries; then the disk has ten blocks less than the cache is to keep free.
func cacheOnFullDisk(in folder: CacheFolder) throws -> FileCache {
  var limits = CacheFolder.limits()
  limits.keepFreeBytes = 1_000_000
  let cache = try folder.fileCache(limits)
  try put(0..<100, in: cache)
  cache.settle(atMost: .seconds(10))
  #expect(cache.statistics().entries == 100)
  folder.files.setSpace(FileSpace(free: 1_000_000 - 10 * 4096, total: 1 << 40))
  return cache
}

/// So many entries, named by their numbers.
func put(_ range: Range<Int>, bytes: Int = 100, in cache: any CacheBackend) throws {
  for index in range { try cache.put(key("\(index)"), body(bytes)) }
}

/// Those of them that are still there.
func left(_ range: Range<Int>, in cache: any CacheBackend) throws -> [Int] {
  try range.filter { try cache.contains(key("\($0)")) }
}

extension CacheBackend {
  @discardableResult
  func put(_ key: EntryKey, _ body: Data, _ facts: EntryFacts = newFacts()) throws -> any EntryLease {
    var writer = try begin(key, expectedBytes: body.count)
    try writer.append(body.bytes)
    return try writer.commit(facts)
  }

  func get(_ key: EntryKey) throws -> Data? { try lookUp(key)?.data() }
}
