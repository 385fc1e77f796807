internal import FoundationEssentials

/// A file that a caller wants the bytes in: written under a temporary name beside it, then renamed, so that a whole file
/// or none is there.
///
/// All is done by the path as the caller gave it: a folder that is held open for each of many requests costs more system
/// calls than the file itself, and there may be more requests than a process may have open files.
final class OutputTarget: Sendable {
  private let path: String
  /// Up to the file's name: "/home/joe/", "pictures/", or "" for a file where the process is.
  private let folder: String
  private let isReplacing: Bool
  private let numbers: UniqueNumbers
  private let files: any FileSystem
  /// Of the representation that stands for the file.
  fileprivate let variant: String

  /// - Parameter replacing: what is there already is replaced; else it is an error, now and at the end.
  init(
    _ path: String, replacing: Bool, numbers: UniqueNumbers, files: any FileSystem = PosixFileSystem()
  ) throws(ObjectError) {
    let bytes = path.utf8
    let start = bytes.lastIndex(of: Byte.slash).map { bytes.index(after: $0) } ?? bytes.startIndex
    guard start < bytes.endIndex, !bytes.contains(0) else { throw Self.noFile(path) }
    self.path = path
    folder = String(path[..<start])
    isReplacing = replacing
    self.numbers = numbers
    self.files = files
    variant = "file " + String(numbers.next(), radix: 16)
    // A folder that is missing is found out here as well, before anything is loaded.
    if !replacing, try isTaken() { throw exists }
    do throws(FileFault) { _ = try files.info(of: FilePath(folder + "."), in: .workingFolder) } catch {
      throw failed(error)
    }
  }

  convenience init(_ target: URL, replacing: Bool, numbers: UniqueNumbers) throws(ObjectError) {
    guard target.isFileURL else { throw Self.noFile(target.path) }
    try self.init(target.path, replacing: replacing, numbers: numbers)
  }

  /// Hands out the file, as the object that was asked for. Belongs to one caller: never shared, never kept.
  /// - Parameters:
  ///   - object: what stands for the file.
  ///   - isInline: all that is left to do is a rename.
  func decoder<Object: Sendable>(giving object: Object, isInline: Bool) -> ObjectDecoder<Object> {
    ObjectDecoder(variant, isInline: isInline, isKept: false) { loaded in
      try self.place(loaded)
      return object
    }
  }

  /// An unfinished file beside the target, for a body that no cache takes.
  func begin() throws -> EntryWriter { EntryWriter(try makeWriter()) }

  private func makeWriter() throws(ObjectError) -> OutputWriter {
    let temporary = FilePath("\(folder).\(String(numbers.next(), radix: 16)).part")
    do throws(FileFault) {
      let file = try files.open(temporary, in: .workingFolder, .create(permissions: 0o666))
      return OutputWriter(OutputFile(of: self, file, temporary))
    } catch {
      throw failed(error)
    }
  }

  private func place(_ loaded: Loaded) throws(ObjectError) {
    if case .lease(let lease as OutputFile) = loaded.body, try lease.move(to: self) { return }
    let writer = try makeWriter()
    do {
      try loaded.forEachPiece { try writer.append($0) }
      guard try writer.finish(nil).move(to: self) else { throw exists }
    } catch {
      writer.abort()
      throw ObjectError(cacheFault: error)
    }
  }

  /// Gives a finished file the target's name. False: it is not in the target's folder.
  fileprivate func take(
    _ file: borrowing OpenFile, _ temporary: FilePath, of other: OutputTarget
  ) throws(ObjectError) -> Bool {
    guard folder == other.folder else { return false }
    do throws(FileFault) {
      if isReplacing {
        try files.rename(temporary, to: FilePath(path), in: .workingFolder)
      } else {
        try name(file, temporary)
      }
      return true
    } catch {
      throw error.isTaken ? exists : failed(error)
    }
  }

  /// A rename that replaces nothing; by a second name where the file system cannot.
  private func name(_ file: borrowing OpenFile, _ temporary: FilePath) throws(FileFault) {
    let target = FilePath(path)
    do throws(FileFault) { return try files.renameNew(temporary, to: target, in: .workingFolder) } catch {
      guard error.isUnsupported else { throw error }
    }
    try files.link(file, to: target, in: .workingFolder)
    try files.remove(temporary, in: .workingFolder)
  }

  private func isTaken() throws(ObjectError) -> Bool {
    do throws(FileFault) {
      _ = try files.info(of: FilePath(path), in: .workingFolder)
      return true
    } catch {
      if error.isMissing { return false }
      throw failed(error)
    }
  }

  fileprivate func write(_ bytes: RawSpan, to file: borrowing OpenFile, at offset: Int) throws(ObjectError) {
    do throws(FileFault) { try files.writeAll(bytes, to: file, at: offset) } catch { throw failed(error) }
  }

