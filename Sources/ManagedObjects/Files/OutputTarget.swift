internal import FoundationEssentials

/// A file that a caller wants the bytes in: written under a temporary name beside it, then renamed, so that a whole file
/// or none is there.
struct OutputTarget: Sendable {
  let url: URL
  private let isReplacing: Bool
  private let folder: String
  private let name: String
  private let files: any FileSystem

  /// - Parameter replacing: what is there already is replaced; else it is an error, now and at the end.
  init(_ target: URL, replacing: Bool, files: any FileSystem = PosixFileSystem()) throws(ObjectError) {
    let path = target.path
    guard target.isFileURL, let slash = path.lastIndex(of: "/"), path.index(after: slash) < path.endIndex else {
      throw ObjectError(.outputFailed, "“\(path)” does not name a file; give the URL of one.")
    }
    url = target
    isReplacing = replacing
    folder = slash == path.startIndex ? "/" : String(path[..<slash])
    name = String(path[path.index(after: slash)...])
    self.files = files
    // A folder that is missing is found out here as well, before anything is loaded.
    if try isTaken(), !replacing { throw exists }
  }

  /// Hands out the file, as the object that was asked for. Belongs to one caller: never shared, never kept.
  var decoder: ObjectDecoder<URL> {
    ObjectDecoder("file \(UInt64.random(in: .min ... .max)) \(url.path)", isInline: false, isKept: false) { loaded in
      try place(loaded)
      return url
    }
  }

  /// An unfinished file beside the target, for a body that no cache takes.
  func begin() throws -> EntryWriter { EntryWriter(try makeWriter()) }

  private func makeWriter() throws(ObjectError) -> OutputWriter {
    let random = UInt64.random(in: .min ... .max)
    let temporary = FilePath(".\(hexadecimal((0..<8).map { UInt8(truncatingIfNeeded: random >> (8 * $0)) })).part")
    do throws(FileFault) {
      let folder = try files.openFolder(at: folder)
      let file = try files.open(temporary, in: folder, .create(permissions: 0o666))
      return OutputWriter(files, folder, file, temporary, failed)
    } catch {
      throw failed(error)
    }
  }

  private func place(_ loaded: Loaded) throws(ObjectError) {
    if case .lease(let lease as OutputFile) = loaded.body, try lease.move(to: self) { return }
    let writer = try makeWriter()
    do throws(ObjectError) {
      let bytes = try loaded.data()
      for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
        try writer.append(bytes.bytes.extracting(start..<min(bytes.count, start + (1 << 20))))
      }
      guard try writer.finish(EntryFacts(head: loaded.head)).move(to: self) else { throw exists }
    } catch {
      writer.abort()
      throw error
    }
  }

  /// Gives a finished file the target's name. False: it is not in the target's folder.
  fileprivate func take(
    _ file: borrowing OpenFile, _ temporary: FilePath, in other: borrowing OpenFile
  ) throws(ObjectError) -> Bool {
    let target = FilePath(name)
    do throws(FileFault) {
      let mine = try files.openFolder(at: folder)
      let (left, right) = (try files.info(of: mine), try files.info(of: other))
      guard left.device == right.device, left.inode == right.inode else { return false }
      if isReplacing {
        try files.rename(temporary, to: target, in: mine)
      } else {
        try name(file, temporary, target, mine)
      }
      return true
    } catch {
      throw error.isTaken ? exists : failed(error)
    }
  }

  /// A rename that replaces nothing; by a second name where the file system cannot.
  private func name(
    _ file: borrowing OpenFile, _ temporary: FilePath, _ target: FilePath, _ folder: borrowing OpenFile
  ) throws(FileFault) {
    do throws(FileFault) { return try files.renameNew(temporary, to: target, in: folder) } catch {
      guard error.isUnsupported else { throw error }
    }
    try files.link(file, to: target, in: folder)
    try files.remove(temporary, in: folder)
  }

  private func isTaken() throws(ObjectError) -> Bool {
    do throws(FileFault) {
      let open = try files.openFolder(at: folder)
      return try files.hasFile(FilePath(name), in: open)
    } catch {
      throw failed(error)
    }
  }

  private var exists: ObjectError {
    ObjectError(.outputExists, "“\(url.path)” exists already; choose another name, or ask to replace it.")
  }

  private func failed(_ fault: FileFault) -> ObjectError {
    ObjectError(.outputFailed, "“\(url.path)” cannot be written: \(fault).", underlying: fault)
  }
}

extension FileSystem {
  fileprivate func hasFile(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault) -> Bool {
    do throws(FileFault) {
      _ = try info(of: path, in: folder)
      return true
    } catch {
      if error.isMissing { return false }
      throw error
    }
  }
}

/// A file under its temporary name, while it is being written.
private final class OutputWriter: EntryWriting {
  private let file: OutputFile
  private let count = Lock(0)

  init(
    _ files: any FileSystem, _ folder: consuming OpenFile, _ file: consuming OpenFile, _ temporary: FilePath,
    _ failed: @escaping @Sendable (FileFault) -> ObjectError
  ) {
    self.file = OutputFile(files, folder, file, temporary, failed)
  }

  func append(_ bytes: RawSpan) throws(ObjectError) {
    let start = count.withLock { $0 }
    try file.write(bytes, at: start)
    count.withLock { $0 = start + bytes.byteCount }
  }

  func commit(_ facts: EntryFacts) throws -> any EntryLease { try finish(facts) }

  func finish(_ facts: EntryFacts) throws(ObjectError) -> OutputFile {
    file.finish(facts, count: count.withLock { $0 })
    return file
  }

  func abort() { file.remove() }
}

/// A written file that has not got its name yet. Removed with its last holder, unless it was moved.
final class OutputFile: EntryLease {
  private struct State: Sendable {
    var facts = EntryFacts(head: LoadHead())
    var count = 0
    var isGone = false
  }

  private let files: any FileSystem
  private let folder: OpenFile
  private let file: OpenFile
  private let temporary: FilePath
  private let failed: @Sendable (FileFault) -> ObjectError
  private let state = Lock(State())

  fileprivate init(
    _ files: any FileSystem, _ folder: consuming OpenFile, _ file: consuming OpenFile, _ temporary: FilePath,
    _ failed: @escaping @Sendable (FileFault) -> ObjectError
  ) {
    self.files = files
    self.folder = folder
    self.file = file
    self.temporary = temporary
    self.failed = failed
  }

  deinit { remove() }

  var facts: EntryFacts { state.withLock { $0.facts } }
  var count: Int { state.withLock { $0.count } }

  func data() throws -> Data {
    let count = count
    return count == 0 ? Data() : try files.map(file, count: count, isWritable: false).data(0..<count)
  }

  fileprivate func write(_ bytes: RawSpan, at offset: Int) throws(ObjectError) {
    do throws(FileFault) { try files.writeAll(bytes, to: file, at: offset) } catch { throw failed(error) }
  }

  fileprivate func finish(_ facts: EntryFacts, count: Int) {
    state.withLock { state in
      state.facts = facts
      state.count = count
    }
  }

  /// True: it has the target's name now. Only the first that asks can have it.
  fileprivate func move(to target: OutputTarget) throws(ObjectError) -> Bool {
    guard begins() else { return false }
    var isMoved = false
    defer { if !isMoved { state.withLock { $0.isGone = false } } }
    isMoved = try target.take(file, temporary, in: folder)
    return isMoved
  }

  fileprivate func remove() {
    if begins() { try? files.remove(temporary, in: folder) }
  }

  private func begins() -> Bool {
    state.withLock { state in
      defer { state.isGone = true }
      return !state.isGone
    }
  }
}
