/// The engine's thread: everything here is local to it.
///
/// One pass: take what others left, let libcurl do what can be done without waiting, pass on what ended, and sleep only
/// if that left nothing to do. A receiver that starts its next transfer when told of an end is served in the same pass.
struct EngineLoop: ~Copyable {
  private let inbox: EngineInbox
  private let multi: MultiHandle
  private let limitIdleHandles: Int
  /// In no order; each knows its place. Looked through only to stop or resume one.
  private var running: [EasyHandle] = []
  private var idle: [EasyHandle] = []
  private var commands: [EngineInbox.Command] = []
  private let threads: EngineThreads

  init(inbox: EngineInbox, multi: MultiHandle, limitIdleHandles: Int, threads: EngineThreads) {
    self.threads = threads
    self.inbox = inbox
    self.multi = multi
    self.limitIdleHandles = limitIdleHandles
  }

  /// Until the engine closes.
  mutating func run() {
    while !takeCommands() {
      multi.perform()
      passOnEnded()
      guard inbox.mayIWait(for: multi) else { continue }
      // With transfers running a bound on the sleep is a watchdog; libcurl's own time-outs end it earlier.
      multi.poll(atMost: running.isEmpty ? 60_000 : 1_000)
    }
    endAll()
  }

  /// Also what these leave, and what that leaves: whoever is woken by an end asks for the next load, which begins, and
  /// starts its transfer, before libcurl has its turn. Not for ever, or what fails at once and is followed by its like
  /// would keep libcurl waiting.
  ///
  /// True: the engine is closing; the commands of that batch are not performed.
  private mutating func takeCommands() -> Bool {
    for _ in 0..<8 {
      switch inbox.take(into: &commands) {
      case .goOn: break
      case .close: return true
      case .rest: threads.rest()
      }
      if commands.isEmpty { return false }
      for command in commands { perform(command) }
      commands.removeAll(keepingCapacity: true)
    }
    return false
  }

  private mutating func perform(_ command: EngineInbox.Command) {
    switch command {
    case .start(let transfer): start(transfer)
    case .run(let work): work()
    case .stop(let id): stop(id)
    case .resume(let id): resume(id)
    }
  }

  private mutating func start(_ transfer: Transfer) {
    transfer.begin()
    guard let easy = idle.popLast() ?? EasyHandle() else { return transfer.end(.other, "libcurl has no memory") }
    if let failure = easy.prepare(transfer) {
      recycle(easy)
      return transfer.receiver.ended(.failed(failure))
    }
    guard multi.add(easy) else {
      recycle(easy)
      return transfer.end(.other, "libcurl refused it")
    }
    easy.place = running.count
    running.append(easy)
  }

  private func find(_ id: TransferID) -> EasyHandle? { running.first { $0.transfer?.id == id } }

  private mutating func stop(_ id: TransferID) {
    guard let easy = find(id), let transfer = easy.transfer else { return }
    remove(easy)
    transfer.end(.stopped)
  }

  private mutating func resume(_ id: TransferID) {
    guard let easy = find(id) else { return }
    let code = easy.resume()
    // The callback may refuse the bytes that were held back; libcurl reports that here and nowhere else.
    if code != 0 { finish(easy, code) }
  }

  private mutating func passOnEnded() {
    while let (easy, code) = multi.nextEnded() { finish(easy, code) }
  }

  /// The handle is free again before the receiver is told, so that its next transfer finds it.
  private mutating func finish(_ easy: EasyHandle, _ code: Int) {
    let end = easy.end(code)
    guard let transfer = easy.transfer else { return }
    remove(easy)
    transfer.receiver.ended(end)
  }

  /// The last takes its place.
  private mutating func remove(_ easy: EasyHandle) {
    multi.remove(easy)
    let last = running.removeLast()
    if last !== easy {
      running[easy.place] = last
      last.place = easy.place
    }
    recycle(easy)
  }

  private mutating func recycle(_ easy: EasyHandle) {
    easy.clear()
    if idle.count < limitIdleHandles { idle.append(easy) }
  }

  private mutating func endAll() {
    for easy in running {
      multi.remove(easy)
      easy.transfer?.end(.closed)
      easy.clear()
    }
    // What runs now may leave more; that is refused, since the inbox is closed.
    for command in commands {
      switch command {
      case .start(let transfer): transfer.end(.closed)
      case .run(let work): work()
      case .stop, .resume: break
      }
    }
    running = []
    commands = []
    idle = []
  }
}
