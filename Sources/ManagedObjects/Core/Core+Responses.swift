internal import FoundationEssentials

/// The part of the core that gives HTTP answers, as they are, through the same cache, loaders and transfer slots.
///
/// 1. What is stored answers, where it may (`ExchangeRule.plan`); the caller's own conditions and range are applied to it.
/// 2. Else one exchange, shared by equal GETs that overlap.
/// 3. A 304 to our own condition renews what is stored; an outage may be bridged by it; else the answer is the server's.
extension Core {
  /// A request, read once.
  struct ResponseJob: Sendable {
    let key: HandlerKey
    let request: LoadRequest
    let location: URLRule.Location
    /// `CoreState.recalls` when it was asked.
    let recallNumber: UInt64
    /// Why it has to be loaded.
    var reason = AnswerReason.absent
    var method: String { request.method }

    func loaded(because reason: AnswerReason) -> ResponseJob {
      var job = self
      job.reason = reason
      return job
    }

    /// The same for all of what is there: a part renews nothing, and conditions of the caller's own are not ours.
    var whole: ResponseJob {
      let named = Set((ConditionRule.names + ["Range"]).map { $0.lowercased() })
      guard key.fields.contains(where: { named.contains($0.name.lowercased()) }) else { return self }
      var fields = key.fields
      fields.removeAll(named: named)
      var request = request
      request.fields = fields
      return ResponseJob(
        key: key.with(fields), request: request, location: location, recallNumber: recallNumber, reason: reason)
    }
  }

  /// What is stored and may answer.
  struct StoredAnswer: Sendable {
    let key: EntryKey
    let lease: any EntryLease
    var facts: EntryFacts { lease.facts }
  }

  struct StoredAnswers: Sendable {
    var all: [StoredAnswer] = []
    /// Why there are none, where there are none.
    var missing = AnswerReason.absent
  }

  nonisolated(nonsending) func response(to request: LoadRequest) async throws(ObjectError) -> LoadResponse {
    let job = try responseJob(request).get()
    if let reason = whyNotLookedUp(job) { return try await load(job.loaded(because: reason), nil, [:]).get() }
    if read({ $0.isClosed }) { throw ObjectError(.closed) }
    let stored = await onFilePool { [self] in storedAnswers(job) }
    let plan = plan(job, stored)
    switch plan {
    case .serve(let place, let reason):
      return try allowed(answer(job, stored.all[place], stored.all[place].facts, reason), job)
    case .serveAndRefresh(let place):
      refresh(job.whole)
      return try allowed(answer(job, stored.all[place], stored.all[place].facts, .staleWhileRevalidate), job)
    case .gatewayTimeout(let reason): return Self.gatewayTimeout(reason)
    case .ask(let base, let conditions, let reason):
      return try allowed(
        await load(job.loaded(because: reason), base.map { stored.all[$0] }, conditions).get(), job)
    }
  }

  /// What came over the wire was stopped at the limit; what is stored, or confirmed by a 304, was not.
  private func allowed(_ response: LoadResponse, _ job: ResponseJob) throws(ObjectError) -> LoadResponse {
    if let refusal = job.key.refusal(ofBytes: response.count) { throw refusal }
    return response
  }

  /// nil: what is stored is asked first.
  private func whyNotLookedUp(_ job: ResponseJob) -> AnswerReason? {
    guard ExchangeRule.mayAnswer(job.method), job.request.body == nil else { return .method }
    let why = job.key.mode.reasonToLoad
    return why == .absent ? nil : why
  }

  private func plan(_ job: ResponseJob, _ stored: StoredAnswers) -> ExchangeRule.Plan {
    ExchangeRule.plan(
      stored.all.map(\.facts), missing: stored.missing, method: job.method, request: job.key.fields,
      mode: job.key.mode, freshness: job.key.freshness, now: time.wallNow, secrets: secrets)
  }

