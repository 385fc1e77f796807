internal import FoundationEssentials

/// What `FileCache` and `BigFileCache` have in common: everything but how they divide and trim.
package protocol StoredCache: CacheBackend {
  var core: FileStoreCore { get }
}

/// Keeps the engine out of sight of the public types.
package struct FileStoreCore: Sendable {
  let store: FileStore
}

extension StoredCache {
  private var store: FileStore { core.store }

  public func lookUp(_ key: EntryKey) throws -> (any EntryLease)? { try store.lookUp(key) }
  public func mayHold(_ kind: EntryKey.Kind) -> Bool { store.mayHold(kind) }
  public func contains(_ key: EntryKey) -> Bool { store.contains(key) }
  public func begin(_ key: EntryKey, expectedBytes: Int?) throws -> EntryWriter {
    try store.begin(key, expectedBytes: expectedBytes)
  }
  public func update(_ key: EntryKey, facts: EntryFacts) throws { try store.update(key, facts) }
  public func touch(_ key: EntryKey) { store.touch(key) }
  public func remove(_ key: EntryKey) throws { try store.remove(key) }
  public func clear() throws { try store.clear() }
  public func forEach(_ visit: (EntrySummary) throws -> EntryVerdict) throws { try store.forEach(visit) }
  public func trim(budget: Duration) -> TrimResult { store.trim(budget: budget) }
  public func settle(atMost time: Duration) { store.settle(atMost: time) }
  public func verify(repairs: Bool, progress: (VerifyResult) -> Void) -> VerifyResult {
    store.verify(repairs: repairs, progress)
  }
  public func statistics() -> BackendStatistics { store.statistics() }
  public func secret() -> [UInt8] { store.secret() }
  /// Small bodies wait in memory, large ones are written 64 KiB at a time without waiting for the disk.
  public var appendsQuickly: Bool { true }
}

extension FileStoreCore {
  init(
    _ folder: URL, _ backend: StoreFormat.Backend, shards: Int, _ limits: CacheLimits, _ durability: Durability,
    _ verification: Verification, _ fileSystem: any FileSystem, _ time: any TimeSource
  ) throws(ObjectError) {
    guard folder.isFileURL else {
      throw ObjectError(.invalidRequest, "A cache folder is named by a file URL, as URL(filePath:) makes it.")
    }
    store = try FileStore(
      path: Self.path(of: folder), format: StoreFormat(backend: backend, shards: EntryPaths(shards: shards).shards),
      limits: limits,
      durability: durability, verification: verification, fileSystem: fileSystem, time: time)
  }

  static func path(of folder: URL) -> String {
    let path = folder.absoluteURL.path
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
