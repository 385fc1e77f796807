package import FoundationEssentials

/// A cache folder that is there already, opened by whichever of our backends made it: for whoever looks after it.
package enum ExistingCache {
  /// - Parameter limits: what `trim` goes down to. Nothing is trimmed but by that call.
  /// - Throws: `.cacheBroken` where there is no such folder, it is no cache, is of a version not known here, belongs to
  ///   another user or may be written to by others. Nothing is made or changed then.
  package static func open(_ folder: URL, limits: CacheLimits) throws(ObjectError) -> any StoredCache {
    try open(folder, limits: limits, fileSystem: PosixFileSystem(), time: SystemTime())
  }

  static func open(
    _ folder: URL, limits: CacheLimits, fileSystem: any FileSystem, time: any TimeSource
  ) throws(ObjectError) -> any StoredCache {
    let core = FileStoreCore(
      store: try FileStore(
        existing: FileStoreCore.path(of: folder), limits: limits, fileSystem: fileSystem, time: time))
    return switch core.store.format.backend {
    case .fileCache: FileCache(core: core)
    case .bigFileCache: BigFileCache(core: core)
    }
  }
}

extension StoredCache {
  /// The backend as the folder's `format` file names it.
  package var backendName: String { core.store.format.backend.rawValue }
  package var formatVersion: Int { StoreFormat.version }
  package var shards: Int { core.store.format.shards }
  /// Steps of `trim` that together see every entry once.
  package var stepsOfTrim: Int { core.store.slices }

  /// Counts what is in the folder, file by file.
  package func survey(progress: (StoreSurvey) -> Void) throws(ObjectError) -> StoreSurvey {
    try core.store.survey(progress)
  }

  /// As `verify`, and tells of each damaged entry.
  package func verify(
    repairs: Bool, found: (DamagedEntry) -> Void, progress: (VerifyResult) -> Void
  ) -> VerifyResult {
    core.store.verify(repairs: repairs, found: found, progress)
  }

  /// As `clear`, and tells how far it is.
  package func clear(progress: (TrimResult) -> Void) throws -> TrimResult { try core.store.clear(progress) }
}
