internal import FoundationEssentials

/// The part of the core's state that has to do with transfers.
extension CoreState {
  // MARK: Looking up

  enum LookUp: Sendable {
    case usable(LoadedBody)
    case base(StoredBase)
    /// The server's last word was this error, and it said for how long.
    case failed(ObjectError)
    case nothing(AnswerReason)
  }

  /// Where there is no backend, and nothing in memory to ask the server about, it is known that there is nothing.
  mutating func lookUp(_ record: HandlerRecord, _ now: Moment, _ work: inout Few<Work>) {
    record.load.recallNumber = recalls[record.key.id]
    if settings.hasBackend || record.mayHaveBase {
      work.append(.lookUp(record.id, record.key))
    } else {
      lookedUp(record, .nothing(record.key.mode.reasonToLoad), now, &work)
    }
  }

  mutating func lookedUp(_ id: HandlerID, _ found: LookUp, now: Moment) -> Few<Work> {
    var work = Few<Work>()
    if let record = handlers[id] { lookedUp(record, found, now, &work) }
    return work
  }

  private mutating func lookedUp(
    _ record: HandlerRecord, _ found: LookUp, _ now: Moment, _ work: inout Few<Work>
  ) {
    let key = record.key
    switch found {
    case .usable(let body):
      if let refusal = key.refusal(ofBytes: body.count) { return fail(record, refusal, now, &work) }
      record.load.body = body
      if body.loaded.source == .file { statistics.fileHits += 1 }
      report(.loadFinished(key.id, body.loaded.source, bytes: body.loaded.count, timings: nil), &work)
      advance(record, .foundUsable, now, &work)
    case .base(let base):
      record.load.base = base
      record.load.reason = base.reason
      advance(record, .foundNothing, now, &work)
    case .failed(let error): fail(record, error, now, &work)
    case .nothing(let reason):
      record.load.reason = reason
      guard key.mode != .onlyIfCached else { return fail(record, Self.notCached, now, &work) }
      advance(record, .foundNothing, now, &work)
    }
  }

  private static var notCached: ObjectError {
    ObjectError(.notCached, "Nothing usable is stored, and the mode only-if-cached forbids loading.")
  }

  // MARK: Exchanges

  /// Waits for a transfer slot with all others. nil: closed.
  mutating func enter(
    _ exchange: any SlotTaker, host: String, priority: LoadPriority, now: Moment
  ) -> (id: HandlerID?, work: Few<Work>) {
    guard !isClosed else { return (nil, Few()) }
    let id = makeID()
    var work = Few<Work>()
    exchanges[id] = exchange
    transfers.enqueue(id, host: host, priority: priority, at: now)
    startTransfers(now, &work)
    return (id, work)
  }

  /// Its slot, or its place in the queue, is free again.
  /// - Parameter isCalledOff: nobody wants it; see `RefillRule`.
  mutating func leave(exchange id: HandlerID, isCalledOff: Bool, now: Moment) -> Few<Work> {
    var work = Few<Work>()
    guard let exchange = exchanges.removeValue(forKey: id) else { return work }
    if !transfers.cancel(id) { transfers.finished(id) }
    if isCalledOff { refillSoon(&work) } else { startTransfers(now, &work) }
    work.append(.releaseExchange(exchange))
    return work
  }

  // MARK: Attempts

  mutating func beginLoad(_ record: HandlerRecord, _ now: Moment, _ work: inout Few<Work>) {
    if failures.count > 0, record.key.mode == .standard || record.key.mode == .forceCache,
      let error = failures.recall(record.failureKey, at: now)
    {
      return fail(record, error, now, &work)
    }
    record.load.loadingSince = now
    enqueue(record, now, &work)
  }

  /// Waits for a transfer slot.
  mutating func enqueue(_ record: HandlerRecord, _ now: Moment, _ work: inout Few<Work>) {
    // A loop: of thousands of mirrors none may be a URL.
    while record.state.phase != .finished {
      switch record.currentLocation {
      case .failure(let error): if !mayGoOn(record, after: error, retryAfter: nil, now, nil, { 0 }, &work) { return }
      case .success(let location):
        record.load.queuedAt = now
        let host = hostName(location)
        guard transfers.startOrEnqueue(record.id, host: host, priority: record.state.priority, at: now) else {
          return startTransfers(now, &work)
        }
        return beginAttempt(record, location, now, &work)
      }
    }
  }

  /// Most that follow one another are of one host.
  private mutating func hostName(_ location: URLRule.Location) -> String {
    if let lastHost, lastHost.location.hasOrigin(of: location) { return lastHost.name }
    let name = location.origin.description
    lastHost = (location, name)
    return name
  }

