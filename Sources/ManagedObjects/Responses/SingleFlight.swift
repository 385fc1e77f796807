/// Makes equal calls that overlap share one piece of work. Knows nothing of what the work is.
///
/// Whoever calls while work under the same key is under way waits for its value. Who is cancelled goes at once; with the
/// last of them the work is cancelled, and the next caller starts anew.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Flight: Sendable {
    let number: UInt64
    var waiting: [UInt64: CheckedContinuation<Value, Never>] = [:]
    var task: Task<Void, Never>?
  }

  private struct State: Sendable {
    var flights: [Key: Flight] = [:]
    var lastNumber: UInt64 = 0

    mutating func makeNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Lock(State())

  /// - Parameter cancelled: what a caller gets whose task is cancelled.
  nonisolated(nonsending) func value(
    for key: Key, cancelled: Value, _ work: @escaping @Sendable () async -> Value
  ) async -> Value {
    let caller = state.withLock { $0.makeNumber() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        join(key, caller, continuation, work)
        // Cancelled before it had joined.
        if Task.isCancelled { leave(key, caller, cancelled) }
      }
    } onCancel: {
      leave(key, caller, cancelled)
    }
  }

  private func join(
    _ key: Key, _ caller: UInt64, _ continuation: CheckedContinuation<Value, Never>,
    _ work: @escaping @Sendable () async -> Value
  ) {
    let begun = state.withLock { state -> UInt64? in
      if state.flights[key] != nil {
        state.flights[key]?.waiting[caller] = continuation
        return nil
      }
      var flight = Flight(number: state.makeNumber())
      flight.waiting[caller] = continuation
      state.flights[key] = flight
      return flight.number
    }
    guard let begun else { return }
    let task = Task { [self] in
      let value = await work()
      finish(key, begun, value)
    }
    let isOver = state.withLock { state in
      guard state.flights[key]?.number == begun else { return true }
      state.flights[key]?.task = task
      return false
    }
    // Over because it has ended, or because everybody left.
    if isOver { task.cancel() }
  }

  private func leave(_ key: Key, _ caller: UInt64, _ value: Value) {
    let (continuation, task) = state.withLock { state in
      let continuation = state.flights[key]?.waiting.removeValue(forKey: caller)
      guard continuation != nil, state.flights[key]?.waiting.isEmpty == true else {
        return (continuation, nil) as (CheckedContinuation<Value, Never>?, Task<Void, Never>?)
      }
      return (continuation, state.flights.removeValue(forKey: key)?.task)
    }
    task?.cancel()
    continuation?.resume(returning: value)
  }

  private func finish(_ key: Key, _ number: UInt64, _ value: Value) {
    let flight = state.withLock { state -> Flight? in
      guard state.flights[key]?.number == number else { return nil }
      return state.flights.removeValue(forKey: key)
    }
    for continuation in flight?.waiting.values ?? [:].values { continuation.resume(returning: value) }
  }
}
