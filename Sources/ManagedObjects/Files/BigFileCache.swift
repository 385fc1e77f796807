public import FoundationEssentials

/// A file cache for millions of entries: the same contract as `FileCache`, and the same files, in more shards.
///
/// What differs is trimming, which never looks at more than a part: over a limit, the run of shards with the most entries
/// loses at most a fifth of them, least recently used first, then the next, until the whole is within its limits; and
/// `trim(budget:)` goes over the next tenth of the shards, so that ten steps see each of them once, whichever
/// processes make them. Shards are chosen by the digest of the key, never by the text of a name.
public final class BigFileCache: StoredCache {
  package let core: FileStoreCore

  init(core: FileStoreCore) { self.core = core }

  /// More entries than this want 4,096 shards, so that looking at one takes a few milliseconds.
  private static let limitEntriesOf256Shards = 250_000

  /// - Parameters:
  ///   - folder: made if missing, 0700. It holds nothing else.
  ///   - durability: what a commit waits for; default: nothing, an entry torn by a power cut is found by its checksum.
  ///   - verification: when bodies are read in full to see whether they are good.
  ///   - shards: 256 or 4,096; nil: 4,096 where the limits allow more than 250,000 entries of 4 KiB. A folder keeps
  ///     the number it was made with.
  /// - Throws: `.cacheBroken` only where the folder belongs to another user, may be written to by others, or was made
  ///   by another backend; the message says what to do.
  public convenience init(
    folder: URL, limits: CacheLimits = CacheLimits(), durability: Durability = .none,
    verification: Verification = .standard, shards: Int? = nil
  ) throws(ObjectError) {
    try self.init(
      folder: folder, limits: limits, durability: durability, verification: verification, shards: shards,
      fileSystem: PosixFileSystem(), time: SystemTime())
  }

  package init(
    folder: URL, limits: CacheLimits = CacheLimits(), durability: Durability = .none,
    verification: Verification = .standard, shards: Int? = nil, fileSystem: any FileSystem, time: any TimeSource
  ) throws(ObjectError) {
    core = try FileStoreCore(
      folder, .bigFileCache, shards: max(256, shards ?? Self.shards(for: limits)), limits, durability, verification,
      fileSystem, time)
  }

  static func shards(for limits: CacheLimits) -> Int {
    let entries = min(limits.limitEntries ?? .max, limits.limitBytes.map { $0 / 4096 } ?? .max)
    return entries > limitEntriesOf256Shards ? 4096 : 256
  }
}