  /// Gives free slots to those whose turn it is.
  mutating func startTransfers(_ now: Moment, _ work: inout Few<Work>) {
    guard !isClosed else { return }
    for id in transfers.startable(at: now) {
      if let exchange = exchanges[id] {
        work.append(.beginExchange(exchange))
      } else if let record = handlers[id], case .success(let location) = record.currentLocation {
        beginAttempt(record, location, now, &work)
      } else {
        transfers.finished(id)
      }
    }
    guard let wake = transfers.nextWake(after: now), wakeAt.map({ wake < $0 || $0 <= now }) ?? true else { return }
    wakeAt = wake
    work.append(.startTransfers(after: wake - now))
  }

  private mutating func beginAttempt(
    _ record: HandlerRecord, _ location: URLRule.Location, _ now: Moment, _ work: inout Few<Work>
  ) {
    let conditions = record.load.isUnconditional ? [:] : record.load.base?.conditions ?? [:]
    var request = LoadRequest(
      read: location, fields: ExchangeRule.sent(record.key.fields, conditions, mode: record.key.mode),
      limitBytes: record.key.limitBytes)
    request.secretFields = settings.policy.secretFields
    let ticket = AttemptTicket()
    record.load.attempt = ticket
    if record.load.attempts > 0 { record.handler.published.withLock { $0.attemptBytes = 0 } }
    record.load.attempts += 1
    record.load.timings = nil
    record.load.queueTime = record.load.queuedAt.map { now - $0 } ?? .zero
    statistics.loads += 1
    report(.loadStarted(record.key.id, location: redacted(location.text), attempt: record.load.attempts), &work)
    work.append(
      .attempt(
        AttemptJob(
          handler: record.id, number: record.load.attempts, key: record.key, request: request,
          isConditional: !conditions.isEmpty, output: record.output, reason: record.load.reason,
          recallNumber: record.load.recallNumber, ticket: ticket, face: record.handler)))
  }

  /// - Parameter shown: what the handler shows now.
  mutating func progressed(_ id: HandlerID, number: Int, _ shown: LoadProgress) -> Few<Work> {
    guard let record = handlers[id], record.load.attempts == number, record.load.attempt != nil, record.watchers > 0
    else { return Few() }
    return Few(.progress(record.seats.map(\.value).filter(\.wantsProgress), shown))
  }

  /// How an attempt ended.
  struct AttemptEnd: Sendable {
    var outcome: LoadOutcome
    /// The body, where nothing is left to do before it can be decoded.
    var usable: LoadedBody?
    let times: LoadTimes
    var timings: LoadTimings?
  }

  /// - Parameter random: in 0..<1.
  mutating func attemptEnded(
    _ id: HandlerID, number: Int, _ end: AttemptEnd, now: Moment, random: () -> Double
  ) -> Few<Work> {
    var work = Few<Work>()
    guard let record = handlers[id], record.load.attempts == number, record.load.attempt != nil else { return work }
    transfers.finished(id)
    record.load.attempt = nil
    record.load.times = end.times
    record.load.timings = end.timings
    record.load.timings?.queue = record.load.queueTime
    let wallNow = end.times.response
    switch end.outcome {
    case .body(let head, let body):
      record.load.usable = end.usable
      if end.usable == nil { record.load.received = .body(head, body) }
      received(record, now, &work)
    case .notModified(let head):
      statistics.revalidations += 1
      record.load.received = .notModified(head)
      received(record, now, &work)
    case .status(let head, let body):
      let error = ObjectError(.httpStatus, Self.message(head), head: head, bodyStart: body.shown)
      attemptFailed(record, error, retryAfter: retryAfter(head, wallNow), now, wallNow, random, &work)
    case .failure(let error):
      // Also where the page that explains it was cut, or too long.
      attemptFailed(
        record, error, retryAfter: error.head.flatMap { retryAfter($0, wallNow) }, now, wallNow, random, &work)
    }
    startTransfers(now, &work)
    return work
  }

  private func retryAfter(_ head: LoadHead, _ now: WallTime) -> Duration? {
    [429, 503].contains(head.status) ? RetryAfterRule.delay(head.fields["Retry-After"], now: now) : nil
  }

  static func message(_ head: LoadHead) -> String {
    "The server answered with status \(head.status)\(head.reason.isEmpty ? "" : " (\(head.reason))")."
  }

  private mutating func received(
    _ record: HandlerRecord, _ now: Moment, _ work: inout Few<Work>
  ) {
    if failures.count > 0 { failures.forget(record.failureKey) }
    advance(record, .received, now, &work)
  }

  private mutating func attemptFailed(
    _ record: HandlerRecord, _ error: ObjectError, retryAfter: Duration?, _ now: Moment,
    _ wallNow: WallTime, _ random: () -> Double, _ work: inout Few<Work>
  ) {
    if mayGoOn(record, after: error, retryAfter: retryAfter, now, wallNow, random, &work) {
      enqueue(record, now, &work)
    }
  }

