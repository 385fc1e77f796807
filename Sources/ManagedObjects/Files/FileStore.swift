/// The engine of `FileCache` and `BigFileCache`: entries as files in shards, see `EntryPaths` and `EntryFormat`.
///
/// What must stay true:
/// - An entry becomes visible, changes and goes by one rename or unlink of its head. Readers take no lock: what they
///   have open stays as it was, and what they read is checked before it is believed.
/// - Any number of instances and processes use one folder as equals. Nothing about an entry is kept in memory, and
///   opening a folder does not look at its entries.
/// - Only files that this engine names are removed, and nothing is followed out of the folder.
/// - Nothing here is retried for ever: a fault costs one entry's caching and is thrown as one typed error.
///
/// Reading is in `FileStoreReading`, writing in `FileStoreWriting` and `FileEntryWriter`, what walks over shards in
/// `FileStoreVisits` and `FileStoreTrimming`. Locks are held for a few instructions, never across a system call.
final class FileStore: Sendable {
  let fileSystem: any FileSystem
  let time: any TimeSource
  let limits: CacheLimits
  let durability: Durability
  let verification: Verification
  /// That of the limits, as `TouchRule` wants it.
  let limitUnusedMilliseconds: Int64?
  let format: StoreFormat
  let path: String
  let tally = StoreTally()
  let verified = VerifiedBodies()
  let worker = TrimWorker()
  private let folder: Lock<StoreFolder?>
  private let fallbackSecret = randomBytes(32)
  let timer = Lock<ScheduledWork?>(nil)
  /// False: a folder that is gone stays gone.
  private let makesFolder: Bool

  init(
    path: String, format: StoreFormat, limits: CacheLimits, durability: Durability, verification: Verification,
    fileSystem: any FileSystem, time: any TimeSource
  ) throws(ObjectError) {
    self.fileSystem = fileSystem
    self.time = time
    self.limits = limits
    limitUnusedMilliseconds = limits.limitUnused?.wholeMilliseconds
    self.durability = durability
    self.verification = verification
    self.format = format
    self.path = path
    makesFolder = true
    folder = Lock(try StoreFolder.open(path, format: format, fileSystem: fileSystem, now: time.wallNow))
    startTimer()
  }

  /// Opens a folder that is a cache already, with the backend that made it, for somebody who looks after it: nothing is
  /// made, and nothing removed but on request.
  init(
    existing path: String, limits: CacheLimits, fileSystem: any FileSystem, time: any TimeSource
  ) throws(ObjectError) {
    let found = try StoreFolder.openExisting(path, fileSystem: fileSystem, now: time.wallNow)
    self.fileSystem = fileSystem
    self.time = time
    self.limits = limits
    limitUnusedMilliseconds = limits.limitUnused?.wholeMilliseconds
    durability = .none
    verification = .standard
    format = found.format
    self.path = path
    makesFolder = false
    folder = Lock(found.folder)
  }

  deinit { timer.withLock { $0 }?.cancel() }

  /// The folder, opened once more where that did not succeed before; nil: it cannot be used for now.
  func openFolder() -> StoreFolder? {
    if let folder = folder.withLock({ $0 }) { return folder }
    guard makesFolder, let new = try? StoreFolder.open(path, format: format, fileSystem: fileSystem, now: time.wallNow)
    else { return nil }
    return folder.withLock { folder in
      folder = folder ?? new
      return folder
    }
  }

  /// The folder, for writing.
  func folderForWriting() throws(ObjectError) -> StoreFolder {
    if let folder = openFolder() { return folder }
    throw ObjectError(
      .cacheBroken, "The cache folder \(path) cannot be used; see that it is a folder you may write to, and not full.")
  }

  /// The folder itself is gone, or all that was in it: the next call opens it, or a new one, again.
  func reopen(_ stale: StoreFolder) {
    let old = folder.withLock { folder in
      let old = folder
      if folder === stale { folder = nil }
      return old
    }
    withExtendedLifetime(old) {}
  }

  func statistics() -> BackendStatistics {
    let total = openFolder()?.counters.total ?? SharedCounters.Count()
    var statistics = BackendStatistics(entries: total.entries, bytes: total.bytes)
    tally.fill(&statistics)
    return statistics
  }

  // MARK: Secret

  /// 32 random bytes that stay with the folder; in a folder that cannot be written to, those of this instance.
  func secret() -> [UInt8] {
    guard let folder = openFolder() else { return fallbackSecret }
    do throws(FileFault) {
      if let known = try readSecret(folder) { return known }
      try? makeSecret(folder, isDamaged: true)
    } catch {
      // One that cannot be read now stays: without it all that is stored under credentials would be lost.
      guard error.isMissing else { return fallbackSecret }
      try? makeSecret(folder, isDamaged: false)
    }
    // Another process may have been quicker: what stands there is the secret of all.
    return existingSecret() ?? fallbackSecret
  }

  private func makeSecret(_ folder: StoreFolder, isDamaged: Bool) throws(FileFault) {
    let temp = EntryPaths.unfinished(folder.uniqueName())
    // A file takes the place of anything but a folder.
    if isDamaged, try fileSystem.info(of: EntryPaths.secret, in: folder.root).kind == .folder {
      try fileSystem.removeAny(EntryPaths.secret, in: folder.root)
    }
    try fileSystem.place(fallbackSecret, at: EntryPaths.secret, by: temp, in: folder.root, replacing: isDamaged)
  }

  /// nil: there is none that can be read, and none is made.
  func existingSecret() -> [UInt8]? { openFolder().flatMap { try? readSecret($0) } }

  /// nil: what stands there is no secret.
  private func readSecret(_ folder: StoreFolder) throws(FileFault) -> [UInt8]? {
    do throws(FileFault) {
      let file = try fileSystem.open(EntryPaths.secret, in: folder.root, .read)
      guard try fileSystem.info(of: file).kind == .file else { return nil }
      let bytes = try fileSystem.read(file, at: 0, count: 33)
      return bytes.count == 32 ? bytes.withBytes { [UInt8]($0) } : nil
    } catch {
      guard error.isWrongKind else { throw error }
      return nil
    }
  }
}

/// When bodies are read in full to see whether they are still as they were stored.
public enum Verification: Sendable {
  /// Up to 1 MiB at each look-up, larger ones once per process and file.
  case standard
  /// All of them at each look-up.
  case always
}