  private func responseJob(_ request: LoadRequest) -> Result<ResponseJob, ObjectError> {
    let location: URLRule.Location
    switch URLRule.parse(request.location) {
    case .failure(let refusal): return .failure(ObjectError(invalid: request.location, refusal))
    case .success(let valid): location = valid
    }
    var asked = ObjectRequest(request.location)
    asked.fields = request.fields
    asked.mode = request.mode
    asked.credentialScope = request.credentialScope
    asked.limitBytes = request.limitBytes
    var sent = request
    sent.location = location.text
    do throws(ObjectError) {
      let key = try handlerKey(asked)
      return .success(
        ResponseJob(key: key, request: sent, location: location, recallNumber: read { $0.recalls[key.id] }))
    } catch {
      return .failure(error)
    }
  }

  private static func gatewayTimeout(_ reason: AnswerReason) -> LoadResponse {
    LoadResponse(
      LoadHead(status: 504, reason: "Gateway Timeout", fields: ["Content-Length": "0"]), .memory(Data()),
      source: .memory, reason: reason)
  }

  // MARK: From the cache

  private func storedAnswers(_ job: ResponseJob) -> StoredAnswers {
    guard let backend else { return StoredAnswers() }
    var stored = StoredAnswers()
    do {
      for kind in [EntryKey.Kind.good, .error] {
        let found = try answers(to: job.key, kind, in: backend)
        if found.missing == .varies { stored.missing = .varies }
        let matching = found.all.filter {
          ReuseRule.matches($0.1.facts, fields: job.key.fields, freshness: job.key.freshness, secrets: secrets)
            && RedirectRule.mayAnswer(job.request.redirectMode, with: $0.1.facts.head)
        }
        stored.all += matching.map { StoredAnswer(key: $0, lease: $1) }
      }
    } catch {
      cacheFailed(job.key.id, ObjectError(cacheFault: error))
    }
    return stored
  }

  /// The stored answer for this request: 304 to a condition that holds, no body to HEAD, a part to a range.
  func answer(
    _ job: ResponseJob, _ stored: StoredAnswer, _ facts: EntryFacts, _ reason: AnswerReason
  ) -> LoadResponse {
    let source = reason.storedSource
    let age = FreshnessRule.age(of: facts, at: time.wallNow) ?? .zero
    var head = facts.head
    head.fields["Age"] = String(age.components.seconds)
    let whole = LoadResponse(head, .lease(stored.lease), source: source, reason: reason, age: age)
    let fields = job.key.fields
    if ConditionRule.isNotModified(head, request: fields, responseTime: facts.responseTime) { return whole.notModified }
    if job.method == "HEAD" { return whole.withoutBody }
    switch RangeRule.decide(head, count: stored.lease.count, request: fields) {
    case .whole: return whole
    case .part(let range): return whole.part(range, RangeRule.head(of: head, range, count: stored.lease.count))
    case .unsatisfiable:
      return LoadResponse(
        RangeRule.unsatisfiable(count: stored.lease.count), .memory(Data()), source: source, reason: reason, age: age)
    }
  }

  /// Once for all who ask meanwhile. Ends with the manager.
  func refresh(_ job: ResponseJob) {
    step { $0.beginRefresh() }
    Task { [self] in
      defer { step { $0.endRefresh() } }
      _ = await shared(job) { [self] in
        // Asked within the flight: another refresh may have ended since this one was found to be due.
        let stored = await onFilePool { [self] in storedAnswers(job) }
        switch plan(job, stored) {
        case .serve(let place, let reason):
          return .success(answer(job, stored.all[place], stored.all[place].facts, reason))
        case .serveAndRefresh(let place):
          let base = stored.all[place]
          return await exchange(job.loaded(because: .expired), base, ReuseRule.conditions(for: base.facts.head))
        case .ask(let base, let conditions, let reason):
          return await exchange(job.loaded(because: reason), base.map { stored.all[$0] }, conditions)
        case .gatewayTimeout(let reason): return .success(Self.gatewayTimeout(reason))
        }
      }
    }
  }

  // MARK: From the server

