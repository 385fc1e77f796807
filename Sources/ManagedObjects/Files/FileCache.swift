public import FoundationEssentials

/// A file cache for thousands of entries: 256 shards, trimmed as a whole to the low water of its limits, least recently
/// used first.
///
/// Any number of instances and processes may use one folder at once; each holds it to its own limits. A cache is best
/// effort: a damaged entry is a miss and is removed, and a folder that is full, read-only or broken makes look-ups
/// miss and writes throw `.cacheBroken`, while a later call tries again. Limits hold within one hundredth and one
/// object, by a worker in the background. All calls block and may be made from any thread.
public final class FileCache: StoredCache {
  package let core: FileStoreCore

  /// With fewer of them a put takes ever longer as a folder grows: ext4 looks through its names one by one, a block at a
  /// time.
  package static let shards = 256

  init(core: FileStoreCore) { self.core = core }

  /// - Parameters:
  ///   - folder: made if missing, 0700. It holds nothing else.
  ///   - durability: what a commit waits for; default: nothing, an entry torn by a power cut is found by its checksum.
  ///   - verification: when bodies are read in full to see whether they are good.
  /// - Throws: `.cacheBroken` only where the folder belongs to another user, may be written to by others, or was made
  ///   by another backend; the message says what to do.
  public convenience init(
    folder: URL, limits: CacheLimits = CacheLimits(), durability: Durability = .none,
    verification: Verification = .standard
  ) throws(ObjectError) {
    try self.init(
      folder: folder, limits: limits, durability: durability, verification: verification,
      fileSystem: PosixFileSystem(), time: SystemTime())
  }

  package init(
    folder: URL, limits: CacheLimits = CacheLimits(), durability: Durability = .none,
    verification: Verification = .standard, shards: Int = FileCache.shards, fileSystem: any FileSystem,
    time: any TimeSource
  ) throws(ObjectError) {
    core = try FileStoreCore(folder, .fileCache, shards: shards, limits, durability, verification, fileSystem, time)
  }
}
