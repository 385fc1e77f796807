package import ManagedObjects

/// The real file system with faults in between, and a count of what was called.
///
///     let files = FaultyFileSystem()
///     files.fail(.write, with: .diskFull)            // from now on, until `mend`
///     files.fail(.rename, with: .readFailed, times: 1)
///     files.setReadOnly(true)                        // EROFS for all that would change something
package final class FaultyFileSystem: FileSystem {
  package enum Call: Hashable, Sendable {
    case openFolder, makeFolder, open, create, update, info, list, read, write, map, allocate, sync, rename, exchange,
      link, remove
    case setModified, lock

    var changesSomething: Bool {
      switch self {
      case .makeFolder, .create, .update, .write, .allocate, .rename, .exchange, .link, .remove, .setModified: true
      default: false
      }
    }
  }

  private struct Fault {
    var fault: FileFault
    /// Calls that still succeed, and calls that then fail.
    var after: Int
    var times: Int
  }

  private struct State {
    var faults: [Call: Fault] = [:]
    var isReadOnly = false
    var space: FileSpace?
    var limitWriteBytes = Int.max
    var calls: [Call: Int] = [:]
    var yields = 0
    var actions: [Call: Action] = [:]
  }

  private struct Action {
    /// Calls that come before.
    var after: Int
    var action: @Sendable () -> Void
  }

  private let real = PosixFileSystem()
  private let state = Lock(State())

  package init() {}

  // MARK: What the test says

  /// Lets calls of this kind fail, after so many that do not.
  package func fail(_ call: Call, with fault: FileFault, after: Int = 0, times: Int = .max) {
    state.withLock { $0.faults[call] = Fault(fault: fault, after: after, times: times) }
  }

  /// Does something once, just before a call of this kind, as another process may: the next, or after so many.
  package func act(before call: Call, after: Int = 0, _ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.actions[call] = Action(after: after, action: action) }
  }

  package func setReadOnly(_ isReadOnly: Bool) { state.withLock { $0.isReadOnly = isReadOnly } }

  /// What `space` answers; nil: the truth.
  package func setSpace(_ space: FileSpace?) { state.withLock { $0.space = space } }

  /// No write takes more than so many bytes.
  package func limitWrites(to bytes: Int) { state.withLock { $0.limitWriteBytes = bytes } }

  /// No more faults.
  package func mend() {
    state.withLock { state in
      state.faults = [:]
      state.isReadOnly = false
      state.limitWriteBytes = .max
    }
  }

  /// Calls since this was last asked.
  package func takeCalls() -> [Call: Int] {
    state.withLock { state in
      let calls = state.calls
      state.calls = [:]
      return calls
    }
  }

  package var yields: Int { state.withLock { $0.yields } }

  private func takeAction(_ call: Call) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let next = state.actions[call] else { return nil }
      state.actions[call] = next.after == 0 ? nil : Action(after: next.after - 1, action: next.action)
      return next.after == 0 ? next.action : nil
    }
  }

  private func pass(_ call: Call) throws(FileFault) {
    takeAction(call)?()
    let fault: FileFault? = state.withLock { state in
      state.calls[call, default: 0] += 1
      if state.isReadOnly, call.changesSomething { return .readOnly }
      guard var fault = state.faults[call] else { return nil }
      defer { state.faults[call] = fault }
      if fault.after > 0 {
        fault.after -= 1
        return nil
      }
      guard fault.times > 0 else { return nil }
      fault.times -= 1
      return fault.fault
    }
    if let fault { throw fault }
  }

  // MARK: The file system

  package var userID: UInt32 { real.userID }
  package var bootID: Int64 { real.bootID }

  package func makeFolders(at path: String) throws(FileFault) {
    try pass(.makeFolder)
    try real.makeFolders(at: path)
  }

  package func openFolder(at path: String) throws(FileFault) -> OpenFile {
    try pass(.openFolder)
    return try real.openFolder(at: path)
  }

  package func makeFolder(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    try pass(.makeFolder)
    try real.makeFolder(path, in: folder)
  }

  package func open(
    _ path: FilePath, in folder: borrowing OpenFile, _ access: FileAccess
  ) throws(FileFault) -> OpenFile {
    switch access {
    case .read: try pass(.open)
    case .create: try pass(.create)
    case .update: try pass(.update)
    }
    return try real.open(path, in: folder, access)
  }

  package func info(of file: borrowing OpenFile) throws(FileFault) -> FileInfo {
    try pass(.info)
    return try real.info(of: file)
  }

  package func info(of path: FilePath, in folder: borrowing OpenFile) throws(FileFault) -> FileInfo {
    try pass(.info)
    return try real.info(of: path, in: folder)
  }

  package func space(around folder: borrowing OpenFile) throws(FileFault) -> FileSpace {
    if let space = state.withLock({ $0.space }) { return space }
    return try real.space(around: folder)
  }

  package func list(
    _ path: FilePath, in folder: borrowing OpenFile, _ show: (_ name: Span<UInt8>, _ inode: UInt64) -> Void
  ) throws(FileFault) {
    try pass(.list)
    try real.list(path, in: folder, show)
  }

  package func read(_ file: borrowing OpenFile, at offset: Int, count: Int) throws(FileFault) -> HeldBytes {
    try pass(.read)
    return try real.read(file, at: offset, count: count)
  }

  package func write(_ bytes: RawSpan, to file: borrowing OpenFile, at offset: Int) throws(FileFault) -> Int {
    try pass(.write)
    let limit = state.withLock { $0.limitWriteBytes }
    return try real.write(bytes.extracting(0..<min(limit, bytes.byteCount)), to: file, at: offset)
  }

  package func map(_ file: borrowing OpenFile, count: Int, isWritable: Bool) throws(FileFault) -> HeldBytes {
    try pass(.map)
    return try real.map(file, count: count, isWritable: isWritable)
  }

  package func allocate(_ count: Int, for file: borrowing OpenFile) throws(FileFault) {
    try pass(.allocate)
    try real.allocate(count, for: file)
  }

  package func sync(_ file: borrowing OpenFile) throws(FileFault) {
    try pass(.sync)
    try real.sync(file)
  }

  package func rename(_ from: FilePath, to path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    try pass(.rename)
    try real.rename(from, to: path, in: folder)
  }

  package func renameNew(_ from: FilePath, to path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    try pass(.rename)
    try real.renameNew(from, to: path, in: folder)
  }

  package func exchange(_ one: FilePath, _ other: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    try pass(.exchange)
    try real.exchange(one, other, in: folder)
  }

  package func link(_ file: borrowing OpenFile, to path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    try pass(.link)
    try real.link(file, to: path, in: folder)
  }

  package func remove(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    try pass(.remove)
    try real.remove(path, in: folder)
  }

  package func removeFolder(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    try pass(.remove)
    try real.removeFolder(path, in: folder)
  }

  package func setModified(_ time: WallTime, of file: borrowing OpenFile) throws(FileFault) {
    try pass(.setModified)
    try real.setModified(time, of: file)
  }

  package func lock(_ file: borrowing OpenFile, isShared: Bool) throws(FileFault) -> Bool {
    try pass(.lock)
    return try real.lock(file, isShared: isShared)
  }

  package func yield() { state.withLock { $0.yields += 1 } }
}
