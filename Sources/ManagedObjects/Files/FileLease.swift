internal import FoundationEssentials

/// A reader's hold on an entry of a file cache. Bodies of up to 1 MiB are here already, verified; larger ones are an
/// open file, which stays good when the entry is replaced, trimmed or removed, and is mapped when asked for.
final class FileLease: EntryLease {
  enum Body: Sendable {
    case held(HeldBytes, Range<Int>)
    case bytes([UInt8])
    case file(HeldFile, count: Int)
  }

  /// What is known of the body.
  enum Head: Sendable {
    case facts(EntryFacts)
    /// As it was read and checked. It is taken apart when it is first asked for: who wants only the bytes does without.
    case stored(EntryFormat, HeldBytes)
  }

  private let head: Lock<Head>
  private let body: Body
  private let folder: StoreFolder
  private let fileSystem: any FileSystem
  private let lent = Lock<LentFile?>(nil)

  init(head: consuming Head, body: Body, folder: StoreFolder, fileSystem: any FileSystem) {
    self.head = Lock(head)
    self.body = body
    self.folder = folder
    self.fileSystem = fileSystem
  }

  var facts: EntryFacts {
    head.withLock { head in
      switch head {
      case .facts(let facts): return facts
      case .stored(let format, let bytes):
        let facts = bytes.withBytes { format.facts(in: $0) }
        head = .facts(facts)
        return facts
      }
    }
  }

  var count: Int {
    switch body {
    case .held(_, let range): range.count
    case .bytes(let bytes): bytes.count
    case .file(_, let count): count
    }
  }

  func data() throws(ObjectError) -> Data {
    switch body {
    case .held(let bytes, let range): return bytes.data(range)
    case .bytes(let bytes): return Data(bytes)
    case .file(let file, let count): return try map(file.open, count)
    }
  }

  func read(at offset: Int, atMost count: Int) throws(ObjectError) -> Data {
    let start = min(max(0, offset), self.count)
    let room = min(max(0, count), self.count - start)
    guard case .file(let file, _) = body else { return try data().dropFirst(start).prefix(room) }
    do throws(FileFault) {
      let bytes = try fileSystem.read(file.open, at: start, count: room)
      return bytes.data(0..<bytes.count)
    } catch {
      throw ObjectError(error, "A cached body in \(folder.path) could not be read")
    }
  }

  private func map(_ file: borrowing OpenFile, _ count: Int) throws(ObjectError) -> Data {
    do throws(FileFault) {
      return try fileSystem.map(file, count: count, isWritable: false).data(0..<count)
    } catch {
      throw ObjectError(error, "A cached body in \(folder.path) could not be mapped")
    }
  }

  func lendPath() throws(ObjectError) -> String? {
    if let path = lent.withLock({ $0?.path }) { return path }
    let new: LentFile
    do throws(FileFault) { new = try lend() } catch {
      throw ObjectError(error, "No file could be lent from the cache folder \(folder.path)")
    }
    // Another thread may have been quicker; then ours goes away again.
    return lent.withLock { lent in
      if let lent { return lent.path }
      lent = new
      return new.path
    }
  }

  private func lend() throws(FileFault) -> LentFile {
    try folder.makeFolder(EntryPaths.lent)
    let path = EntryPaths.lent(folder.uniqueName())
    switch body {
    case .file(let file, let count): return try lend(file.open, count, as: path)
    case .bytes(let bytes):
      return try bytes.withRawSpan { (bytes) throws(FileFault) in try lendCopy(bytes, as: path) }
    case .held(let bytes, let range):
      return try bytes.withBytes { (bytes) throws(FileFault) in try lendCopy(bytes.extracting(range), as: path) }
    }
  }

  /// A second name for the file. The lock, which is the file's and not the name's, keeps sweepers away for as long as
  /// this lease has it open. Where a second name cannot be, and where the first is gone, a copy.
  private func lend(_ file: borrowing OpenFile, _ count: Int, as path: FilePath) throws(FileFault) -> LentFile {
    if try fileSystem.lock(file, isShared: true), (try? fileSystem.link(file, to: path, in: folder.root)) != nil {
      return LentFile(path, copy: nil, folder, fileSystem)
    }
    let copy = try fileSystem.map(file, count: count, isWritable: false)
    return try copy.withBytes { (bytes) throws(FileFault) in try lendCopy(bytes, as: path) }
  }

  private func lendCopy(_ bytes: RawSpan, as path: FilePath) throws(FileFault) -> LentFile {
    let file = try create(path)
    do throws(FileFault) {
      try fileSystem.writeAll(bytes, to: file)
    } catch {
      try? fileSystem.remove(path, in: folder.root)
      throw error
    }
    return LentFile(path, copy: file, folder, fileSystem)
  }

  private func create(_ path: FilePath) throws(FileFault) -> OpenFile {
    let file = try fileSystem.open(path, in: folder.root, .create(permissions: 0o400))
    _ = try fileSystem.lock(file, isShared: true)
    return file
  }
}

/// An open file that several may hold.
final class HeldFile: Sendable {
  let open: OpenFile
  init(_ open: consuming OpenFile) { self.open = open }
}

/// A file in the folder `lent`, for as long as this lives.
private final class LentFile: Sendable {
  private let file: FilePath
  /// Keeps the lock of a copy, by which sweepers see that it is used.
  private let copy: OpenFile?
  private let folder: StoreFolder
  private let fileSystem: any FileSystem

  init(_ file: FilePath, copy: consuming OpenFile?, _ folder: StoreFolder, _ fileSystem: any FileSystem) {
    self.file = file
    self.copy = copy
    self.folder = folder
    self.fileSystem = fileSystem
  }

  var path: String { "\(folder.path)/\(file)" }

  deinit { try? fileSystem.remove(file, in: folder.root) }
}

extension ObjectError {
  /// - Parameter what: what could not be done, without a full stop.
  init(_ fault: FileFault, _ what: String) {
    self.init(.cacheBroken, "\(what): \(fault).", underlying: fault)
  }
}
