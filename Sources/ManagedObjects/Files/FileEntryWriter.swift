internal import FoundationEssentials

/// An entry that is being written. Up to 64 KiB wait in memory, so that a small entry is one open, write and rename;
/// more goes to a file in `temp` as it comes, a write for each filled buffer.
///
/// Sound although unchecked: `EntryWriting` is called by one thread at a time, since `EntryWriter` is its only owner
/// and cannot be copied.
final class FileEntryWriter: EntryWriting, @unchecked Sendable {
  private let key: EntryKey
  private let store: FileStore
  private let folder: StoreFolder
  private var buffer: [UInt8] = []
  private var spill: SpillFile?

  init(_ key: EntryKey, store: FileStore, folder: StoreFolder) {
    self.key = key
    self.store = store
    self.folder = folder
  }

  private var count: Int { (spill?.written ?? 0) + buffer.count }

  // MARK: Taking bytes

  func append(_ bytes: RawSpan) throws(ObjectError) {
    try store.checkSize(count + bytes.byteCount)
    if buffer.count + bytes.byteCount <= EntryFormat.limitInsideBytes { return buffer.append(bytes) }
    do throws(FileFault) {
      let spill = try flush()
      if bytes.byteCount < EntryFormat.limitInsideBytes { buffer.append(bytes) } else { try spill.write(bytes) }
    } catch {
      throw fault(error)
    }
  }

  /// After a fault the buffer is as it was.
  private func flush() throws(FileFault) -> SpillFile {
    let spill = if let spill { spill } else { try SpillFile(store, folder) }
    self.spill = spill
    if !buffer.isEmpty { try spill.write(buffer) }
    buffer.removeAll(keepingCapacity: true)
    return spill
  }

  private func fault(_ fault: FileFault) -> ObjectError {
    if fault == .diskFull { store.noticeFullDisk() }
    return ObjectError(fault, "An entry could not be written into the cache folder \(folder.path)")
  }

  // MARK: Ending

  func commit(_ facts: EntryFacts) throws(ObjectError) -> any EntryLease {
    let lease = try spill == nil ? commitSmall(facts) : commitLarge(facts)
    // Another one than it was begun in, where that turned out to have been emptied.
    store.noticeCommit(bytes: count, in: store.openFolder() ?? folder)
    return lease
  }

  private func commitSmall(_ facts: EntryFacts) throws(ObjectError) -> FileLease {
    let checksum = buffer.withRawSpan { StreamingChecksum.of($0) }
    var bytes = try head(facts, checksum, .inside)
    bytes.append(contentsOf: buffer)
    do throws(FileFault) { try store.publish(EntryName(key), bytes, 0, in: folder) } catch { throw fault(error) }
    return lease(facts, checksum, .bytes(buffer))
  }

  /// First the body under its own name, which nobody knows yet, then the head, which makes it known.
  private func commitLarge(_ facts: EntryFacts) throws(ObjectError) -> FileLease {
    let name = EntryName(key)
    let spill: SpillFile
    do throws(FileFault) { spill = try flush() } catch { throw fault(error) }
    let checksum = spill.checksum.value
    let bytes = try head(facts, checksum, .ownFile)
    do throws(FileFault) {
      if store.durability == .data { try store.fileSystem.sync(spill.file.open) }
      try folder.makeShard(folder.paths.shard(of: name))
      try spill.move(to: folder.paths.body(name, generation: facts.generation))
      try store.publish(name, bytes, spill.written, in: folder)
    } catch {
      if error.isMissing { store.noticeEmptied(folder) }
      throw fault(error)
    }
    spill.keep()
    if let info = try? store.fileSystem.info(of: spill.file.open) {
      store.verified.insert(info, checksum: checksum)
    }
    return lease(facts, checksum, .file(spill.file, count: spill.written))
  }

  private func head(
    _ facts: EntryFacts, _ checksum: UInt64, _ place: EntryFormat.Place
  ) throws(ObjectError) -> [UInt8] {
    if let promised = facts.checksum, promised != checksum {
      throw ObjectError(.checksumMismatch, "The body to be stored is not the one its checksum was made of.")
    }
    let body = EntryFormat.Body(count: count, checksum: checksum, storedTime: store.time.wallNow, place: place)
    guard let bytes = EntryFormat.encode(key, facts, body, reserving: buffer.count) else {
      throw ObjectError(.tooLarge, "The response's head is too large to be stored; the limit is 1 MiB.")
    }
    return bytes
  }

  private func lease(_ facts: EntryFacts, _ checksum: UInt64, _ body: FileLease.Body) -> FileLease {
    var facts = facts
    facts.checksum = checksum
    return FileLease(head: .facts(facts), body: body, folder: folder, fileSystem: store.fileSystem)
  }

  func abort() {
    spill = nil
    buffer = []
  }

  /// Exactly what was appended by calls that returned.
  func salvage() throws(ObjectError) -> Data {
    var data = Data()
    if let spill {
      do throws(FileFault) { data = try spill.readBack() } catch {
        throw ObjectError(error, "What was loaded so far could not be read back from the cache folder \(folder.path)")
      }
    }
    data.append(contentsOf: buffer)
    return data
  }
}

/// A large body in a file of its own, from its first byte until nobody needs it open. Removed with this object, unless
/// it was committed; locked until then, by which sweepers see that it is in use.
///
/// Sound although unchecked: until `keep` only its writer has it, afterwards nothing changes.
final class SpillFile: @unchecked Sendable {
  let file: HeldFile
  let checksum = StreamingChecksum()
  /// Counts writes that succeeded as a whole: after a fault it is what can be read back.
  private(set) var written = 0
  private var path: FilePath
  private var isKept = false
  private let folder: StoreFolder
  private let fileSystem: any FileSystem

  init(_ store: FileStore, _ folder: StoreFolder) throws(FileFault) {
    self.folder = folder
    fileSystem = store.fileSystem
    path = EntryPaths.temp(folder.uniqueName())
    do throws(FileFault) { try folder.makeFolder(EntryPaths.temp) } catch {
      if error.isMissing { store.reopen(folder) }
      throw error
    }
    // Read-only for all others, since what is lent of it is the same file.
    file = HeldFile(try fileSystem.open(path, in: folder.root, .create(permissions: 0o400)))
    _ = try? fileSystem.lock(file.open, isShared: false)
  }

  deinit {
    if !isKept { try? fileSystem.remove(path, in: folder.root) }
  }

  func write(_ bytes: [UInt8]) throws(FileFault) {
    try bytes.withRawSpan { (bytes) throws(FileFault) in try write(bytes) }
  }

  func write(_ bytes: RawSpan) throws(FileFault) {
    try fileSystem.writeAll(bytes, to: file.open, at: written)
    checksum.update(bytes)
    written += bytes.byteCount
  }

  func readBack() throws(FileFault) -> Data {
    let bytes = try fileSystem.read(file.open, at: 0, count: written)
    guard bytes.count == written else { throw FileFault.readFailed }
    return bytes.data(0..<written)
  }

  func move(to new: FilePath) throws(FileFault) {
    try fileSystem.rename(path, to: new, in: folder.root)
    path = new
  }

  /// It is an entry's body now; readers may lock it too.
  func keep() {
    isKept = true
    _ = try? fileSystem.lock(file.open, isShared: true)
  }
}
