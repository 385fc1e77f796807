internal import ManagedObjects

/// Holds replies back until a test opens it. Once open, it stays open.
package final class Gate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var calls: [@Sendable () -> Void] = []
  }

  private let state = Lock(State())

  package init() {}

  package var isOpen: Bool { state.withLock { $0.isOpen } }

  package func open() {
    let calls = state.withLock { state in
      let calls = state.calls
      state = State(isOpen: true)
      return calls
    }
    for call in calls { call() }
  }

  /// Calls once it is open, at once if it is.
  func whenOpen(_ call: @escaping @Sendable () -> Void) {
    let isOpen = state.withLock { state in
      if !state.isOpen { state.calls.append(call) }
      return state.isOpen
    }
    if isOpen { call() }
  }
}
