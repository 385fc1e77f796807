/// An entry's head as it stands in its file, checked as far as it reaches.
struct EntryReading: ~Copyable {
  let format: EntryFormat
  /// The file from its beginning: all of it, or enough to hold the head.
  let bytes: HeldBytes
  let file: OpenFile
  let info: FileInfo

  func belongs(to key: EntryKey) -> Bool { bytes.withBytes { format.belongs(to: key, in: $0) } }
  func facts() -> EntryFacts { bytes.withBytes { format.facts(in: $0) } }
  func key() -> EntryKey { bytes.withBytes { format.key(in: $0) } }

  /// What the entry counts against the limit.
  var charge: Int { chargedBytes(info.bytes, format.place == .ownFile ? format.bodyCount : 0) }

  /// Where a body that stands behind the head is, once all of the file was read.
  var insideRange: Range<Int> { format.headCount..<(format.headCount + format.bodyCount) }

  var isInsideGood: Bool {
    bytes.count == insideRange.upperBound
      && bytes.withBytes { StreamingChecksum.of($0.extracting(insideRange)) } == format.bodyChecksum
  }
}

/// Why there is nothing to read.
enum EntryTrouble: Error {
  case missing
  /// Something is there that is no good entry: it may be removed, if it is still the same.
  case bad(FileInfo?)
  case fault(FileFault)
}

/// Sizes rounded up to 4 KiB, as file systems do. At most 16 TiB, so that sums of garbage do not overflow.
func chargedBytes(_ head: Int, _ body: Int) -> Int {
  let limit = 1 << 44
  return (min(max(0, head), limit) + min(max(0, body), limit) + 4095) & ~4095
}

extension FileSystem {
  /// Reads the entry of that name: one open, one fstat, one read, one close.
  /// - Parameter isWhole: false: only the head is wanted, a body behind it is not read.
  func readEntry(
    _ name: EntryName, in folder: StoreFolder, isWhole: Bool
  ) throws(EntryTrouble) -> EntryReading {
    guard folder.hasShard(folder.paths.shard(of: name)) else { throw .missing }
    return try readEntry(at: folder.paths.head(name), in: folder, isWhole: isWhole)
  }

  /// - Parameter path: in a shard that is known to be one.
  func readEntry(
    at path: FilePath, in folder: StoreFolder, isWhole: Bool
  ) throws(EntryTrouble) -> EntryReading {
    let file = try openEntry(path, in: folder)
    let info: FileInfo
    var bytes: HeldBytes
    do throws(FileFault) {
      info = try self.info(of: file)
      guard info.kind == .file, info.bytes >= EntryFormat.fixedBytes,
        info.bytes <= EntryFormat.limitHeadBytes + EntryFormat.limitInsideBytes
      else { throw FileFault.badPath }
      bytes = try read(file, at: 0, count: isWhole ? info.bytes : min(info.bytes, 4096))
      if let count = bytes.withBytes({ EntryFormat.headCount(of: $0) }), count > bytes.count {
        bytes = try read(file, at: 0, count: count)
      }
    } catch {
      throw error == FileFault.badPath ? .bad(try? self.info(of: file)) : .fault(error)
    }
    guard let format = bytes.withBytes({ EntryFormat($0) }),
      info.bytes == format.headCount + (format.place == .inside ? format.bodyCount : 0)
    else { throw .bad(info) }
    return EntryReading(format: format, bytes: bytes, file: file, info: info)
  }

  func openEntry(_ path: FilePath, in folder: StoreFolder) throws(EntryTrouble) -> OpenFile {
    do throws(FileFault) {
      return try open(path, in: folder.root, .read)
    } catch {
      if error.isMissing { throw .missing }
      if error.isWrongKind { throw .bad(try? info(of: path, in: folder.root)) }
      throw .fault(error)
    }
  }

  /// Whether this is the very file that was looked at, not replaced or used since: what is to be removed for what was
  /// seen of it is asked so just before.
  func isUnchanged(_ path: FilePath, since seen: FileInfo, in folder: borrowing OpenFile) -> Bool {
    isUnchanged(path, inode: seen.inode, modified: seen.modified, in: folder)
  }

  func isUnchanged(_ path: FilePath, inode: UInt64, modified: Int64, in folder: borrowing OpenFile) -> Bool {
    guard let now = try? info(of: path, in: folder) else { return false }
    return now.inode == inode && now.modified == modified
  }

  /// The checksum of a file's first bytes, read in pieces; nil where it ends before.
  func checksum(of file: borrowing OpenFile, count: Int) throws(FileFault) -> UInt64? {
    let checksum = StreamingChecksum()
    let piece = 256 << 10
    for start in stride(from: 0, to: count, by: piece) {
      let bytes = try read(file, at: start, count: min(piece, count - start))
      guard bytes.count == min(piece, count - start) else { return nil }
      bytes.withBytes { checksum.update($0) }
    }
    return checksum.value
  }

  /// Removes whatever is there, a folder with all that is in it.
  func removeAny(_ path: FilePath, in folder: borrowing OpenFile, depth: Int = 8) throws(FileFault) {
    let kind = try info(of: path, in: folder).kind
    guard kind == .folder else { return try remove(path, in: folder) }
    var names: [String] = []
    try list(path, in: folder) { name, _ in
      if let valid = try? UTF8Span(validating: name) { names.append(String(copying: valid)) }
    }
    guard depth > 0 else { throw FileFault.badPath }
    for name in names { try removeAny(EntryPaths.listed(name, in: path), in: folder, depth: depth - 1) }
    try removeFolder(path, in: folder)
  }
}
