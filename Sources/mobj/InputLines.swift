internal import Dispatch
internal import Glibc

/// Reads a list piece by piece, on a queue of its own, since a pipe may be silent for hours.
///
/// Never more than one piece of it is in memory, and the lines of one, however long the list.
actor InputLines {
  private static let pieceBytes = 65_536

  private let thread = BlockingExecutor(label: "mobj.input")
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  private let descriptor: Descriptor
  /// Readable once `stop` was called, which wakes a read that waits.
  private let stopped: Descriptor
  private let stopper: Descriptor
  private var cutter = LineCutter()

  /// - Parameter path: "-" is standard input.
  init(path: String) throws(Descriptor.Fault) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Descriptor.Fault(errno) }
    stopped = Descriptor(number: ends[0])
    stopper = Descriptor(number: ends[1])
    do throws(Descriptor.Fault) {
      descriptor = path == "-" ? .standardInput : try .open(path)
      // Opening a folder is no error, reading it is.
      if path != "-", Descriptor.isFolder(path) { throw .failed(EISDIR) }
    } catch {
      stopped.close()
      stopper.close()
      throw error
    }
  }

  deinit {
    stopped.close()
    stopper.close()
    if descriptor.number != STDIN_FILENO { descriptor.close() }
  }

  /// Bytes still to come, where that is known.
  nonisolated var bytesToRead: Int? { descriptor.bytesToRead }

  /// The next URLs, as many as have come; none at the end, or after `stop`.
  func next() throws(Descriptor.Fault) -> [InputLine] {
    try lines { descriptor.wait(for: POLLIN, orToRead: stopped) }
  }

  /// The same after `stop`. Of a pipe nothing more: it may be silent for hours.
  func rest() throws(Descriptor.Fault) -> [InputLine] {
    guard descriptor.bytesToRead != nil else { return [] }
    return try lines { true }
  }

  private func lines(_ mayRead: () -> Bool) throws(Descriptor.Fault) -> [InputLine] {
    while true {
      guard mayRead() else { return [] }
      let piece = try descriptor.read(atMost: Self.pieceBytes)
      if piece.isEmpty { cutter.end() } else { cutter.append(piece[...]) }
      var lines: [InputLine] = []
      while let line = cutter.next() { lines.append(line) }
      if piece.isEmpty || !lines.isEmpty { return lines }
    }
  }

  /// Ends the list here, also for a call of `next` that waits.
  nonisolated func stop() { try? stopper.write([0]) }
}

/// Runs an actor on a queue of its own, so that its waiting holds up nobody else's tasks.
private final class BlockingExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
