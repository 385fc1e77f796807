internal import ManagedObjects

/// Something a test waits for did not happen in time.
package struct TimedOut: Error, CustomStringConvertible {
  package let description: String

  package init(_ what: String, seconds: Double) { description = "Waited \(seconds) s in vain for \(what)." }
}

/// A value behind a lock that others can wait on: what every wait in the tests is made of, so that none of them sleeps.
///
/// A waiter's condition is asked under the lock, after each change; whoever waits is woken outside it.
package final class Watched<Value: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let id: Int
    let isMet: @Sendable (Value) -> Bool
    let wake: @Sendable (Result<Value, any Error>) -> Void
  }

  private struct State: Sendable {
    var value: Value
    var waiters: [Waiter] = []
    var lastID = 0
  }

  private let state: Lock<State>

  package init(_ value: Value) { state = Lock(State(value: value)) }

  package var value: Value { state.withLock { $0.value } }

  /// Changes the value and wakes those whose condition is now met.
  @discardableResult
  package func update<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
    let (result, value, woken) = state.withLock { state in
      let result = change(&state.value)
      guard !state.waiters.isEmpty else { return (result, Value?.none, [Waiter]()) }
      let value = state.value
      let woken = state.waiters.filter { $0.isMet(value) }
      state.waiters.removeAll { waiter in woken.contains { $0.id == waiter.id } }
      return (result, value, woken)
    }
    if let value { for waiter in woken { waiter.wake(.success(value)) } }
    return result
  }

  /// Returns the first value that meets the condition; throws `TimedOut`, or `CancellationError` when the task is.
  @discardableResult
  package func wait(
    for what: String, seconds: Double = 10, until isMet: @escaping @Sendable (Value) -> Bool
  ) async throws -> Value {
    let id = newID()
    let timer = SystemTime().schedule(after: .seconds(seconds)) { [weak self] in
      self?.give(up: id, TimedOut(what, seconds: seconds))
    }
    defer { timer.cancel() }
    let value = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enlist(Waiter(id: id, isMet: isMet) { continuation.resume(with: $0) })
        if Task.isCancelled { give(up: id, CancellationError()) }
      }
    } onCancel: {
      give(up: id, CancellationError())
    }
    // A continuation that is resumed before it is awaited orders memory in a way that the thread sanitizer does not see;
    // this lock, which whoever made the value held after that, is what it sees.
    state.withLock { _ in }
    return value
  }

  /// The same for code that is not async; blocks the thread.
  @discardableResult
  package func wait(
    for what: String, seconds: Double = 10, until isMet: @escaping @Sendable (Value) -> Bool
  ) throws -> Value {
    let id = newID()
    let outcome = Lock<Result<Value, any Error>?>(nil)
    let signal = try Signal()
    enlist(
      Waiter(id: id, isMet: isMet) { result in
        outcome.withLock { $0 = result }
        signal.raise()
      })
    if !signal.wait(seconds: seconds) {
      give(up: id, TimedOut(what, seconds: seconds))
      _ = signal.wait(seconds: .infinity)
    }
    guard let result = outcome.withLock({ $0 }) else { throw TimedOut(what, seconds: seconds) }
    return try result.get()
  }

  private func newID() -> Int {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  /// Waits from now on, unless there is nothing to wait for.
  private func enlist(_ waiter: Waiter) {
    let met = state.withLock { state -> Value? in
      if waiter.isMet(state.value) { return state.value }
      state.waiters.append(waiter)
      return nil
    }
    if let met { waiter.wake(.success(met)) }
  }

  /// Wakes this one with an error, if it still waits: each waiter is woken once, by whoever takes it off the list.
  private func give(up id: Int, _ error: any Error) {
    let waiter = state.withLock { state -> Waiter? in
      guard let at = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
      return state.waiters.remove(at: at)
    }
    waiter?.wake(.failure(error))
  }
}
