/// Everything but the front door. Loads keep it alive, never the manager: so the manager's `deinit` can end what runs.
///
/// `step` is the spine: lock, ask the state, unlock, perform. It alone takes the core's lock and it alone performs; no
/// room calls the next room.
final class Core: Sendable {
  let loaders: [any Loader]
  let backend: (any CacheBackend)?
  let interceptors: [any Interceptor]
  let policy: Policy
  let time: any TimeSource
  let memory: MemoryCache
  let users = UserRegistry()
  let events = EventHub()
  let numbers = UniqueNumbers()
  let filePool: WorkerPool
  let decodePool: WorkerPool
  let scopes: ScopeRule
  let cacheHealth = Lock(CacheHealth())
  /// For digests that need not be found again by another process.
  let processSecret = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
  let decodeWatch = Lock(DecodeWatch())
  let variantDesk = VariantDesk()
  let backendSecret = Lock<[UInt8]?>(nil)
  /// Apart from the state: a hit waits for nobody who coordinates loads.
  let hits = Lock(MemoryHits())
  /// Equal requests for the HTTP answer share one load.
  let flights = SingleFlight<ExchangeKey, Result<LoadResponse, ObjectError>>()
  private let state: Lock<CoreState>
  private let lastSeat = Lock<UInt64>(0)
  private let beginnings = Trampoline()
  private let endings = HeldEndings()
  /// The loader of all that is HTTP, where nothing else has a say in it.
  private let curl: CurlLoader?

  init(
    loaders: [any Loader], backend: (any CacheBackend)?, interceptors: [any Interceptor], policy: Policy,
    time: any TimeSource
  ) {
    self.loaders = loaders
    self.backend = backend
    self.interceptors = interceptors
    curl = interceptors.isEmpty ? loaders.first as? CurlLoader : nil
    self.policy = policy
    self.time = time
    scopes = ScopeRule(secretFields: policy.secretFields)
    memory = MemoryCache(limitCost: policy.limitMemoryCost ?? MemoryLimit.standard(), eviction: policy.memoryEviction)
    filePool = WorkerPool("files", limit: policy.limitFileThreads)
    decodePool = WorkerPool(
      "decode", limit: policy.limitDecoders ?? Machine.cores, limitWrittenOff: policy.limitReplacedThreads)
    state = Lock(
      CoreState(
        CoreState.Settings(
          policy: policy,
          limitTransfers: max(1, min(policy.limitTransfers, Machine.limitDescriptors / 4)), hasBackend: backend != nil))
    )
  }

  /// One step of the state, and what follows from it.
  func stepForResult<Result: Sendable>(_ decide: (inout CoreState) -> (Result, Few<Work>)) -> Result {
    let (result, work) = state.withLock { decide(&$0) }
    perform(work)
    return result
  }

  func step(_ decide: (inout CoreState) -> Few<Work>) {
    perform(state.withLock { decide(&$0) })
  }

  /// A look without a change.
  func read<Result: Sendable>(_ look: (CoreState) -> Result) -> Result { state.withLock { look($0) } }

  func makeSeatID() -> SeatID {
    lastSeat.withLock { last in
      last += 1
      return SeatID(number: last)
    }
  }

  private func perform(_ work: Few<Work>) {
    work.each { if $0.goesFirst { perform($0) } }
    work.each { if !$0.goesFirst { perform($0) } }
  }

  private func perform(_ work: Work) {
    switch work {
    // What ends at once lets the next begin: one after the other, not ever deeper into the stack.
    case .lookUp(let handler, let key): beginnings.run { [self] in lookUp(handler, key) }
    case .attempt(let job): begin(job)
    case .cancelAttempt(let attempt): attempt.cancel()
    case .beginExchange(let exchange): beginnings.run { exchange.begin() }
    case .closeExchange(let exchange): exchange.close()
    case .releaseExchange(let exchange): withExtendedLifetime(exchange) {}
    case .store(let job): store(job)
    case .decode(let job): decode(job)
    case .end(let seat, let ending): tell(seat, ending)
    case .endStale(let seat, let ending, let refresh): end(seat, ending, awaiting: refresh, from: .library)
    case .progress(let seats, let progress): for seat in seats { seat.progressed(progress) }
    case .retry(let handler, let attempts, let delay):
      later(delay) { core in core.step { $0.retryDue(handler, attempts: attempts, now: core.time.now) } }
    case .startTransfers(let delay): later(delay) { core in core.step { $0.hostsDue(now: core.time.now) } }
    case .refill(after: .zero): onLoaderThread { [self] in step { $0.refill(now: self.time.now) } }
    case .refill(let delay): later(delay) { core in core.step { $0.refill(now: core.time.now) } }
    case .sweep(let delay): later(delay) { core in core.sweep() }
    case .cancelTimer(let timer): timer.cancel()
    case .release(let record): withExtendedLifetime(record) {}
    case .report(let event): events.send(event)
    case .call(let calls): for call in calls { call() }
    }
  }

  private func tell(_ seat: any Seat, _ ending: SeatEnding) {
    guard let curl, curl.isOwnThread else { return seat.end(ending, from: .library) }
    switch endings.add(seat, ending) {
    case .wait: break
    case .makeDue: curl.onOwnThread { [self] in tellHeld(isDue: true) }
    case .tell: tellHeld(isDue: false)
    }
  }

