internal import Glibc
internal import Locking
internal import Synchronization

/// Moves bytes over HTTP with libcurl, many transfers at once on one thread of its own.
///
/// All of libcurl is local to that thread. Other threads leave commands in an inbox and wake it; it calls receivers.
/// The first transfer starts the thread, or ends where the system has none to give, and the next one tries again. It ends
/// by itself after `close`, or when the engine is let go; nobody waits for it.
/// The engine runs what it is given: a limit on transfers at once is the caller's, who has a queue with priorities.
package final class CurlEngine: Sendable {
  /// For receivers: holding it does not keep the engine open.
  package let desk: EngineDesk

  /// - Parameter limitConnections: open connections kept, 64; must not be less than the transfers at once.
  package convenience init(limitConnections: Int = 64) {
    self.init(limitConnections: limitConnections, startThread: EngineThread.start)
  }

  init(limitConnections: Int = 64, startThread: @escaping EngineDesk.StartThread) {
    desk = EngineDesk(
      inbox: EngineInbox(), limitConnections: max(1, limitConnections), startThread: startThread)
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
  let startThread: StartThread
  fileprivate let thread = ThreadName()

  /// Has a new thread do this. False: the system has none to give.
  typealias StartThread = @Sendable (_ body: @escaping @Sendable () -> Void) -> Bool

  /// Begins a transfer and returns at once. From any thread, the engine's own included.
  ///
  /// On an engine that is closed the receiver's `ended` is called before this returns.
  @discardableResult
  package func start(_ request: TransferRequest, _ receiver: any TransferReceiver) -> TransferID? {
    guard let (id, isFirst) = inbox.start(request, receiver) else {
      receiver.ended(.failed(.closed(request)))
      return nil
    }
    if isFirst { beginThread() }
    return id
  }

  /// Has the engine's thread do this, between two looks at its transfers: what is begun and ended there stays in one
  /// thread's caches and memory. False: the engine is closed.
  package func run(_ work: @escaping @Sendable () -> Void) -> Bool {
    guard let isFirst = inbox.run(work) else { return false }
    if isFirst { beginThread() }
    return true
  }

  /// Ends a transfer as `.stopped`. After its end this does nothing.
  package func stop(_ id: TransferID) { inbox.post(.stop(id)) }

  /// Goes on after the receiver asked for a pause.
  package func resume(_ id: TransferID) { inbox.post(.resume(id)) }

  private func beginThread() {
    let (inbox, limit, thread) = (inbox, limitConnections, thread)
    let threads = MultiHandle.threads
    repeat {
      let isRunning = startThread {
        thread.isMine()
        threads.enter(inbox)
        // A call of its own, so that libcurl's handles are gone before the thread leaves.
        Self.run(inbox, limit)
        thread.isNobodys()
        threads.leave()
      }
      if isRunning { return }
    } while inbox.refuse()
  }

  @inline(never) private static func run(_ inbox: EngineInbox, _ limit: Int) {
    repeat {
      guard let multi = MultiHandle(limitConnections: limit) else { continue }
      var loop = EngineLoop(inbox: inbox, multi: multi, limitIdleHandles: limit, threads: MultiHandle.threads)
      return loop.run()
    } while inbox.refuse()
  }
}

/// Which thread is the engine's.
private final class ThreadName: Sendable {
  /// 0: there is none yet.
  private let name = Atomic<UInt>(0)

  var isCurrent: Bool { name.load(ordering: .relaxed) == EngineThread.current }
  func isMine() { name.store(EngineThread.current, ordering: .relaxed) }

  /// Unless the next thread has it by now.
  func isNobodys() {
    _ = name.compareExchange(expected: EngineThread.current, desired: 0, ordering: .relaxed)
  }
}
