/// Hands events to whoever listens.
final class EventHub: Sendable {
  private struct State: Sendable {
    var listeners: [UInt64: AsyncStream<ObjectEvent>.Continuation] = [:]
    var last: UInt64 = 0
    var hasFinished = false
  }

  private let state = Lock(State())

  func stream(bufferingNewest count: Int) -> AsyncStream<ObjectEvent> {
    let (stream, continuation) = AsyncStream<ObjectEvent>.makeStream(bufferingPolicy: .bufferingNewest(max(1, count)))
    let number = state.withLock { state -> UInt64? in
      guard !state.hasFinished else { return nil }
      state.last += 1
      state.listeners[state.last] = continuation
      return state.last
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  func send(_ event: ObjectEvent) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
  }

  func finish() {
    let old = state.withLock { state in
      let old = state.listeners
      state.listeners = [:]
      state.hasFinished = true
      return old
    }
    for listener in old.values { listener.finish() }
  }

  private func remove(_ number: UInt64) {
    let old = state.withLock { $0.listeners.removeValue(forKey: number) }
    withExtendedLifetime(old) {}
  }
}
