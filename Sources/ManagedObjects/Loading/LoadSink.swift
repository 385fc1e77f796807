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
  private struct State: Sendable {
    var intake: HeldIntake?
    var listener: (any SinkListener)?
    var isBusy = false
  }

  private let state: Lock<State>

  init(_ plan: consuming IntakePlan, _ listener: any SinkListener) {
    state = Lock(State(intake: HeldIntake(BodyIntake(plan)), listener: listener))
  }

  /// A sink for the test of a loader: takes what it brings as the manager would, and tells how the load ended.
  package convenience init(
    testing request: LoadRequest, end: @escaping @Sendable (Result<(LoadHead, Data), ObjectError>) -> Void
  ) {
    var plan = IntakePlan()
    plan.method = request.method
    plan.limitBytes = request.limitBytes
    self.init(plan, EndListener(end))
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
    listener?.interimCame(head)
  }

  /// The answer to an unsafe method sends it on.
  func redirected(by hop: RedirectHop) { state.withLock { $0.listener }?.redirected(by: hop) }

  /// The final response's head.
  public func head(_ head: LoadHead) {
    let listener = use { intake throws(ObjectError) in try intake.take(head) }
    listener?.headCame(head, to: self)
  }

  /// Bytes as they came over the wire.
  public func append(_ data: Data) { append(data.bytes) }

  /// Bytes as they came over the wire.
  public func append(_ bytes: RawSpan) { _ = take(bytes) }

  /// What a sink says to more bytes.
  enum Appetite: Sendable {
    case more
    /// As `isFull`.
    case full
    /// As not `isWanted`.
    case none
  }

  /// Bytes as they came over the wire.
  func take(_ bytes: RawSpan) -> Appetite {
    var progress = LoadProgress(receivedBytes: 0, expectedBytes: nil)
    var isFull = false
    let listener = use { intake throws(ObjectError) in
      try intake.take(bytes)
      progress = intake.progress
      isFull = intake.queue?.isFull ?? false
    }
    guard let listener else { return .none }
    listener.bytesCame(progress)
    return isFull ? .full : .more
  }

  /// The body is complete, as far as the loader can tell.
  public func finish() { finish(nil) }

  /// - Parameter timings: what the load took; nil: the loader does not measure.
  func finish(_ timings: LoadTimings?) {
    var ending: BodyIntake.Ending?
    let listener = use { intake throws(ObjectError) in ending = try intake.finish() }
    guard listener != nil, let ending else { return }
    switch ending {
    case .now(let outcome): end(outcome, timings)
    case .written(let head, let queue):
      queue.finish { [self] result in
        switch result {
        case .success(let body): end(.body(head, body), timings)
        case .failure(let error): end(.failure(error))
        }
      }
    }
  }

  public func fail(_ error: ObjectError) { end(.failure(error)) }

  /// Nobody wants the load any more: no listener is called from now on.
  func abandon() { _ = letGo() }

  // MARK: The intake

  private var queue: AppendQueue? { state.withLock { $0.intake?.intake.queue } }

  /// Gives the intake to `work`, then puts it back. nil: the sink has ended, now or before.
  @discardableResult private func use(
    _ work: (inout BodyIntake) throws(ObjectError) -> Void
  ) -> (any SinkListener)? {
    let (taken, isBusy) = state.withLock { state -> (HeldIntake?, Bool) in
      if state.isBusy { return (nil, true) }
      state.isBusy = state.intake != nil
      return (state.intake.take(), false)
    }
    if isBusy {
      fail(ObjectError(.transport, "The loader broke its contract: two calls at once."))
      return nil
    }
    guard let taken else { return nil }
    do {
      try work(&taken.intake)
    } catch {
      end(.failure(error))
      return nil
    }
    let listener = state.withLock { state in
      state.isBusy = false
      // Ended meanwhile: the intake stays out here and is dropped, with its unfinished entry, outside the lock.
      if state.listener != nil { state.intake = taken }
      return state.listener
    }
    if listener == nil { taken.intake.abort() }
    return listener
  }

  private func end(_ outcome: LoadOutcome, _ timings: LoadTimings? = nil) {
    letGo()?.ended(outcome, timings, from: self)
  }

  /// The listener, to the first that ends the load.
  private func letGo() -> (any SinkListener)? {
    let (listener, intake) = state.withLock { state in
      (state.listener.take(), state.intake.take())
    }
    intake?.intake.abort()
    return listener
  }
}

/// A redirect that was followed: what was asked of whom, the answer, and what is asked next.
struct RedirectHop: Sendable {
  let location: URLRule.Location
  let method: String
  let head: LoadHead
  let next: LoadRequest

  /// nil: its URL cannot be read, so nobody is asked.
  var target: URLRule.Location? { try? URLRule.parse(next.location).get() }
}

/// The manager's side of a load; called on the loader's thread, the end also on the I/O pool.
protocol SinkListener: AnyObject, Sendable {
  func interimCame(_ head: LoadHead)
  func redirected(by hop: RedirectHop)
  func headCame(_ head: LoadHead, to sink: LoadSink)
  func bytesCame(_ progress: LoadProgress)
  /// Once, and last.
  func ended(_ outcome: LoadOutcome, _ timings: LoadTimings?, from sink: LoadSink)
}

/// An intake that can be handed on without moving it.
///
/// Sound although unchecked: it is in the sink's lock, or with the one call that took it out of there.
private final class HeldIntake: @unchecked Sendable {
  var intake: BodyIntake
  init(_ intake: consuming BodyIntake) { self.intake = intake }
}

/// Hears of the end only.
private final class EndListener: SinkListener {
  private let end: @Sendable (Result<(LoadHead, Data), ObjectError>) -> Void

  init(_ end: @escaping @Sendable (Result<(LoadHead, Data), ObjectError>) -> Void) { self.end = end }

  func interimCame(_ head: LoadHead) {}
  func redirected(by hop: RedirectHop) {}
  func headCame(_ head: LoadHead, to sink: LoadSink) {}
  func bytesCame(_ progress: LoadProgress) {}

  func ended(_ outcome: LoadOutcome, _ timings: LoadTimings?, from sink: LoadSink) {
    switch outcome {
    case .body(let head, .memory(let data)): end(.success((head, data)))
    case .status(let head, let body): end(.success((head, body.shown)))
    case .body(let head, .pending), .notModified(let head): end(.success((head, Data())))
    case .failure(let error): end(.failure(error))
    }
  }
}