  private nonisolated(nonsending) func load(
    _ job: ResponseJob, _ base: StoredAnswer?, _ conditions: HeaderFields
  ) async -> Result<LoadResponse, ObjectError> {
    await shared(job) { [self] in
      if base == nil, let result = await askAboutOthers(job) { return result }
      return await exchange(job, base, conditions)
    }
  }

  /// Does the work once for all equal requests that overlap and only read.
  private nonisolated(nonsending) func shared(
    _ job: ResponseJob, _ work: @escaping @Sendable () async -> Result<LoadResponse, ObjectError>
  ) async -> Result<LoadResponse, ObjectError> {
    guard ExchangeRule.mayAnswer(job.method), job.request.body == nil else { return await work() }
    let key = ExchangeKey(
      key: job.key, method: job.method, location: job.request.location, redirects: job.request.redirectMode,
      recallNumber: job.recallNumber)
    return await flights.value(for: key, cancelled: .failure(ObjectError(.left)), work)
  }

  private nonisolated(nonsending) func exchange(
    _ job: ResponseJob, _ base: StoredAnswer?, _ conditions: HeaderFields
  ) async -> Result<LoadResponse, ObjectError> {
    var result = await send(job, conditions)
    if let base, case .notModified(let head) = result.outcome, !UpdateRule.confirms(head, base.facts) {
      result = await send(job, [:])
    }
    return await onFilePool { [self, result] in take(result, job, base) }
  }

  nonisolated(nonsending) func send(_ job: ResponseJob, _ conditions: HeaderFields) async -> Exchange.Result {
    var request = job.request
    request.fields = ExchangeRule.sent(job.key.fields, conditions, mode: job.key.mode)
    let exchange = Exchange(self, request, intakePlan(job, isConditional: !conditions.isEmpty))
    return await exchange.result(host: job.location.origin.description)
  }

  private func intakePlan(_ job: ResponseJob, isConditional: Bool) -> IntakePlan {
    var plan = intakePlan(job.key, job.request)
    plan.isConditional = isConditional
    plan.takesAnyStatus = true
    plan.open = { [self] head in
      guard let backend, let kind = storedKind(head, job) else { return nil }
      return { [self] expected in try begin(job.key, head, kind, expectedBytes: expected, in: backend) }
    }
    return plan
  }

  /// nil: it is not stored.
  private func storedKind(_ head: LoadHead, _ job: ResponseJob) -> EntryKey.Kind? {
    if job.method == "POST", ExchangeRule.answersGET(head, location: job.location), mayStore(head, job.key) {
      return .good
    }
    guard job.method == "GET", job.request.body == nil else { return nil }
    if mayStore(head, job.key) { return .good }
    return StoreRule.mayStoreFailure(
      head: head, requestFields: job.key.fields, freshness: job.key.freshness, mode: job.key.mode, now: time.wallNow)
      ? .error : nil
  }

  // MARK: What came. On the I/O pool.

  func take(
    _ result: Exchange.Result, _ job: ResponseJob, _ base: StoredAnswer?
  ) -> Result<LoadResponse, ObjectError> {
    invalidate(by: result, job)
    switch result.outcome {
    case .notModified(let head): return .success(renewed(job, base, head, result))
    case .body(let head, let body):
      if let base, mayBridge(base, .status(head.status), job) {
        return .success(answer(job, base, base.facts, .staleError))
      }
      return taken(head, body, job, base, result)
    case .status(let head, let body):
      return .success(loaded(head, .memory(body.bytes), job, result))
    case .failure(let error):
      if let base, let occasion = StaleRule.Occasion(error), mayBridge(base, occasion, job) {
        return .success(answer(job, base, base.facts, .staleError))
      }
      return .failure(error)
    }
  }

  private func mayBridge(_ base: StoredAnswer, _ occasion: StaleRule.Occasion, _ job: ResponseJob) -> Bool {
    StaleRule.mayBridge(
      base.facts, occasion, mode: job.key.mode, freshness: job.key.freshness, now: time.wallNow)
  }

