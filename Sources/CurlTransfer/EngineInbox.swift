internal import Locking

/// What other threads leave for the engine's thread, and how it is woken.
///
/// A wake costs a system call on both sides, so there is one only when the thread sleeps or may be about to:
/// `sleeper` is set, under the lock and only while nothing waits, right before it sleeps, and taken by the first who
/// has something for it. Calls made on the engine's thread itself therefore never wake.
final class EngineInbox: Sendable {
  enum Command: Sendable {
    case start(Transfer)
    case run(@Sendable () -> Void)
    case stop(TransferID)
    case resume(TransferID)
  }

  private struct State {
    var commands: [Command] = []
    var sleeper: MultiHandle?
    var lastNumber: UInt64 = 0
    /// Or one is being started.
    var hasThread = false
    var isClosing = false
    var isFrozen = false

    /// To the first who asks.
    mutating func needsThread() -> Bool {
      defer { hasThread = true }
      return !hasThread
    }
  }

  enum Turn { case goOn, close, rest }

  private let state = Lock(State())

  /// nil: the engine is closed and the transfer will not be taken. `isFirst`: there is no thread, the caller starts it.
  func start(_ request: TransferRequest, _ receiver: any TransferReceiver) -> (id: TransferID, isFirst: Bool)? {
    let posted = state.withLock { state -> (id: TransferID, isFirst: Bool, sleeper: MultiHandle?)? in
      guard !state.isClosing else { return nil }
      state.lastNumber += 1
      let id = TransferID(number: state.lastNumber)
      state.commands.append(.start(Transfer(id: id, request: request, receiver: receiver)))
      return (id, state.needsThread(), state.sleeper.take())
    }
    posted?.sleeper?.wake()
    return posted.map { ($0.id, $0.isFirst) }
  }

  /// nil: the engine is closed and the work will not be done. True: there is no thread, the caller starts it.
  func run(_ work: @escaping @Sendable () -> Void) -> Bool? {
    let posted = state.withLock { state -> (isFirst: Bool, sleeper: MultiHandle?)? in
      guard !state.isClosing else { return nil }
      state.commands.append(.run(work))
      return (state.needsThread(), state.sleeper.take())
    }
    posted?.sleeper?.wake()
    return posted?.isFirst
  }

  /// Where there is no thread there is nothing to stop or to resume.
  func post(_ command: Command) {
    let sleeper = state.withLock { state -> MultiHandle? in
      guard !state.isClosing, state.hasThread else { return nil }
      state.commands.append(command)
      return state.sleeper.take()
    }
    sleeper?.wake()
  }

  /// Nothing is taken any more; what was, the thread will end.
  func close() {
    let sleeper = state.withLock { state in
      state.isClosing = true
      return state.sleeper.take()
    }
    sleeper?.wake()
  }

  /// The process exits: the engine's thread is to stay away from libcurl, and to say nothing.
  func freeze() {
    let sleeper = state.withLock { state in
      state.isFrozen = true
      return state.sleeper.take()
    }
    sleeper?.wake()
  }

  /// Where the system has no thread, descriptor or memory for the engine: ends what waits. What that leaves waits again,
  /// so that nothing goes ever deeper into the stack.
  ///
  /// False: that was all, and whoever has something next starts a thread again.
  func refuse() -> Bool {
    for command in takeRefused() {
      switch command {
      case .start(let transfer): transfer.end(.other, "the system has no thread, descriptor or memory for it")
      case .run(let work): work()
      case .stop, .resume: break
      }
    }
    return state.withLock { state in
      state.hasThread = !state.commands.isEmpty && !state.isFrozen
      return state.hasThread
    }
  }

  private func takeRefused() -> [Command] {
    state.withLock { state in
      if state.isFrozen { return [] }
      defer { state.commands = [] }
      return state.commands
    }
  }

  // MARK: For the engine's thread

  /// Swaps what waits with an empty array, whose room is used again. `.close`: the engine is closing, and this was all.
  func take(into commands: inout [Command]) -> Turn {
    state.withLock { state in
      state.sleeper = nil
      if state.isFrozen { return .rest }
      swap(&commands, &state.commands)
      return state.isClosing ? .close : .goOn
    }
  }

  /// False: something waits. True: from now on whoever posts wakes `multi`.
  func mayIWait(for multi: MultiHandle) -> Bool {
    state.withLock { state in
      guard state.commands.isEmpty, !state.isClosing, !state.isFrozen else { return false }
      state.sleeper = multi
      return true
    }
  }
}
