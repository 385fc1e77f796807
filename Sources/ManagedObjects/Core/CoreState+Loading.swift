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

  mutating func lookedUp(_ id: HandlerID, _ found: LookUp, now: ContinuousClock.Instant) -> [Work] {
    var work: [Work] = []
    guard let key = handlers[id]?.key else { return work }
    switch found {
    case .usable(let body):
      if let refusal = key.refusal(ofBytes: body.count) {
        fail(id, refusal, now, &work)
        return work
      }
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
    return work
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
  private mutating func enqueue(_ id: HandlerID, _ now: ContinuousClock.Instant, _ work: inout [Work]) {
    // A loop: of thousands of mirrors none may be a URL.
    while let record = handlers[id] {
      switch host(of: record) {
      case .failure(let error): if !mayGoOn(id, after: error, retryAfter: nil, now, 0, &work) { return }
      case .success(let host):
        transfers.enqueue(id, host: host, priority: record.state.priority, at: now)
        record.queuedAt = now
        return startTransfers(now, &work)
      }
    }
  }

  private func host(of record: HandlerRecord) -> Result<String, ObjectError> {
    guard record.location < record.locations.count else {
      return .failure(ObjectError(.invalidURL, "The request has no URL to load “\(record.key.id)” from; give it one."))
    }
    let text = record.locations[record.location]
    return URLRule.parse(text).map { $0.origin.description }.mapError { ObjectError(invalid: text, $0) }
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
    guard let record = handlers[id], case .success(let location) = URLRule.parse(record.locations[record.location])
    else { return transfers.finished(id) }
    let conditions = record.isUnconditional ? [:] : record.base?.conditions ?? [:]
    var request = LoadRequest(location: location.text, fields: record.key.fields, limitBytes: record.key.limitBytes)
    request.secretFields = settings.policy.secretFields
    for field in conditions { request.fields.append(field.name, field.value) }
    if !request.fields.contains("Accept-Encoding"), !request.fields.contains("Range") {
      request.fields.append("Accept-Encoding", LoadAttempt.acceptedCodings)
    }
    record.attempts += 1
    record.timings = nil
    record.queueTime = record.queuedAt.map { now - $0 } ?? .zero
    statistics.loads += 1
    report(.loadStarted(record.key.id, location: redacted(location.text), attempt: record.attempts), &work)
    work.append(
      .attempt(
        AttemptJob(
          handler: id, number: record.attempts, key: record.key, request: request,
          isConditional: !conditions.isEmpty, output: record.output)))
  }

  /// The attempt is made and may start; false: nobody wants it any more.
  mutating func attach(_ attempt: LoadAttempt, to id: HandlerID, number: Int, at time: WallTime) -> Bool {
    guard let record = handlers[id], record.attempts == number, record.state.phase == .loading else { return false }
    handlers[id]?.attempt = attempt
    handlers[id]?.attemptBytes = 0
    handlers[id]?.times.request = time
    return true
  }

  mutating func progressed(_ id: HandlerID, number: Int, _ progress: LoadProgress) -> [Work] {
    guard let record = handlers[id], record.attempts == number, record.attempt != nil else { return [] }
    handlers[id]?.attemptBytes = progress.receivedBytes
    guard let shown = record.progress.pass(progress) else { return [] }
    record.handler.published.withLock { $0.progress = shown }
    let listeners = record.seats.values.filter(\.wantsProgress)
    return listeners.isEmpty ? [] : [.progress(listeners, shown)]
  }

  /// What the attempt took, right before it ends well.
  mutating func measured(_ id: HandlerID, number: Int, _ timings: LoadTimings) {
    guard let record = handlers[id], record.attempts == number, record.attempt != nil else { return }
    var timings = timings
    timings.queue = record.queueTime
    record.timings = timings
  }

  /// An attempt has ended. `random` is in 0..<1.
  mutating func attemptEnded(
    _ id: HandlerID, number: Int, _ outcome: LoadOutcome, now: ContinuousClock.Instant, wallNow: WallTime,
    random: Double
  ) -> [Work] {
    var work: [Work] = []
    guard let record = handlers[id], record.attempts == number, record.attempt != nil else { return work }
    transfers.finished(id)
    handlers[id]?.attempt = nil
    handlers[id]?.times.response = wallNow
    switch outcome {
    case .body(let head, let body):
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
    _ random: Double, _ work: inout [Work]
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
    _ random: Double, _ work: inout [Work]
  ) -> Bool {
    guard let record = handlers[id] else { return false }
    if let retryAfter, retryAfter <= settings.policy.limitRetryAfter, case .success(let host) = host(of: record) {
      transfers.hold(host: host, until: now + retryAfter)
    }
    // The bytes of an error page are none of the object's.
    let hasNewBytes = error.code != .httpStatus && record.attemptBytes > record.mostBytes
    if hasNewBytes { record.mostBytes = record.attemptBytes }
    let step = record.retry?.next(
      after: error, receivedNewBytes: hasNewBytes, retryAfter: retryAfter, now: now, random: random)
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
    startTransfers(now, &work)
  }

  // MARK: Storing and decoding

  /// The bytes are where they belong.
  mutating func stored(_ id: HandlerID, _ body: LoadedBody, now: ContinuousClock.Instant) -> [Work] {
    var work: [Work] = []
    guard let key = handlers[id]?.key else { return work }
    // What came over the wire was stopped at the limit; what a 304 speaks of was not.
    if let refusal = key.refusal(ofBytes: body.count) {
      fail(id, refusal, now, &work)
      return work
    }
    handlers[id]?.body = body
    report(
      .loadFinished(key.id, body.loaded.source, bytes: body.count, timings: handlers[id]?.timings), &work)
    advance(id, .stored, now, &work)
    return work
  }

  /// 304, but neither bytes nor objects are left: once more, without conditions.
  mutating func lostBase(_ id: HandlerID, now: ContinuousClock.Instant) -> [Work] {
    var work: [Work] = []
    guard let record = handlers[id] else { return work }
    handlers[id]?.received = nil
    handlers[id]?.base = nil
    if record.isUnconditional {
      fail(id, ObjectError(.transport, "The server answered 304 to a request without conditions."), now, &work)
      return work
    }
    handlers[id]?.isUnconditional = true
    advance(id, .lostBytes, now, &work)
    enqueue(id, now, &work)
    return work
  }

  /// Those for whom it was to be decoded are gone.
  mutating func decodeAbandoned(
    _ id: HandlerID, _ representation: Representation, now: ContinuousClock.Instant
  ) -> [Work] {
    var work: [Work] = []
    advance(id, .decodeAbandoned(representation), now, &work)
    return work
  }

  mutating func decoded(
    _ id: HandlerID, _ representation: Representation, _ result: Result<DecodedObject, ObjectError>, decodes: Int,
    now: ContinuousClock.Instant
  ) -> [Work] {
    var work: [Work] = []
    statistics.decodes += decodes
    guard handlers[id] != nil else { return work }
    switch result {
    case .success(let object):
      handlers[id]?.results[representation] = object
      if let decoded = handlers[id]?.key.id { report(.decoded(decoded), &work) }
      advance(id, .decoded(representation, .made), now, &work)
    case .failure(let error):
      advance(id, .decoded(representation, .failed(error)), now, &work)
    }
    return work
  }
}
