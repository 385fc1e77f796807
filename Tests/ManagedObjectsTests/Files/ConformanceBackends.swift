import Foundation

@testable import ManagedObjects

/// A backend that does one thing in another manner than ours.
final class ModestBackend: CacheBackend {
  private let manner: Manner
  private let limits: CacheLimits
  private let inner: any CacheBackend
  private let forgotten: Int
  private let errors = Lock(Set<EntryKey>())

  init(_ manner: Manner, _ folder: URL, _ limits: CacheLimits) throws {
    (self.manner, self.limits) = (manner, limits)
    let isInFiles = manner == .cannotList || manner == .forgetsCounts
    inner = isInFiles ? try FileCache(folder: folder, limits: limits) : MemoryBackend()
    forgotten = manner == .forgetsCounts ? try inner.statistics().entries : 0
  }

  func lookUp(_ key: EntryKey) throws -> (any EntryLease)? { try inner.lookUp(key) }
  func contains(_ key: EntryKey) throws -> Bool { try inner.contains(key) }
  func update(_ key: EntryKey, facts: EntryFacts) throws { try inner.update(key, facts: facts) }
  func touch(_ key: EntryKey) throws { try inner.touch(key) }
  func trim(budget: Duration) throws -> TrimResult { try inner.trim(budget: budget) }
  func settle(atMost time: Duration) { inner.settle(atMost: time) }
  func secret() throws -> [UInt8] { try inner.secret() }
  var appendsQuickly: Bool { inner.appendsQuickly }

  func begin(_ key: EntryKey, expectedBytes: Int?) throws -> EntryWriter {
    if key.kind == .error { errors.withLock { _ = $0.insert(key) } }
    let writer = try inner.begin(key, expectedBytes: expectedBytes)
    guard manner == .keepsTheOld, try isFull(for: key, expectedBytes ?? 0) else { return writer }
    return EntryWriter(VainWriter(writer) { [inner] in try inner.remove(key) })
  }

  private func isFull(for key: EntryKey, _ bytes: Int) throws -> Bool {
    if let limit = limits.limitBytes, bytes > limit { throw ObjectError(.tooLarge, "It is larger than the cache.") }
    let counted = try inner.statistics()
    if try inner.contains(key) { return false }
    return counted.entries >= limits.limitEntries ?? .max || counted.bytes + bytes > limits.limitBytes ?? .max
  }

  func remove(_ key: EntryKey) throws {
    errors.withLock { _ = $0.remove(key) }
    try inner.remove(key)
  }

  func clear() throws {
    errors.withLock { $0 = [] }
    try inner.clear()
  }

  func mayHold(_ kind: EntryKey.Kind) -> Bool {
    if manner == .countsErrors, kind == .error { return errors.withLock { !$0.isEmpty } }
    return inner.mayHold(kind)
  }

  func statistics() throws -> BackendStatistics {
    var statistics = try inner.statistics()
    statistics.entries -= forgotten
    return statistics
  }

  func forEach(_ visit: (EntrySummary) throws -> EntryVerdict) throws {
    if manner == .cannotList { throw ObjectError(.cacheBroken, "This cache cannot list its entries.") }
    try inner.forEach(visit)
  }
}

/// What it commits goes at once.
private final class VainWriter: EntryWriting {
  private let writer: Lock<EntryWriter>
  private let drop: @Sendable () throws -> Void

  init(_ writer: consuming EntryWriter, drop: @escaping @Sendable () throws -> Void) {
    self.writer = Lock(writer)
    self.drop = drop
  }

  func append(_ bytes: RawSpan) throws { try writer.withLock { try $0.append(bytes) } }

  func commit(_ facts: EntryFacts) throws -> any EntryLease {
    let lease = try writer.withLock { try $0.commit(facts) }
    try drop()
    return lease
  }

  func abort() {}
}

/// A file an entry, in which no byte stands as it was given, and nobody looks whether they are still the same.
final class PackingBackend: CacheBackend {
  private let folder: URL

  init(_ folder: URL) throws {
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func file(_ key: EntryKey) -> URL { folder.appending(path: key.digest.hex) }
  private var files: [URL] {
    (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
  }

  func lookUp(_ key: EntryKey) -> (any EntryLease)? {
    FileManager.default.contents(atPath: file(key).path).map { PackedLease(facts: someFacts, packed: $0) }
  }

  func begin(_ key: EntryKey, expectedBytes: Int?) -> EntryWriter { EntryWriter(PackingWriter(file(key))) }
  func remove(_ key: EntryKey) { try? FileManager.default.removeItem(at: file(key)) }
  func clear() { for file in files { try? FileManager.default.removeItem(at: file) } }
  func statistics() -> BackendStatistics { BackendStatistics(entries: files.count) }
}

private final class PackedLease: EntryLease {
  let facts: EntryFacts
  private let packed: Data

  init(facts: EntryFacts, packed: Data) { (self.facts, self.packed) = (facts, packed) }

  var count: Int { packed.count }
  func data() -> Data { Data(packed.map { ~$0 }) }
}

private final class PackingWriter: EntryWriting {
  private let file: URL
  private let body = Lock(Data())

  init(_ file: URL) { self.file = file }

  func append(_ bytes: RawSpan) { body.withLock { $0.append(bytes) } }

  func commit(_ facts: EntryFacts) throws -> any EntryLease {
    let packed = body.withLock { Data($0.map { ~$0 }) }
    try packed.write(to: file, options: .atomic)
    return PackedLease(facts: facts, packed: packed)
  }

  func abort() {}
}
