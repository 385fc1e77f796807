/// The callbacks of one user: in order, and never two at once, whichever threads they come from.
final class CallbackQueue: Sendable {
  private struct State: Sendable {
    var waiting: [@Sendable () -> Void] = []
    /// A thread runs what waits, or will as soon as the callback it is inside of has returned.
    var isRunning = false
    /// The user's delivery was asked for a thread and has given none yet.
    var isScheduled = false
  }

  private enum Turn: Sendable { case run, schedule, wait }

  private let state = Lock(State())
  private let trampoline: Trampoline

  init(_ trampoline: Trampoline) { self.trampoline = trampoline }

  /// No callback runs, and none is to.
  var isIdle: Bool { state.withLock { !$0.isRunning && $0.waiting.isEmpty } }

  /// - Parameter here: run on this thread, before returning, unless a callback of the user is running already.
  func post(_ delivery: Delivery, here: Bool, _ callback: @escaping @Sendable () -> Void) {
    let turn = state.withLock { state -> Turn in
      state.waiting.append(callback)
      if state.isRunning { return .wait }
      if here {
        state.isRunning = true
        return .run
      }
      defer { state.isScheduled = true }
      return state.isScheduled ? .wait : .schedule
    }
    switch turn {
    case .run: drain(mayWait: true)
    case .schedule: delivery.run { [self] in runScheduled(mayWait: delivery.isDirect) }
    case .wait: return
    }
  }

  /// What was to run here may have been run meanwhile, by a call of the user's own.
  /// - Parameter mayWait: false: the delivery chose this place, so it must run before this returns.
  private func runScheduled(mayWait: Bool) {
    let mustRun = state.withLock { state in
      state.isScheduled = false
      guard !state.isRunning, !state.waiting.isEmpty else { return false }
      state.isRunning = true
      return true
    }
    if mustRun { drain(mayWait: mayWait) }
  }

  private func drain(mayWait: Bool) {
    trampoline.run(mayWait: mayWait) { [self] in
      while let callback = takeNext() { callback() }
    }
  }

  private func takeNext() -> (@Sendable () -> Void)? {
    state.withLock { state in
      if state.waiting.isEmpty {
        state.isRunning = false
        return nil
      }
      return state.waiting.removeFirst()
    }
  }
}