  private func renewed(
    _ job: ResponseJob, _ base: StoredAnswer?, _ head: LoadHead, _ result: Exchange.Result
  ) -> LoadResponse {
    guard let base else { return loaded(head, .memory(Data()), job, result) }
    let facts = UpdateRule.updated(
      base.facts, by: head, requestTime: result.times.request, responseTime: result.times.response)
    renew(base.key, facts, job)
    return answer(job, base, facts, .revalidated)
  }

  private func renew(_ entry: EntryKey, _ facts: EntryFacts, _ job: ResponseJob) {
    forgetFailure(job.key)
    guard mayStore(facts.head, job.key) else { return }
    memory.updateFacts(of: job.key.id, scope: job.key.scope) { $0.generation == facts.generation ? facts : nil }
    guard let backend else { return }
    if Self.mayUpdate(entry, facts.head, by: job.key) {
      do { try backend.update(entry, facts: facts) } catch { cacheFailed(job.key.id, ObjectError(cacheFault: error)) }
    }
    forgetError(job.key, in: backend)
    invalidate(job.key, ifRecalledSince: job.recallNumber)
  }

  private func taken(
    _ head: LoadHead, _ body: ReceivedBody, _ job: ResponseJob, _ base: StoredAnswer?, _ result: Exchange.Result
  ) -> Result<LoadResponse, ObjectError> {
    if job.method == "HEAD", let base { takeHead(head, job, base, result.times) }
    let kept: Loaded.Body
    do throws(ObjectError) { kept = try keep(head, body, job, result.times) } catch { return .failure(error) }
    return .success(loaded(head, kept, job, result))
  }

  private func loaded(
    _ head: LoadHead, _ body: Loaded.Body, _ job: ResponseJob, _ result: Exchange.Result
  ) -> LoadResponse {
    let reason = StoreRule.reason(
      job.reason, head: head, requestFields: job.key.fields, freshness: job.key.freshness)
    return LoadResponse(head, body, source: .network, reason: reason, interim: result.interim)
  }

  /// RFC 9111 section 4.3.5.
  private func takeHead(_ head: LoadHead, _ job: ResponseJob, _ base: StoredAnswer, _ times: LoadTimes) {
    guard head.status == 200, base.facts.head.status == 200 else { return }
    if ExchangeRule.confirms(head, base.facts, count: base.lease.count) {
      let facts = UpdateRule.updated(
        base.facts, by: head, requestTime: times.request, responseTime: times.response)
      renew(base.key, facts, job)
    } else {
      renew(base.key, base.facts.invalidated, job)
    }
  }

  /// Stores it where that is allowed; the answer is given whatever happens here.
  private func keep(
    _ head: LoadHead, _ body: ReceivedBody, _ job: ResponseJob, _ times: LoadTimes
  ) throws(ObjectError) -> Loaded.Body {
    let facts = facts(head, job.key, times)
    let kind = storedKind(head, job)
    let kept: Loaded.Body
    switch body {
    case .pending(let entry): kept = try commit(entry, facts, job.key)
    case .memory(let data):
      if let backend, let kind { put(data, facts, job.key, kind, in: backend) }
      kept = .memory(data)
    }
    if kind == .good || isSuccess(head, job) {
      forgetFailure(job.key)
      _ = succeeded(by: facts, job.key, isStored: kind == .good, job.reason)
    }
    // What an unsafe method makes stale is older than its own answer.
    if ExchangeRule.isSafe(job.method) { invalidate(job.key, ifRecalledSince: job.recallNumber) }
    return kept
  }

  /// Whether it says what is there, whatever was there before.
  private func isSuccess(_ head: LoadHead, _ job: ResponseJob) -> Bool {
    job.method == "GET" && job.request.body == nil && (200..<300).contains(head.status) && head.status != 206
  }
}

extension StaleRule.Occasion {
  /// nil: no outage, but what the caller or the rules refused.
  init?(_ error: ObjectError) {
    switch error.code {
    case .transport, .timedOut, .wrongLength: self = .unreachable
    case .httpStatus:
      guard let status = error.head?.status else { return nil }
      self = .status(status)
    default: return nil
    }
  }
}
