internal import Synchronization

/// A cache folder that is open and known to be ours. Files inside it are named relative to it, so that it may be moved
/// while it is used. Holds one descriptor and the counters; knows no entry.
final class StoreFolder: Sendable {
  let root: OpenFile
  /// Absolute, for lending paths and for messages.
  let path: String
  let paths: EntryPaths
  let counters: SharedCounters
  private let fileSystem: any FileSystem
  private let process = UInt64.random(in: .min ... .max)
  private let uniqueNames = Atomic<UInt64>(0)
  /// Shards that were seen to be folders, a bit each. System calls do not follow the last part of a path, but they do
  /// follow those before it; so a shard that is a symbolic link must be found before it is used. Without a lock, since
  /// every look-up asks; who comes too late for a bit looks once more.
  private let sound = InlineArray<64, Atomic<UInt64>> { _ in Atomic(0) }

  private init(
    root: consuming OpenFile, path: String, shards: Int, fileSystem: any FileSystem, isNew: Bool,
    makesCounters: Bool = true, now: WallTime
  ) {
    paths = EntryPaths(shards: shards)
    counters = SharedCounters(
      in: root, shards: paths.shards, fileSystem: fileSystem, isNew: isNew, makesFile: makesCounters, now: now)
    self.root = root
    self.path = path
    self.fileSystem = fileSystem
  }

