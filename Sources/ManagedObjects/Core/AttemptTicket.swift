/// Stands for an attempt before there is one, so that it can be called off at any time.
final class AttemptTicket: Sendable {
  private struct State: Sendable {
    var isCancelled = false
    var attempt: LoadAttempt?
  }

  private let state = Lock(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// False: it was called off.
  func admit(_ attempt: LoadAttempt) -> Bool {
    state.withLock { state in
      if !state.isCancelled { state.attempt = attempt }
      return !state.isCancelled
    }
  }

  /// The attempt has ended by itself; it, too, knows this ticket.
  func letGo() {
    let attempt = state.withLock { $0.attempt.take() }
    withExtendedLifetime(attempt) {}
  }

  func cancel() {
    let attempt = state.withLock { state in
      state.isCancelled = true
      return state.attempt.take()
    }
    attempt?.cancel()
  }
}