  /// Read, never mapped: the file becomes its caller's own, who may change it while others have these bytes.
  fileprivate func data(of file: borrowing OpenFile, at offset: Int, count: Int) throws(ObjectError) -> Data {
    var data = Data(capacity: count)
    do throws(FileFault) {
      while data.count < count {
        let bytes = try files.read(file, at: offset + data.count, count: min(count - data.count, 1 << 20))
        guard bytes.count > 0 else { throw FileFault.readFailed }
        bytes.withBytes { data.append($0) }
      }
    } catch {
      throw failed(error)
    }
    return data
  }

  fileprivate func info(of file: borrowing OpenFile) throws(ObjectError) -> FileInfo {
    do throws(FileFault) { return try files.info(of: file) } catch { throw failed(error) }
  }

  fileprivate func changed() -> ObjectError {
    ObjectError(
      .transport, "“\(path)” was changed while others still needed the bytes that it was made of; ask for them again.")
  }

  fileprivate func remove(_ temporary: FilePath) { try? files.remove(temporary, in: .workingFolder) }

  private static func noFile(_ path: String) -> ObjectError {
    ObjectError(.outputFailed, "“\(path)” does not name a file; give the URL of one.")
  }

  private var exists: ObjectError {
    ObjectError(.outputExists, "“\(path)” exists already; choose another name, or ask to replace it.")
  }

  private func failed(_ fault: FileFault) -> ObjectError {
    ObjectError(.outputFailed, "“\(path)” cannot be written: \(fault).", underlying: fault)
  }
}

/// A file under its temporary name, while it is being written.
private final class OutputWriter: EntryWriting {
  private let file: OutputFile
  private let count = Lock(0)

  init(_ file: OutputFile) { self.file = file }

  func append(_ bytes: RawSpan) throws(ObjectError) {
    let start = count.withLock { $0 }
    try file.write(bytes, at: start)
    count.withLock { $0 = start + bytes.byteCount }
  }

  func commit(_ facts: EntryFacts) throws -> any EntryLease { try finish(facts) }

  func finish(_ facts: EntryFacts?) throws(ObjectError) -> OutputFile {
    file.finish(facts, count: count.withLock { $0 })
    return file
  }

  func abort() { file.remove() }
}

/// A written file that has not got its name yet. Removed with its last holder, unless it was moved.
final class OutputFile: EntryLease {
  private struct State: Sendable {
    /// nil: nobody asked to have them kept.
    var facts: EntryFacts?
    var count = 0
    var isGone = false
    /// As it was before it got its name, and with it an owner who may change it.
    var named: FileInfo?
  }

  private let target: OutputTarget
  private let file: OpenFile
  private let temporary: FilePath
  private let state = Lock(State())

  fileprivate init(of target: OutputTarget, _ file: consuming OpenFile, _ temporary: FilePath) {
    self.target = target
    self.file = file
    self.temporary = temporary
  }

  deinit { remove() }

  var facts: EntryFacts { state.withLock { $0.facts } ?? EntryFacts(head: LoadHead()) }
  var count: Int { state.withLock { $0.count } }
  /// Whether all that is left to do for this representation is a rename.
  func isWaiting(for representation: Representation) -> Bool {
    representation.variant == target.variant && !state.withLock { $0.isGone }
  }

  func data() throws -> Data { try bytes(at: 0, count: count) }

  func read(at offset: Int, atMost most: Int) throws -> Data {
    let start = min(max(0, offset), count)
    return try bytes(at: start, count: min(max(0, most), count - start))
  }

  private func bytes(at offset: Int, count: Int) throws(ObjectError) -> Data {
    let data = try target.data(of: file, at: offset, count: count)
    guard let named = state.withLock({ $0.named }) else { return data }
    let now = try target.info(of: file)
    guard now.modified == named.modified, now.bytes == named.bytes else { throw target.changed() }
    return data
  }

  fileprivate func write(_ bytes: RawSpan, at offset: Int) throws(ObjectError) {
    try target.write(bytes, to: file, at: offset)
  }

  fileprivate func finish(_ facts: EntryFacts?, count: Int) {
    state.withLock { state in
      state.facts = facts
      state.count = count
    }
  }

  /// True: it has the target's name now. Only the first that asks can have it.
  fileprivate func move(to other: OutputTarget) throws(ObjectError) -> Bool {
    guard begins() else { return false }
    var isMoved = false
    defer { if !isMoved { state.withLock { $0.isGone = false } } }
    let named = try target.info(of: file)
    state.withLock { $0.named = named }
    isMoved = try other.take(file, temporary, of: target)
    return isMoved
  }

  fileprivate func remove() {
    if begins() { target.remove(temporary) }
  }

  private func begins() -> Bool {
    state.withLock { state in
      defer { state.isGone = true }
      return !state.isGone
    }
  }
}

extension Loaded {
  /// Whether a decoder that is quick may be run on a thread that others wait for: not where it has to read or copy a file
  /// that is made for somebody.
  func isAtHand(for representation: Representation) -> Bool {
    guard case .lease(let lease) = body, type(of: lease) == OutputFile.self else { return true }
    return (lease as? OutputFile)?.isWaiting(for: representation) ?? true
  }
}
