public import FoundationEssentials

/// Takes what a loader brings: any number of interim heads, one final head, wire bytes, one end.
///
/// Anything else, and any call while another is running, ends the load as a failure. It checks the promised length,
/// undoes gzip and deflate where the manager asked for them, and keeps the body in memory or in an unfinished entry.
/// Lets go of the manager's side at its end, so a loader that keeps old sinks leaks nothing.
///
/// Whoever calls takes the intake out of the lock, works on it, and puts it back: no lock is held while bytes are
/// inflated or written.
public final class LoadSink: Sendable {
  /// What the manager's side hears of, on the loader's thread (the end also on the I/O pool).
  struct Listener: Sendable {
    var interim: @Sendable (LoadHead) -> Void = { _ in }
    var head: @Sendable (LoadHead) -> Void = { _ in }
    var progress: @Sendable (LoadProgress) -> Void = { _ in }
    var end: @Sendable (LoadOutcome) -> Void
    var measured: @Sendable (LoadTimings) -> Void = { _ in }
  }

  private struct State: ~Copyable, Sendable {
    var intake: BodyIntake?
    var listener: Listener?
    var isBusy = false
  }

  private let state: Lock<State>

  init(_ plan: IntakePlan, _ listener: Listener) {
    state = Lock(State(intake: BodyIntake(plan), listener: listener))
  }

  /// A sink for the test of a loader: takes what it brings as the manager would, and tells how the load ended.
  package convenience init(
    testing request: LoadRequest, end: @escaping @Sendable (Result<(LoadHead, Data), ObjectError>) -> Void
  ) {
    var plan = IntakePlan()
    plan.method = request.method
    plan.limitBytes = request.limitBytes
    self.init(
      plan,
      Listener { outcome in
        switch outcome {
        case .body(let head, .memory(let data)), .status(let head, start: let data): end(.success((head, data)))
        case .body(let head, .pending), .notModified(let head): end(.success((head, Data())))
        case .failure(let error): end(.failure(error))
        }
      })
  }

  /// False once nobody wants the load; what is given afterwards is dropped.
  public var isWanted: Bool { state.withLock { $0.listener != nil } }

  /// True: as much is waiting to be written as may; hold back until `whenNotFull` calls.
  public var isFull: Bool { queue?.isFull ?? false }

  /// Calls once, on any thread, as soon as more bytes are welcome; at once if they are now.
  public func whenNotFull(_ call: @escaping @Sendable () -> Void) {
    if let queue { queue.whenNotFull(call) } else { call() }
  }

  /// A 1xx response, before the final one.
  public func interim(_ head: LoadHead) {
    let listener = use { intake throws(ObjectError) in
      guard intake.head == nil, (100..<200).contains(head.status) else {
        throw ObjectError(.transport, "The loader broke its contract: an interim head of status \(head.status).")
      }
    }
    listener?.interim(head)
  }

  /// The final response's head.
  public func head(_ head: LoadHead) {
    let listener = use { intake throws(ObjectError) in try intake.take(head) }
    listener?.head(head)
  }

  /// Bytes as they came over the wire.
  public func append(_ data: Data) { append(data.bytes) }

  /// Bytes as they came over the wire.
  public func append(_ bytes: RawSpan) {
    var progress = LoadProgress(receivedBytes: 0, expectedBytes: nil)
    let listener = use { intake throws(ObjectError) in
      try intake.take(bytes)
      progress = intake.progress
    }
    listener?.progress(progress)
  }

  /// What the load took; right before `finish`.
  func measured(_ timings: LoadTimings) { state.withLock { $0.listener }?.measured(timings) }

  /// The body is complete, as far as the loader can tell.
  public func finish() {
    use { intake throws(ObjectError) in try intake.finish { [self] outcome in end(outcome) } }
  }

  public func fail(_ error: ObjectError) { end(.failure(error)) }

  /// Nobody wants the load any more: no listener is called from now on.
  func abandon() { _ = letGo() }

  // MARK: The intake

  private var queue: AppendQueue? { state.withLock { $0.intake?.queue } }

  /// Gives the intake to `work`, then puts it back. nil: the sink has ended, now or before.
  @discardableResult private func use(
    _ work: (inout BodyIntake) throws(ObjectError) -> Void
  ) -> Listener? {
    var intake: BodyIntake?
    let isBusy = state.withLock { state in
      if state.isBusy { return true }
      state.isBusy = state.intake != nil
      swap(&intake, &state.intake)
      return false
    }
    if isBusy {
      fail(ObjectError(.transport, "The loader broke its contract: two calls at once."))
      return nil
    }
    guard var taken = intake.take() else { return nil }
    do {
      try work(&taken)
    } catch {
      end(.failure(error))
      return nil
    }
    intake = consume taken
    let listener = state.withLock { state in
      state.isBusy = false
      // Ended meanwhile: the intake stays out here and is dropped, with its unfinished entry, outside the lock.
      if state.listener != nil { swap(&intake, &state.intake) }
      return state.listener
    }
    intake?.abort()
    return listener
  }

  private func end(_ outcome: LoadOutcome) { letGo()?.end(outcome) }

  /// The listener, to the first that ends the load.
  private func letGo() -> Listener? {
    var intake: BodyIntake?
    let listener = state.withLock { state in
      let listener = state.listener
      state.listener = nil
      swap(&intake, &state.intake)
      return listener
    }
    intake?.abort()
    return listener
  }
}
