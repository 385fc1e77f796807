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
  mutating func lookUp(_ id: HandlerID, _ now: ContinuousClock.Instant, _ work: inout [Work]) {
    guard let record = handlers[id] else { return }
    if settings.hasBackend || record.mayHaveBase {
      work.append(.lookUp(id, record.key))
    } else {
      lookedUp(id, .nothing(record.key.mode.reasonToLoad), now, &work)
    }
  }

  mutating func lookedUp(_ id: HandlerID, _ found: LookUp, now: ContinuousClock.Instant) -> [Work] {
    var work: [Work] = []
    lookedUp(id, found, now, &work)
    return work
  }

  private mutating func lookedUp(
    _ id: HandlerID, _ found: LookUp, _ now: ContinuousClock.Instant, _ work: inout [Work]
  ) {
    guard let key = handlers[id]?.key else { return }
    switch found {
    case .usable(let body):
      if let refusal = key.refusal(ofBytes: body.count) { return fail(id, refusal, now, &work) }
      handlers[id]?.body = body
      if body.loaded.source == .file { statistics.fileHits += 1 }
      report(.loadFinished(key.id, body.loaded.source, bytes: body.loaded.count, timings: nil), &work)
      advance(id, .foundUsable, now, &work)
    case .base(let base):
      handlers[id]?.base = base
      handlers[id]?.reason = base.reason
      advance(id, .foundNothing, now, &work)
    case .failed(let error): fail(id, error, now, &work)
    case .nothing(let reason):
      handlers[id]?.reason = reason
      if key.mode == .onlyIfCached {
        fail(
          id, ObjectError(.notCached, "Nothing usable is stored, and the mode only-if-cached forbids loading."), now,
          &work)
      } else {
        advance(id, .foundNothing, now, &work)
      }
    }
  }

  // MARK: Exchanges

  /// Waits for a transfer slot with all others. nil: closed.
  mutating func enter(
    _ exchange: any SlotTaker, host: String, priority: LoadPriority, now: ContinuousClock.Instant
  ) -> (id: HandlerID?, work: [Work]) {
    guard !isClosed else { return (nil, []) }
    let id = makeID()
    var work: [Work] = []
    exchanges[id] = exchange
    transfers.enqueue(id, host: host, priority: priority, at: now)
    startTransfers(now, &work)
    return (id, work)
  }

  /// Its slot, or its place in the queue, is free again.
  mutating func leave(exchange id: HandlerID, now: ContinuousClock.Instant) -> [Work] {
    var work: [Work] = []
    guard let exchange = exchanges.removeValue(forKey: id) else { return work }
    if !transfers.cancel(id) { transfers.finished(id) }
    startTransfers(now, &work)
    work.append(.releaseExchange(exchange))
    return work
  }

  // MARK: Attempts

  mutating func beginLoad(_ id: HandlerID, _ now: ContinuousClock.Instant, _ work: inout [Work]) {
    guard let record = handlers[id] else { return }
    if record.key.mode == .standard || record.key.mode == .forceCache,
      let error = failures.recall(record.failureKey, at: now)
    {
      return fail(id, error, now, &work)
    }
    let retry = RetryRule(
      policy: settings.policy.retry, limitRetryAfter: settings.policy.limitRetryAfter,
      locations: record.locations.count, startedAt: now)
    handlers[id]?.retry = retry
    enqueue(id, now, &work)
  }

  /// Waits for a transfer slot.
  mutating func enqueue(_ id: HandlerID, _ now: ContinuousClock.Instant, _ work: inout [Work]) {
    // A loop: of thousands of mirrors none may be a URL.
    while let record = handlers[id] {
      switch record.currentLocation {
      case .failure(let error): if !mayGoOn(id, after: error, retryAfter: nil, now, { 0 }, &work) { return }
      case .success(let location):
        record.queuedAt = now
        let host = hostName(location.origin)
        guard transfers.startOrEnqueue(id, host: host, priority: record.state.priority, at: now) else {
          return startTransfers(now, &work)
        }
        return beginAttempt(id, now, &work)
      }
    }
  }

  /// Most that follow one another are of one host.
  private mutating func hostName(_ origin: URLRule.Origin) -> String {
    if let lastHost, lastHost.origin == origin { return lastHost.name }
    let name = origin.description
    lastHost = (origin, name)
    return name
  }

  /// Gives free slots to those whose turn it is.
  mutating func startTransfers(_ now: ContinuousClock.Instant, _ work: inout [Work]) {
    guard !isClosed else { return }
    for id in transfers.startable(at: now) {
      if let exchange = exchanges[id] { work.append(.beginExchange(exchange)) } else { beginAttempt(id, now, &work) }
    }
    guard let wake = transfers.nextWake(after: now), wakeAt.map({ wake < $0 || $0 <= now }) ?? true else { return }
    wakeAt = wake
    work.append(.startTransfers(after: wake - now))
  }

  private mutating func beginAttempt(_ id: HandlerID, _ now: ContinuousClock.Instant, _ work: inout [Work]) {
    guard let record = handlers[id], case .success(let location) = record.currentLocation
    else { return transfers.finished(id) }
    let conditions = record.isUnconditional ? [:] : record.base?.conditions ?? [:]
    var request = LoadRequest(
      read: location, fields: sentFields(record.key.fields, conditions), limitBytes: record.key.limitBytes)
    request.secretFields = settings.policy.secretFields
    let ticket = AttemptTicket()
    record.attempt = ticket
    record.handler.published.withLock { $0.attemptBytes = 0 }
    record.attempts += 1
    record.timings = nil
    record.queueTime = record.queuedAt.map { now - $0 } ?? .zero
    statistics.loads += 1
    report(.loadStarted(record.key.id, location: redacted(location.text), attempt: record.attempts), &work)
    work.append(
      .attempt(
        AttemptJob(
          handler: id, number: record.attempts, key: record.key, request: request,
          isConditional: !conditions.isEmpty, output: record.output, reason: record.reason, ticket: ticket,
          face: record.handler)))
  }

  private func sentFields(_ own: HeaderFields, _ conditions: HeaderFields) -> HeaderFields {
    if own.isEmpty, conditions.isEmpty { return LoadAttempt.acceptingCodings }
    var fields = own
    for field in conditions { fields.append(field.name, field.value) }
    if !fields.contains("Accept-Encoding"), !fields.contains("Range") {
      fields.append("Accept-Encoding", LoadAttempt.acceptedCodings)
    }
    return fields
  }

  /// - Parameter shown: what the handler shows now.
  mutating func progressed(_ id: HandlerID, number: Int, _ shown: LoadProgress) -> [Work] {
    guard let record = handlers[id], record.attempts == number, record.attempt != nil, record.watchers > 0
    else { return [] }
    return [.progress(record.seats.values.filter(\.wantsProgress), shown)]
  }

  /// How an attempt ended.
  struct AttemptEnd: Sendable {
    let outcome: LoadOutcome
    /// The body, where nothing is left to do before it can be decoded.
    var usable: LoadedBody?
    let times: LoadTimes
    var timings: LoadTimings?
  }

  /// - Parameter random: in 0..<1.
  mutating func attemptEnded(
    _ id: HandlerID, number: Int, _ end: AttemptEnd, now: ContinuousClock.Instant, random: () -> Double
  ) -> [Work] {
    var work: [Work] = []
    guard let record = handlers[id], record.attempts == number, record.attempt != nil else { return work }
    transfers.finished(id)
    record.attempt = nil
    record.times = end.times
    record.timings = end.timings
    record.timings?.queue = record.queueTime
    let wallNow = end.times.response
    switch end.outcome {
    case .body(let head, let body):
      record.usable = end.usable
      received(id, .body(head, body), now, &work)
    case .notModified(let head):
      statistics.revalidations += 1
      received(id, .notModified(head), now, &work)
    case .status(let head, let start):
      let error = ObjectError(.httpStatus, Self.message(head), head: head, bodyStart: start)
      let retryAfter =
        [429, 503].contains(head.status) ? RetryAfterRule.delay(head.fields["Retry-After"], now: wallNow) : nil
      attemptFailed(id, error, retryAfter: retryAfter, now, wallNow, random, &work)
    case .failure(let error):
      attemptFailed(id, error, retryAfter: nil, now, wallNow, random, &work)
    }
    startTransfers(now, &work)
    return work
  }

  static func message(_ head: LoadHead) -> String {
    "The server answered with status \(head.status)\(head.reason.isEmpty ? "" : " (\(head.reason))")."
  }

  private mutating func received(
    _ id: HandlerID, _ received: Received, _ now: ContinuousClock.Instant, _ work: inout [Work]
  ) {
    guard let key = handlers[id]?.failureKey else { return }
    handlers[id]?.received = received
    failures.forget(key)
    advance(id, .received, now, &work)
  }

  private mutating func attemptFailed(
    _ id: HandlerID, _ error: ObjectError, retryAfter: Duration?, _ now: ContinuousClock.Instant, _ wallNow: WallTime,
    _ random: () -> Double, _ work: inout [Work]
  ) {
    if fallsBack(id, after: error, now, wallNow, &work) { return }
    if mayGoOn(id, after: error, retryAfter: retryAfter, now, random, &work) { enqueue(id, now, &work) }
  }

  /// A permitted stale answer comes before any retry, but after the last mirror.
  private mutating func fallsBack(
    _ id: HandlerID, after error: ObjectError, _ now: ContinuousClock.Instant, _ wallNow: WallTime, _ work: inout [Work]
  ) -> Bool {
    guard let record = handlers[id], record.location >= record.locations.count - 1,
      let base = record.base, let lease = base.lease, let occasion = StaleRule.Occasion(error),
      StaleRule.mayBridge(base.facts, occasion, mode: record.key.mode, freshness: record.key.freshness, now: wallNow)
    else { return false }
    let loaded = Loaded(id: record.key.id, head: base.facts.head, source: .stale, body: .lease(lease))
    if let refusal = record.key.refusal(ofBytes: loaded.count) {
      fail(id, refusal, now, &work)
      return true
    }
    handlers[id]?.body = LoadedBody(
      loaded: loaded, facts: base.facts, mayKeep: true, hasBytes: true, reason: .staleError)
    record.timings = nil
    report(.loadFinished(record.key.id, .stale, bytes: loaded.count, timings: nil), &work)
    advance(id, .fellBack, now, &work)
    return true
  }

  /// True: try the next location now. Else it is tried later, or the load has failed.
  private mutating func mayGoOn(
    _ id: HandlerID, after error: ObjectError, retryAfter: Duration?, _ now: ContinuousClock.Instant,
    _ random: () -> Double, _ work: inout [Work]
  ) -> Bool {
    guard let record = handlers[id] else { return false }
    if let retryAfter, retryAfter <= settings.policy.limitRetryAfter,
      case .success(let location) = record.currentLocation
    {
      transfers.hold(host: location.origin.description, until: now + retryAfter)
    }
    // The bytes of an error page are none of the object's.
    let attemptBytes = record.handler.published.withLock { $0.attemptBytes }
    let hasNewBytes = error.code != .httpStatus && attemptBytes > record.mostBytes
    if hasNewBytes { record.mostBytes = attemptBytes }
    let step = record.retry?.next(
      after: error, receivedNewBytes: hasNewBytes, retryAfter: retryAfter, now: now, random: random())
    switch step ?? .giveUp(error) {
    case .again(let location, let delay):
      statistics.retries += 1
      handlers[id]?.location = location
      report(.loadRetried(record.key.id, error, delay: delay), &work)
      if delay > .zero { work.append(.retry(id, attempts: record.attempts, after: delay)) }
      return delay <= .zero
    case .giveUp(let final):
      failures.remember(final, for: record.failureKey, at: now)
      fail(id, final, now, &work)
      return false
    }
  }

  mutating func fail(_ id: HandlerID, _ error: ObjectError, _ now: ContinuousClock.Instant, _ work: inout [Work]) {
    guard let key = handlers[id]?.key else { return }
    statistics.failures += 1
    report(.failed(key.id, error), &work)
    advance(id, .failed(error), now, &work)
  }

  /// A wait is over.
  mutating func retryDue(_ id: HandlerID, attempts: Int, now: ContinuousClock.Instant) -> [Work] {
    var work: [Work] = []
    guard let record = handlers[id], record.attempts == attempts, record.attempt == nil,
      record.state.phase == .loading
    else { return work }
    enqueue(id, now, &work)
    return work
  }

  mutating func hostsDue(now: ContinuousClock.Instant) -> [Work] {
    var work: [Work] = []
    wakeAt = nil
    startTransfers(now, &work)
    return work
  }

  mutating func stopLoad(_ id: HandlerID, _ now: ContinuousClock.Instant, _ work: inout [Work]) {
    guard let record = handlers[id] else { return }
    if let attempt = record.attempt {
      work.append(.cancelAttempt(attempt))
      handlers[id]?.attempt = nil
    }
    if record.state.seats.isEmpty { report(.abandoned(record.key.id), &work) }
    if !transfers.cancel(id) { transfers.finished(id) }
    refillSoon(&work)
  }

  /// Those that wait are often called off together with those that run: they had better not begin for nothing.
  mutating func refillSoon(_ work: inout [Work]) {
    guard !isClosed, !isRefillDue, transfers.waiting > 0 || live.waitingCount > 0 else { return }
    isRefillDue = true
    work.append(.refill)
  }

  /// Places and slots that came free are given to whoever still waits.
  mutating func refill(now: ContinuousClock.Instant) -> [Work] {
    var work: [Work] = []
    isRefillDue = false
    admitWaiting(now, &work)
    startTransfers(now, &work)
    return work
  }
}
