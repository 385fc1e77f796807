internal import Glibc
internal import Locking
internal import Synchronization

/// Moves bytes over HTTP with libcurl, many transfers at once on one thread of its own.
///
/// All of libcurl is local to that thread. Other threads leave commands in an inbox and wake it; it calls receivers.
/// The first transfer starts the thread. It ends by itself after `close`, or when the engine is let go; nobody waits for it.
/// The engine runs what it is given: a limit on transfers at once is the caller's, who has a queue with priorities.
package final class CurlEngine: Sendable {
  /// For receivers: holding it does not keep the engine open.
  package let desk: EngineDesk

  /// - Parameter limitConnections: open connections kept, 64; must not be less than the transfers at once.
  package init(limitConnections: Int = 64) {
    desk = EngineDesk(inbox: EngineInbox(), limitConnections: max(1, limitConnections))
  }

  deinit { close() }

  @discardableResult
  package func start(_ request: TransferRequest, _ receiver: any TransferReceiver) -> TransferID? {
    desk.start(request, receiver)
  }

  package func run(_ work: @escaping @Sendable () -> Void) -> Bool { desk.run(work) }
  /// Whether the caller runs on the engine's thread.
  package var isOwnThread: Bool { desk.thread.isCurrent }
  package func stop(_ id: TransferID) { desk.stop(id) }
  package func resume(_ id: TransferID) { desk.resume(id) }

  /// Ends every transfer as `.closed`, on the engine's thread, and the thread with it. Does not wait for it.
  package func close() { desk.inbox.close() }
}

/// Where an engine takes what it is to do.
package struct EngineDesk: Sendable {
  let inbox: EngineInbox
  let limitConnections: Int
  fileprivate let thread = ThreadName()

  /// Begins a transfer and returns at once. From any thread, the engine's own included.
  ///
  /// On an engine that is closed the receiver's `ended` is called before this returns.
  @discardableResult
  package func start(_ request: TransferRequest, _ receiver: any TransferReceiver) -> TransferID? {
    guard let (id, isFirst) = inbox.start(request, receiver) else {
      receiver.ended(.failed(.closed(request)))
      return nil
    }
    if isFirst { startThread() }
    return id
  }

  /// Has the engine's thread do this, between two looks at its transfers: what is begun and ended there stays in one
  /// thread's caches and memory. False: the engine is closed.
  package func run(_ work: @escaping @Sendable () -> Void) -> Bool {
    guard let isFirst = inbox.run(work) else { return false }
    if isFirst { startThread() }
    return true
  }

  /// Ends a transfer as `.stopped`. After its end this does nothing.
  package func stop(_ id: TransferID) { inbox.post(.stop(id)) }

  /// Goes on after the receiver asked for a pause.
  package func resume(_ id: TransferID) { inbox.post(.resume(id)) }

  private func startThread() {
    let (inbox, limit, thread) = (inbox, limitConnections, thread)
    let threads = MultiHandle.threads
    let isRunning = EngineThread.start {
      thread.isMine()
      threads.enter(inbox)
      // A call of its own, so that libcurl's handles are gone before the thread leaves.
      Self.run(inbox, limit)
      threads.leave()
    }
    if !isRunning { inbox.refuseAll() }
  }

  @inline(never) private static func run(_ inbox: EngineInbox, _ limit: Int) {
    guard let multi = MultiHandle(limitConnections: limit) else { return inbox.refuseAll() }
    var loop = EngineLoop(inbox: inbox, multi: multi, limitIdleHandles: limit, threads: MultiHandle.threads)
    loop.run()
  }
}

/// Which thread is the engine's.
private final class ThreadName: Sendable {
  /// 0: there is none yet.
  private let name = Atomic<UInt>(0)

  var isCurrent: Bool { name.load(ordering: .relaxed) == EngineThread.current }
  func isMine() { name.store(EngineThread.current, ordering: .relaxed) }
}

extension EngineInbox {
  /// Where the machine has no thread or memory for the engine: ends what waits and takes no more.
  fileprivate func refuseAll() {
    close()
    var commands: [Command] = []
    _ = take(into: &commands)
    for command in commands {
      switch command {
      case .start(let transfer): transfer.end(.other, "the system has no thread or memory for it")
      case .run(let work): work()
      case .stop, .resume: break
      }
    }
  }
}
