internal import FoundationEssentials

/// Waits for a transfer slot, and is told when it has one.
protocol SlotTaker: AnyObject, Sendable {
  func begin()
  /// The manager shuts down; no slot comes.
  func close()
}

/// What requests for the HTTP answer must have in common to share one load.
struct ExchangeKey: Hashable, Sendable {
  let key: HandlerKey
  let method: String
  let location: String
  let redirects: RedirectMode
  /// `CoreState.recalls` of its id: who asks after it was made stale does not share what was asked before.
  let recallNumber: UInt64
}

/// One HTTP exchange for the response face: waits for its slot, loads once, ends once. Never tries again by itself.
final class Exchange: SlotTaker {
  struct Result: Sendable {
    var outcome: LoadOutcome
    var interim: [LoadHead] = []
    /// Redirects of an unsafe method.
    var hops: [RedirectHop] = []
    var times: LoadTimes
  }

  private struct State: Sendable {
    var id: HandlerID?
    var attempt: LoadAttempt?
    var interim: [LoadHead] = []
    var hops: [RedirectHop] = []
    var requestTime: WallTime?
    var isOver = false
    var continuation: CheckedContinuation<Result, Never>?
  }

  private let core: Core
  private let request: LoadRequest
  private let plan: IntakePlan
  private let state = Lock(State())

  init(_ core: Core, _ request: LoadRequest, _ plan: IntakePlan) {
    self.core = core
    var request = request
    request.secretFields.formUnion(core.policy.secretFields)
    self.request = request
    self.plan = plan
  }

  /// To be called once. A cancelled task ends it with `.left`.
  nonisolated(nonsending) func result(host: String) async -> Result {
    let deadline = Lock<ScheduledWork?>(nil)
    defer { deadline.withLock { $0 }?.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { $0.continuation = continuation }
        enter(host)
        deadline.withLock { $0 = self.deadline() }
        if Task.isCancelled { cancel(.left) }
      }
    } onCancel: {
      cancel(.left)
    }
  }

  /// Set once there is somebody to be told.
  private func deadline() -> ScheduledWork? {
    core.policy.timeout.map { timeout in
      core.later(timeout) { [self] _ in stop(ObjectError(timeout: timeout)) }
    }
  }

  private func enter(_ host: String) {
    let id = core.stepForResult { $0.enter(self, host: host, priority: .normal, now: core.time.now) }
    guard let id else { return close() }
    let isOver = state.withLock { state in
      state.id = id
      return state.isOver
    }
    // It may have ended before it knew its number.
    if isOver { core.step { $0.leave(exchange: id, isCalledOff: true, now: core.time.now) } }
  }

  func close() { cancel(.closed) }

  func begin() {
    let attempt = LoadAttempt(
      loaders: core.loaders, interceptors: core.interceptors, plan: plan, number: 1,
      LoadAttempt.Listener(
        interim: { [self] head in state.withLock { $0.interim.append(head) } },
        redirected: { [self] hop in state.withLock { $0.hops.append(hop) } }, progress: { _ in },
        end: { [self] outcome, _ in end(outcome) }))
    let isWanted = state.withLock { state in
      if state.isOver { return false }
      state.attempt = attempt
      state.requestTime = core.time.wallNow
      return true
    }
    if isWanted { attempt.start(request) }
  }

  private func cancel(_ reason: CancelReason) { stop(ObjectError(reason)) }

  private func stop(_ error: ObjectError) { end(.failure(error), isCalledOff: true)?.cancel() }

  /// Returns the attempt, if this was the end: it may have begun just now.
  @discardableResult private func end(_ outcome: LoadOutcome, isCalledOff: Bool = false) -> LoadAttempt? {
    let now = core.time.wallNow
    let old = state.withLock { state in
      let old = state
      state = State(id: old.id, isOver: old.isOver || old.continuation != nil)
      return old
    }
    guard !old.isOver, let continuation = old.continuation else { return old.attempt }
    if let id = old.id { core.step { $0.leave(exchange: id, isCalledOff: isCalledOff, now: core.time.now) } }
    continuation.resume(
      returning: Result(
        outcome: outcome, interim: old.interim, hops: old.hops,
        times: LoadTimes(request: old.requestTime ?? now, response: now)))
    return old.attempt
  }
}