  private mutating func fallsBack(
    _ record: HandlerRecord, after error: ObjectError, _ now: Moment, _ wallNow: WallTime?,
    _ work: inout Few<Work>
  ) -> Bool {
    guard let wallNow, let base = record.load.base, let occasion = StaleRule.Occasion(error),
      !isRecalled(record),
      StaleRule.mayBridge(base.facts, occasion, mode: record.key.mode, freshness: record.key.freshness, now: wallNow)
    else { return false }
    let kept: Loaded.Body = base.lease.map { .lease($0) } ?? .memory(Data())
    let body = LoadedBody(
      loaded: Loaded(id: record.key.id, head: base.facts.head, source: .stale, body: kept), facts: base.facts,
      mayKeep: true, hasBytes: base.lease != nil, lostCount: base.count, reason: .staleError,
      recallCount: base.recallCount)
    if let refusal = record.key.refusal(ofBytes: body.count) {
      fail(record, refusal, now, &work)
      return true
    }
    record.load.body = body
    record.load.timings = nil
    report(.loadFinished(record.key.id, .stale, bytes: body.count, timings: nil), &work)
    advance(record, .fellBack, now, &work)
    return true
  }

  /// True: try the next location now. Else it is tried later, the load has failed, or a permitted stale answer is given:
  /// that comes before any retry, but after the last mirror.
  /// - Parameter wallNow: nil: it is not asked for.
  private mutating func mayGoOn(
    _ record: HandlerRecord, after error: ObjectError, retryAfter: Duration?, _ now: Moment, _ wallNow: WallTime?,
    _ random: () -> Double, _ work: inout Few<Work>
  ) -> Bool {
    if let retryAfter, retryAfter <= settings.policy.limitRetryAfter,
      case .success(let location) = record.currentLocation
    {
      // Whoever answered wants to be left alone, not who led there.
      let host = record.load.timings?.redirectedOrigin ?? location.origin.description
      transfers.hold(host: host, until: now + retryAfter)
    }
    // The bytes of an error page are none of the object's.
    let attemptBytes = record.handler.published.withLock { $0.attemptBytes }
    let hasNewBytes = error.code != .httpStatus && attemptBytes > record.load.mostBytes
    if hasNewBytes { record.load.mostBytes = attemptBytes }
    var retry = record.load.retry ?? retryRule(record, now)
    retry.know(locations: record.locations.count)
    defer { record.load.retry = retry }
    switch retry.next(
      after: error, receivedNewBytes: hasNewBytes, retryAfter: retryAfter, now: now, random: random())
    {
    case .again(let location, let delay):
      let isNextMirror = delay <= .zero && location > record.load.location
      if !isNextMirror, fallsBack(record, after: error, now, wallNow, &work) { return false }
      statistics.retries += 1
      record.load.location = location
      report(.loadRetried(record.key.id, error, delay: delay), &work)
      if delay > .zero { work.append(.retry(record.id, attempts: record.load.attempts, after: delay)) }
      return delay <= .zero
    case .giveUp(let final):
      if fallsBack(record, after: error, now, wallNow, &work) { return false }
      if !isRecalled(record) { failures.remember(final, for: record.failureKey, at: now) }
      fail(record, final, now, &work)
      return false
    }
  }

  private func retryRule(_ record: HandlerRecord, _ now: Moment) -> RetryRule {
    RetryRule(
      policy: settings.policy.retry, limitRetryAfter: settings.policy.limitRetryAfter,
      locations: record.locations.count, startedAt: record.load.loadingSince ?? now)
  }

  mutating func fail(
    _ record: HandlerRecord, _ error: ObjectError, _ now: Moment, _ work: inout Few<Work>
  ) {
    statistics.failures += 1
    report(.failed(record.key.id, error), &work)
    advance(record, .failed(error), now, &work)
  }

  /// A wait is over.
  mutating func retryDue(_ id: HandlerID, attempts: Int, now: Moment) -> Few<Work> {
    var work = Few<Work>()
    guard let record = handlers[id], record.load.attempts == attempts, record.load.attempt == nil,
      record.state.phase == .loading
    else { return work }
    enqueue(record, now, &work)
    return work
  }

  mutating func hostsDue(now: Moment) -> Few<Work> {
    var work = Few<Work>()
    wakeAt = nil
    startTransfers(now, &work)
    return work
  }

  mutating func stopLoad(_ record: HandlerRecord, _ now: Moment, _ work: inout Few<Work>) {
    if let attempt = record.load.attempt.take() { work.append(.cancelAttempt(attempt)) }
    if !transfers.cancel(record.id) { transfers.finished(record.id) }
    refillSoon(&work)
  }

  /// Somebody has left; see `RefillRule`.
  mutating func refillSoon(_ work: inout Few<Work>) {
    guard !isClosed, transfers.waiting > 0 || live.waitingCount > 0 else { return }
    if refills.left() { work.append(.refill(after: .zero)) }
  }

  /// Places and slots that came free are given to whoever still waits, unless more have left meanwhile.
  mutating func refill(now: Moment) -> Few<Work> {
    if case .lookAgain(let delay) = refills.look() { return Few(.refill(after: delay)) }
    var work = Few<Work>()
    admitWaiting(now, &work)
    startTransfers(now, &work)
    return work
  }
}
