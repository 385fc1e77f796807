/// The callbacks of one user: in order, and never two at once, whichever threads they come from.
final class CallbackQueue: Sendable {
  /// Wrapped, since a function by itself is wrapped anew each time it is put into an optional or an array.
  private struct Callback: Sendable {
    let run: @Sendable () -> Void
  }

  private struct State: Sendable {
    /// The first that waits: seldom there is another.
    private var first: Callback?
    private var others: [Callback] = []
    /// A thread runs what waits, or will as soon as the callback it is inside of has returned.
    var isRunning = false
    /// The user's delivery was asked for a thread and has given none yet.
    var isScheduled = false

    var isEmpty: Bool { first == nil }

    mutating func append(_ callback: Callback) {
      if first == nil { first = callback } else { others.append(callback) }
    }

    mutating func takeFirst() -> Callback? {
      let next = first
      first = others.isEmpty ? nil : others.removeFirst()
      return next
    }
  }

  private enum Turn: Sendable { case run, schedule, wait }

  private let state: Lock<State>
  private let trampoline: Trampoline

  /// - Parameter isRunning: whoever makes it is about to run a callback, and calls `runWaiting` when that has returned.
  init(_ trampoline: Trampoline, isRunning: Bool = false) {
    self.trampoline = trampoline
    var state = State()
    state.isRunning = isRunning
    self.state = Lock(state)
  }

  /// - Parameter here: run on this thread, before returning, unless a callback of the user is running already.
  func post(_ delivery: Delivery, here: Bool, _ callback: @escaping @Sendable () -> Void) {
    let turn = state.withLock { state -> Turn in
      state.append(Callback(run: callback))
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
      guard !state.isRunning, !state.isEmpty else { return false }
      state.isRunning = true
      return true
    }
    if mustRun { drain(mayWait: mayWait) }
  }

  private func drain(mayWait: Bool) {
    trampoline.run(mayWait: mayWait) { [self] in runWaiting() }
  }

  /// After a callback has returned: those that were posted meanwhile.
  func runWaiting() {
    while let callback = takeNext() { callback.run() }
  }

  private func takeNext() -> Callback? {
    state.withLock { state in
      let next = state.takeFirst()
      if next == nil { state.isRunning = false }
      return next
    }
  }
}
