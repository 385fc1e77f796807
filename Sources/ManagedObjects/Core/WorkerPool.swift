internal import Dispatch

/// Runs work on a bounded number of threads, first in, first out.
///
/// A thread that hangs can be written off: another takes its place, up to a bound.
///
/// Each thread serves a serial queue, which the system gives one at once. Those of concurrent queues are a few for the
/// whole process, as many as there are cores, and shared with timers, callbacks and tasks: decoders that compute on all of
/// them would stop everything, what ends them included.
final class WorkerPool: Sendable {
  private struct State: Sendable {
    /// nil: taken. What work holds must not be let go in here, since its end may run code of others.
    var waiting: [(@Sendable () -> Void)?] = []
    var head = 0
    var running = 0
    var writtenOff = 0
    /// Those that no thread serves.
    var idleQueues: [DispatchQueue] = []
    var whenIdle: [@Sendable () -> Void] = []

    var next: (@Sendable () -> Void)? {
      mutating get {
        guard head < waiting.count else {
          waiting.removeAll(keepingCapacity: true)
          head = 0
          return nil
        }
        if head > 256, head * 2 > waiting.count {
          waiting.removeFirst(head)
          head = 0
        }
        let next = waiting[head]
        waiting[head] = nil
        head += 1
        return next
      }
    }
  }

  /// More threads than any machine has; keeps sums far from overflow.
  private static let mostThreads = 1 << 20
  private let limit: Int
  private let limitWrittenOff: Int
  private let label: String
  private let state = Lock(State())

  init(_ name: String, limit: Int, limitWrittenOff: Int = 0) {
    self.limit = min(max(1, limit), Self.mostThreads)
    self.limitWrittenOff = min(max(0, limitWrittenOff), Self.mostThreads)
    label = "ManagedObjects.\(name)"
  }

  /// Every thread hangs, and no more may be made.
  var isExhausted: Bool { state.withLock { $0.writtenOff >= limit + limitWrittenOff } }

  func run(_ work: @escaping @Sendable () -> Void) {
    let starts = state.withLock { state in
      state.waiting.append(work)
      return takesThread(&state)
    }
    if starts { startThread() }
  }

  /// Calls when nothing is waiting or running.
  func whenIdle(_ call: @escaping @Sendable () -> Void) {
    let isIdle = state.withLock { state in
      let isIdle = state.running == 0 && state.head == state.waiting.count
      if !isIdle { state.whenIdle.append(call) }
      return isIdle
    }
    if isIdle { call() }
  }

  /// The work that some thread runs will perhaps never end: go on without that thread.
  func writeOffThread() {
    let starts = state.withLock { state in
      state.writtenOff += 1
      return state.head < state.waiting.count && takesThread(&state)
    }
    if starts { startThread() }
  }

  /// What was written off has ended after all.
  func regainThread() { state.withLock { $0.writtenOff -= 1 } }

  private func takesThread(_ state: inout State) -> Bool {
    guard state.running < limit + min(state.writtenOff, limitWrittenOff) else { return false }
    state.running += 1
    return true
  }

  private func startThread() {
    let queue = state.withLock { $0.idleQueues.popLast() } ?? DispatchQueue(label: label)
    queue.async { [self] in
      while let work = takeNext(queue) { work() }
    }
  }

  private func takeNext(_ queue: DispatchQueue) -> (@Sendable () -> Void)? {
    let (next, idle) = state.withLock { state in
      // One too many, since a thread that had been written off came back.
      let isSurplus = state.running > limit + max(0, min(state.writtenOff, limitWrittenOff))
      if !isSurplus, let next = state.next { return (next, []) as ((@Sendable () -> Void)?, [@Sendable () -> Void]) }
      state.running -= 1
      state.idleQueues.append(queue)
      guard state.running == 0, state.head == state.waiting.count else { return (nil, []) }
      defer { state.whenIdle = [] }
      return (nil, state.whenIdle)
    }
    for call in idle { call() }
    return next
  }
}
