/// The callbacks of one user: in order, and never two at once, whichever threads they come from.
final class CallbackQueue: Sendable {
  private struct State: Sendable {
    var waiting: [@Sendable () -> Void] = []
    var isRunning = false
  }

  private let state = Lock(State())
  private let trampoline: Trampoline

  init(_ trampoline: Trampoline) { self.trampoline = trampoline }

  /// - Parameter here: run on this thread, before returning, unless a callback of the user is running already.
  func post(_ delivery: Delivery, here: Bool, _ callback: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      state.waiting.append(callback)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isFirst else { return }
    if here {
      drain()
    } else {
      delivery.run { [self] in drain() }
    }
  }

  private func drain() {
    trampoline.run { [self] in
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