  private func tellHeld(isDue: Bool) {
    for (seat, ending) in endings.take(isDue: isDue) { seat.end(ending, from: .library) }
  }

  /// A timer does not keep the core.
  @discardableResult
  func later(_ delay: Duration, _ work: @escaping @Sendable (Core) -> Void) -> ScheduledWork {
    time.schedule(after: delay) { [weak self] in if let self { work(self) } }
  }

  /// Users that died count as having left; decoders that hang are given up.
  func sweep() {
    giveUpDecodes()
    let isDecoding = decodeWatch.withLock { !$0.isEmpty }
    let seats = stepForResult { $0.beginSweep(mustGoOn: isDecoding) }
    for seat in seats where !seat.isAlive { leave(seat.id, .left) }
  }

  func leave(_ seat: SeatID, _ reason: CancelReason) {
    step { $0.leave(seat, reason, now: self.time.now) }
  }

  /// Ends all that runs; joins no thread.
  func shutdown() {
    hits.withLock { $0.isClosed = true }
    step { $0.close(now: self.time.now) }
    events.finish()
  }

  // MARK: Attempts

  /// Where the bytes will come is where all that goes with them is made, and dropped again. Other loaders, and
  /// interceptors, may do what they like: they begin here.
  private func begin(_ job: AttemptJob) {
    if job.request.isHTTP {
      onLoaderThread { [self] in attempt(job) }
    } else {
      beginnings.run { [self] in attempt(job) }
    }
  }

  var hasLoaderThread: Bool { curl != nil }

  func onLoaderThread(_ work: @escaping @Sendable () -> Void) {
    if let curl { curl.onOwnThread(work) } else { beginnings.run(work) }
  }

  private func attempt(_ job: AttemptJob) {
    guard !job.ticket.isCancelled else { return }
    let begun = time.wallNow
    let attempt = LoadAttempt(
      loaders: loaders, interceptors: interceptors, plan: intakePlan(job), number: job.number,
      LoadAttempt.Listener(
        progress: { [self] progress in
          guard let shown = job.face.note(progress) else { return }
          step { $0.progressed(job.handler, number: job.number, shown) }
        },
        end: { [self] outcome, timings in
          ended(job, outcome, LoadTimes(request: begun, response: time.wallNow), timings)
        }))
    if job.ticket.admit(attempt) { attempt.start(job.request) }
  }

  private func ended(_ job: AttemptJob, _ outcome: LoadOutcome, _ times: LoadTimes, _ timings: LoadTimings?) {
    job.ticket.letGo()
    if case .status(let head, let body) = outcome, body.isWhole, isOnlyPlace(of: job) {
      storeFailure(head, body.bytes, job, times)
    }
    var end = CoreState.AttemptEnd(outcome: outcome, times: times, timings: timings)
    do throws(ObjectError) { end.usable = try usable(outcome, job, times) } catch { end.outcome = .failure(error) }
    step {
      $0.attemptEnded(job.handler, number: job.number, end, now: self.time.now) { Double.random(in: 0..<1) }
    }
  }

  /// The error of one mirror is not the object's.
  private func isOnlyPlace(of job: AttemptJob) -> Bool { read { $0.handlers[job.handler]?.locations.count == 1 } }

  private func intakePlan(_ job: AttemptJob) -> IntakePlan {
    var plan = intakePlan(job.key, job.request)
    plan.isConditional = job.isConditional
    plan.open = { [self] head in open(job, head) }
    // Nobody but the file is to have it.
    if backend == nil, job.output != nil { plan.limits.inMemoryBytes = 0 }
    return plan
  }

  /// What every load is checked against, and where its bytes go.
  func intakePlan(_ key: HandlerKey, _ request: LoadRequest) -> IntakePlan {
    var plan = IntakePlan()
    plan.method = request.method
    plan.undoesCoding = !key.fields.contains("Accept-Encoding")
    plan.limitBytes = request.limitBytes
    plan.limits = BodyStore.Limits(
      inMemoryBytes: max(0, policy.limitBodyInMemoryBytes), memoryOnlyBytes: policy.limitMemoryOnlyBodyBytes)
    plan.onFault = { [self] error in cacheFailed(key.id, error) }
    if let backend, !backend.appendsQuickly { plan.pool = { [filePool] work in filePool.run(work) } }
    return plan
  }

  // MARK: What the cache is good for

  func cacheFailed(_ id: ObjectID?, _ error: ObjectError) {
    if cacheHealth.withLock({ $0.failed(error) }) { events.send(.cacheFailed(id, error)) }
  }

  func cacheWorked() { cacheHealth.withLock { $0.worked() } }
}

/// Requests that were answered from memory.
struct MemoryHits: Sendable {
  var count = 0
  /// There are no more.
  var isClosed = false
}

/// Whether the cache works, so that one fault is reported once and not for every object.
struct CacheHealth: Sendable {
  /// Messages of a backend may name entries: of so many different ones the next is no news.
  static let limitReported = 16
  private var reported: Set<String> = []

  /// True: tell.
  mutating func failed(_ error: ObjectError) -> Bool {
    guard reported.count < Self.limitReported else { return false }
    return reported.insert("\(error.code) \(error.message)").inserted
  }

  mutating func worked() { reported = [] }
}
