/// The engine's thread: everything here is local to it.
///
/// One pass: take what others left, let libcurl do what can be done without waiting, pass on what ended, and sleep only
/// if that left nothing to do. A receiver that starts its next transfer when told of an end is served in the same pass.
final class EngineLoop {
  private let inbox: EngineInbox
  private let multi: MultiHandle
  private let limitIdleHandles: Int
  private var running: [TransferID: EasyHandle] = [:]
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
  func run() {
    while !takeCommands() {
      multi.perform()
      passOnEnded()
      guard inbox.mayIWait(for: multi) else { continue }
      // With transfers running a bound on the sleep is a watchdog; libcurl's own time-outs end it earlier.
      multi.poll(atMost: running.isEmpty ? 60_000 : 1_000)
    }
    endAll()
  }

  /// True: the engine is closing; the commands of that batch are not performed.
  private func takeCommands() -> Bool {
    switch inbox.take(into: &commands) {
    case .goOn: break
    case .close: return true
    case .rest: threads.rest()
    }
    for command in commands { perform(command) }
    commands.removeAll(keepingCapacity: true)
    return false
  }

  private func perform(_ command: EngineInbox.Command) {
    switch command {
    case .start(let id, let request, let receiver): start(Transfer(id: id, request: request, receiver: receiver))
    case .run(let work): work()
    case .stop(let id): stop(id)
    case .resume(let id): resume(id)
    }
  }

  private func start(_ transfer: Transfer) {
    transfer.receiver.began(as: transfer.id)
    guard let easy = idle.popLast() ?? EasyHandle() else { return transfer.end(.other, "libcurl has no memory") }
    if let failure = easy.prepare(transfer) {
      recycle(easy)
      return transfer.receiver.ended(.failed(failure))
    }
    guard multi.add(easy) else {
      recycle(easy)
      return transfer.end(.other, "libcurl refused it")
    }
    running[transfer.id] = easy
  }

  private func stop(_ id: TransferID) {
    guard let easy = running.removeValue(forKey: id), let transfer = easy.transfer else { return }
    multi.remove(easy)
    recycle(easy)
    transfer.end(.stopped)
  }

  private func resume(_ id: TransferID) {
    guard let easy = running[id] else { return }
    let code = easy.resume()
    // The callback may refuse the bytes that were held back; libcurl reports that here and nowhere else.
    if code != 0 { finish(easy, code) }
  }

  private func passOnEnded() {
    while let (easy, code) = multi.nextEnded() { finish(easy, code) }
  }

  /// The handle is free again before the receiver is told, so that its next transfer finds it.
  private func finish(_ easy: EasyHandle, _ code: Int) {
    let end = easy.end(code)
    let transfer = easy.transfer
    multi.remove(easy)
    recycle(easy)
    guard let transfer, running.removeValue(forKey: transfer.id) != nil else { return }
    transfer.receiver.ended(end)
  }

  private func recycle(_ easy: EasyHandle) {
    easy.clear()
    if idle.count < limitIdleHandles { idle.append(easy) }
  }

  private func endAll() {
    for (_, easy) in running {
      multi.remove(easy)
      easy.transfer?.end(.closed)
      easy.clear()
    }
    // What runs now may leave more; that is refused, since the inbox is closed.
    for command in commands {
      switch command {
      case .start(let id, let request, let receiver):
        Transfer(id: id, request: request, receiver: receiver).end(.closed)
      case .run(let work): work()
      case .stop, .resume: break
      }
    }
    running = [:]
    commands = []
    idle = []
  }
}