  /// A name that is new in this folder.
  func uniqueName() -> UniqueName {
    UniqueName(process: process, count: uniqueNames.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  // MARK: Opening

  /// Opens the folder, making it if it is missing.
  /// - Returns: nil where it cannot be used for now: read-only and empty, full, no folder at all.
  /// - Throws: where it must not be used: somebody else's, or another backend's.
  static func open(
    _ path: String, format: StoreFormat, fileSystem: any FileSystem, now: WallTime
  ) throws(ObjectError) -> StoreFolder? {
    guard let root = openRoot(path, fileSystem) else { return nil }
    guard try isTrusted(root, path, fileSystem) else { return nil }
    var found = read(root, fileSystem)
    // Without a format file but with entries it was emptied in part, or while somebody wrote.
    let isNew = found == nil && !hasShards(root, format, fileSystem)
    if found == nil || found == .damaged {
      guard make(format, in: root, replacing: found == .damaged, fileSystem) else { return nil }
      // Another process may have been quicker.
      found = read(root, fileSystem)
    }
    switch found {
    case .known(let known) where known.backend == format.backend:
      return StoreFolder(
        root: root, path: path, shards: known.shards, fileSystem: fileSystem, isNew: isNew, now: now)
    case .known(let other):
      throw foreign(path, other.backend.rawValue, format)
    case .foreign(let maker):
      throw foreign(path, maker, format)
    case .damaged, nil:
      return nil
    }
  }

  /// Opens a folder that is a cache already, whichever backend made it. Neither makes a folder nor makes one a cache.
  static func openExisting(
    _ path: String, fileSystem: any FileSystem, now: WallTime
  ) throws(ObjectError) -> (folder: StoreFolder, format: StoreFormat) {
    let root = try existingRoot(path, fileSystem)
    guard try isTrusted(root, path, fileSystem) else { throw unopened(path, .readFailed) }
    switch try existingFormat(root, path, fileSystem) {
    case .known(let format):
      let folder = StoreFolder(
        root: root, path: path, shards: format.shards, fileSystem: fileSystem, isNew: false, makesCounters: false,
        now: now)
      return (folder, format)
    case .foreign(let maker):
      throw ObjectError(
        .cacheBroken,
        "The cache folder \(path) was made by \(maker); this program knows version \(StoreFormat.version) of FileCache "
          + "and BigFileCache; use the program that made it.")
    case .damaged:
      throw ObjectError(
        .cacheBroken, "The file \(path)/format does not say which cache made the folder; name a cache's own folder.")
    }
  }

  private static func existingRoot(_ path: String, _ fileSystem: any FileSystem) throws(ObjectError) -> OpenFile {
    do throws(FileFault) { return try fileSystem.openFolder(at: path) } catch { throw unopened(path, error) }
  }

  private static func existingFormat(
    _ root: borrowing OpenFile, _ path: String, _ fileSystem: any FileSystem
  ) throws(ObjectError) -> StoreFormat.Reading {
    do throws(FileFault) { return try readFormat(root, fileSystem) } catch {
      guard error.isMissing else { throw unopened(path, error) }
      throw ObjectError(
        .cacheBroken, "\(path) is no cache: it has no file 'format'; name a folder that a cache was made in.")
    }
  }

  private static func unopened(_ path: String, _ fault: FileFault) -> ObjectError {
    ObjectError(
      .cacheBroken, "The cache folder \(path) cannot be opened: \(fault); name one that is there and may be read.",
      underlying: fault)
  }

  private static func openRoot(_ path: String, _ fileSystem: any FileSystem) -> OpenFile? {
    do throws(FileFault) {
      return try fileSystem.openFolder(at: path)
    } catch {
      guard error.isMissing else { return nil }
      try? fileSystem.makeFolders(at: path)
      return try? fileSystem.openFolder(at: path)
    }
  }

  private static func foreign(_ path: String, _ maker: String, _ format: StoreFormat) -> ObjectError {
    ObjectError(
      .cacheBroken,
      "The cache folder \(path) was made by \(maker), not by \(format.backend.rawValue), version "
        + "\(StoreFormat.version); use that backend, choose another folder, or delete this one.")
  }

  /// Whether the folder can be looked at.
  /// - Throws: where it is somebody else's, or could be changed by somebody else.
  private static func isTrusted(
    _ root: borrowing OpenFile, _ path: String, _ fileSystem: any FileSystem
  ) throws(ObjectError) -> Bool {
    guard let info = try? fileSystem.info(of: root) else { return false }
    guard info.owner == fileSystem.userID else {
      throw ObjectError(.cacheBroken, "The cache folder \(path) belongs to another user; choose a folder of your own.")
    }
    guard info.permissions & 0o022 == 0 else {
      throw ObjectError(
        .cacheBroken, "Others may write to the cache folder \(path); take that right away: chmod go-w \(path).")
    }
    return true
  }

  /// nil: no format file, or none that can be read.
  private static func read(_ root: borrowing OpenFile, _ fileSystem: any FileSystem) -> StoreFormat.Reading? {
    try? readFormat(root, fileSystem)
  }

  private static func readFormat(
    _ root: borrowing OpenFile, _ fileSystem: any FileSystem
  ) throws(FileFault) -> StoreFormat.Reading {
    do throws(FileFault) {
      let file = try fileSystem.open(EntryPaths.format, in: root, .read)
      guard try fileSystem.info(of: file).kind == .file else { return .damaged }
      let bytes = try fileSystem.read(file, at: 0, count: StoreFormat.limitBytes)
      return StoreFormat.read(bytes.withBytes { [UInt8]($0) })
    } catch {
      guard error.isWrongKind else { throw error }
      return .damaged
    }
  }

  private static func hasShards(
    _ root: borrowing OpenFile, _ format: StoreFormat, _ fileSystem: any FileSystem
  ) -> Bool {
    let digits = EntryPaths(shards: format.shards).shardDigits
    var isFound = false
    try? fileSystem.list(EntryPaths.itself, in: root) { name, _ in
      if EntryPaths.isShard(name, digits: digits) { isFound = true }
    }
    return isFound
  }

  private static func make(
    _ format: StoreFormat, in root: borrowing OpenFile, replacing: Bool, _ fileSystem: any FileSystem
  ) -> Bool {
    let name = UniqueName(process: .random(in: .min ... .max), count: 0)
    do throws(FileFault) {
      try fileSystem.place(
        Array(format.line.utf8), at: EntryPaths.format, by: EntryPaths.unfinished(name), in: root, replacing: replacing)
      return true
    } catch {
      return error.isTaken
    }
  }

  // MARK: Shards

  /// Whether there is such a shard and it is a folder.
  func hasShard(_ shard: Int) -> Bool {
    if isSound(shard) { return true }
    guard let info = try? fileSystem.info(of: paths.shard(shard), in: root), info.kind == .folder else { return false }
    setSound(shard)
    return true
  }

  /// Makes sure that the shard is there.
  func makeShard(_ shard: Int) throws(FileFault) {
    if hasShard(shard) { return }
    try makeFolder(paths.shard(shard))
    setSound(shard)
  }

  /// Makes sure that a folder in this one is there. Something else in its place is put away.
  func makeFolder(_ path: FilePath) throws(FileFault) {
    do throws(FileFault) { try fileSystem.makeFolder(path, in: root) } catch {
      guard error.isTaken else { throw error }
      if try fileSystem.info(of: path, in: root).kind == .folder { return }
      try fileSystem.remove(path, in: root)
      try fileSystem.makeFolder(path, in: root)
    }
  }

  /// The shard went away: the folder was emptied by hand.
  func forgetShards() { for at in sound.indices { sound[at].store(0, ordering: .relaxed) } }

  private func isSound(_ shard: Int) -> Bool {
    sound[shard / 64].load(ordering: .relaxed) >> UInt64(shard % 64) & 1 != 0
  }

  private func setSound(_ shard: Int) {
    sound[shard / 64].bitwiseOr(1 << UInt64(shard % 64), ordering: .relaxed)
  }
}

extension FileSystem {
  /// Makes a small file whole or not at all.
  /// - Throws: `isTaken` where it is there already and is not to be replaced.
  func place(
    _ bytes: [UInt8], at path: FilePath, by temp: FilePath, in folder: borrowing OpenFile, replacing: Bool
  ) throws(FileFault) {
    let file = try open(temp, in: folder, .create(permissions: 0o600))
    do throws(FileFault) {
      try writeAll(bytes, to: file)
      if replacing { try rename(temp, to: path, in: folder) } else { try moveNew(temp, to: path, in: folder) }
    } catch {
      try? remove(temp, in: folder)
      throw error
    }
  }

  /// Opens a small file of the folder's own for reading and writing. Something else in its place is put away.
  func openOwn(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault) -> OpenFile {
    do throws(FileFault) { return try open(path, in: folder, .update) } catch {
      guard error.isWrongKind else { throw error }
    }
    try removeAny(path, in: folder)
    return try open(path, in: folder, .update)
  }

  /// `exchange`, also where the file system does not know that; then what was there is gone.
  func exchangeOrReplace(
    _ temp: FilePath, _ path: FilePath, in folder: borrowing OpenFile
  ) throws(FileFault) {
    do throws(FileFault) {
      try exchange(temp, path, in: folder)
    } catch {
      guard error.isUnsupported else { throw error }
      try rename(temp, to: path, in: folder)
    }
  }

  /// `renameNew`, also where the file system does not know that; then with a moment in which another process that does
  /// the same is overwritten.
  func moveNew(_ from: FilePath, to path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    do throws(FileFault) {
      try renameNew(from, to: path, in: folder)
    } catch {
      guard error.isUnsupported else { throw error }
      if (try? info(of: path, in: folder)) != nil { throw FileFault.taken }
      try rename(from, to: path, in: folder)
    }
  }
}
