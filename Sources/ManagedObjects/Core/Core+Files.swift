internal import FoundationEssentials

/// The part of the core that asks the file cache. All of it runs on the I/O pool; without a backend, where it is.
extension Core {
  // MARK: Looking up

  func lookUp(_ handler: HandlerID, _ key: HandlerKey) {
    guard let backend, key.mode != .reload, key.mode != .noStore else {
      let why = key.mode.reasonToLoad
      return lookedUp(handler, why == .absent ? memoryBase(handler, key, else: why) : .nothing(why))
    }
    filePool.run { [self] in
      let found = find(key, in: backend)
      if case .nothing(let why) = found { return lookedUp(handler, memoryBase(handler, key, else: why)) }
      if case .usable(let body) = found, body.isBeingRefreshed,
        let locations = read({ $0.handlers[handler]?.locations })
      {
        begin(Refresh(key: key, locations: locations, generation: body.facts.generation))
      }
      lookedUp(handler, found)
    }
  }

  private func lookedUp(_ handler: HandlerID, _ found: CoreState.LookUp) {
    step { $0.lookedUp(handler, found, now: self.time.now) }
  }

  /// What is fresh, else an error that came after it and is, else what is stale. Of several that match the newest counts
  /// (RFC 9111 section 4).
  func find(_ key: HandlerKey, in backend: any CacheBackend) -> CoreState.LookUp {
    do {
      let recallCount = memory.recallCount(of: key.id)
      let answers = try answers(to: key, in: backend)
      var best = CoreState.LookUp.nothing(answers.missing)
      var newest: (any EntryLease)?
      for (entryKey, lease) in answers.all.sorted(by: { $0.1.facts.responseTime > $1.1.facts.responseTime }) {
        best = judge(lease, entryKey, key, recallCount)
        if case .nothing = best { continue }
        newest = lease
        break
      }
      if case .usable(let body) = best, !body.isBeingRefreshed { return best }
      return try failure(key, after: newest, in: backend).map { .failed($0) } ?? best
    } catch {
      cacheFailed(key.id, ObjectError(cacheFault: error))
    }
    return .nothing(.absent)
  }

  /// A stored error, while it is fresh; asked for where no success is.
  private func failure(
    _ key: HandlerKey, after success: (any EntryLease)?, in backend: any CacheBackend
  ) throws -> ObjectError? {
    guard key.freshness == .http, key.mode == .standard, backend.mayHold(.error) else { return nil }
    for (_, lease) in try answers(to: key, .error, in: backend).all {
      let facts = lease.facts
      let head = facts.head
      // A redirect is here because somebody wanted it as it is; all others follow it.
      guard facts.responseTime >= success?.facts.responseTime ?? .distantPast, !RedirectRule.isRedirect(head),
        case .fresh = judge(facts, key).verdict
      else { continue }
      return ObjectError(
        .httpStatus, CoreState.message(head), head: head,
        bodyStart: (try? lease.data()).map { Data($0.prefix(ErrorBody.limitShownBytes)) } ?? Data())
    }
    return nil
  }

  /// An answer that is no success, kept beside a good one for as long as the server says.
  func storeFailure(_ head: LoadHead, _ body: Data, _ job: AttemptJob, _ times: LoadTimes) {
    // What is tried again is no answer yet.
    guard let backend, !RetryRule.isRetried(status: head.status),
      StoreRule.mayStoreFailure(
        head: head, requestFields: job.key.fields, freshness: job.key.freshness, mode: job.key.mode,
        now: times.response)
    else { return }
    let facts = facts(head, job.key, times)
    filePool.run { [self] in
      put(body, facts, job.key, .error, in: backend)
      invalidate(job.key, ifRecalledSince: job.recallNumber)
    }
  }

  private func judge(
    _ lease: any EntryLease, _ entryKey: EntryKey, _ key: HandlerKey, _ recallCount: UInt32
  ) -> CoreState.LookUp {
    let facts = lease.facts
    let decision = judge(facts, key, isSuspect: isSuspect(key))
    switch decision.verdict {
    case .fresh: return .usable(stored(lease, key, decision, recallCount))
    case .stale where mayServeStale(facts, key):
      return .usable(stored(lease, key, ReuseRule.Decision(.fresh, .staleWhileRevalidate), recallCount))
    case .stale(let conditions):
      guard key.mode != .onlyIfCached else { return .nothing(decision.reason) }
      return .base(
        StoredBase(
          facts: facts, lease: lease, key: entryKey, conditions: conditions, reason: decision.reason,
          recallCount: recallCount))
    case .unusable: return .nothing(decision.reason)
    }
  }

  private func stored(
    _ lease: any EntryLease, _ key: HandlerKey, _ decision: ReuseRule.Decision, _ recallCount: UInt32
  ) -> LoadedBody {
    let source = decision.reason.storedSource
    let loaded = Loaded(id: key.id, head: lease.facts.head, source: source, body: .lease(lease))
    return LoadedBody(
      loaded: loaded, facts: lease.facts, mayKeep: true, hasBytes: true, reason: decision.reason,
      freshUntil: decision.freshUntil, recallCount: recallCount)
  }

  func judge(_ facts: EntryFacts, _ key: HandlerKey, isSuspect: Bool = false) -> ReuseRule.Decision {
    ReuseRule.decide(
      facts, fields: key.fields, mode: key.mode, freshness: key.freshness, now: time.wallNow, isSuspect: isSuspect,
      secrets: secrets)
  }

  func isSuspect(_ key: HandlerKey) -> Bool {
    let failureKey = CoreState.FailureKey(id: key.id, scope: key.scope)
    return read { $0.suspects.isSuspect(failureKey, at: self.time.now) }
  }

  /// Ready objects without bytes can be revalidated too, or bridge an outage, if all that are wanted are of one body.
  private func memoryBase(_ handler: HandlerID, _ key: HandlerKey, else why: AnswerReason) -> CoreState.LookUp {
    let recallCount = memory.recallCount(of: key.id)
    let ready = wanted(by: handler).map { memory.find(MemoryKey(id: key.id, scope: key.scope, representation: $0)) }
    guard let first = ready.first ?? nil, ready.allSatisfy({ $0?.facts.generation == first.facts.generation })
    else { return .nothing(why) }
    let decision = judge(first.facts, key)
    guard case .stale(let conditions) = decision.verdict, key.mode != .onlyIfCached else { return .nothing(why) }
    return .base(
      StoredBase(
        facts: first.facts, lease: nil, key: EntryKey(key.id), conditions: conditions, count: first.count,
        reason: decision.reason, recallCount: recallCount))
  }

  private func wanted(by handler: HandlerID) -> Set<Representation> {
    read { state in Set(state.handlers[handler]?.seats.compactMap(\.value.representation) ?? []) }
  }

  // MARK: Storing

  func store(_ job: StoreJob) {
    guard let backend else { return store(job, in: nil) }
    filePool.run { [self] in store(job, in: backend) }
  }

  private func store(_ job: StoreJob, in backend: (any CacheBackend)?) {
    switch job.received {
    case .body(let head, let body): stored(job, storeBody(job, head, body, in: backend))
    case .notModified(let head): storeHead(job, head, in: backend)
    }
  }

  private func stored(_ job: StoreJob, _ result: Result<LoadedBody, ObjectError>) {
    switch result {
    case .success(let body): step { $0.stored(job.handler, body, now: self.time.now) }
    case .failure(let error): step { $0.storeFailed(job.handler, error, now: self.time.now) }
    }
  }

  private func storeBody(
    _ job: StoreJob, _ head: LoadHead, _ body: ReceivedBody, in backend: (any CacheBackend)?
  ) -> Result<LoadedBody, ObjectError> {
    let mayStore = mayStore(head, job.key)
    let facts = facts(head, job.key, job.times)
    let kept: Loaded.Body
    switch body {
    case .memory(let data):
      if let backend, mayStore {
        put(data, facts, job.key, in: backend)
      }
      kept = .memory(data)
    case .pending(let entry):
      do throws(ObjectError) { kept = try commit(entry, facts, job.key) } catch { return .failure(error) }
    }
    let recallCount = succeeded(by: facts, job.key, isStored: mayStore, job.reason)
    invalidate(job.key, ifRecalledSince: job.recallNumber)
    let loaded = Loaded(id: job.key.id, head: head, source: .network, body: kept)
    let reason = StoreRule.reason(
      job.reason, head: head, requestFields: job.key.fields, freshness: job.key.freshness)
    return .success(
      LoadedBody(
        loaded: loaded, facts: facts, mayKeep: mayStore, hasBytes: true, reason: reason, recallCount: recallCount))
  }

  /// A body that no backend is to have.
  func usable(
    _ outcome: LoadOutcome, _ job: AttemptJob, _ times: LoadTimes
  ) throws(ObjectError) -> LoadedBody? {
    guard backend == nil, case .body(let head, let received) = outcome else { return nil }
    let key = job.key
    let facts = facts(head, key, times)
    let body: Loaded.Body
    switch received {
    case .memory(let data): body = .memory(data)
    case .pending(let entry): body = try commit(entry, facts, key)
    }
    let mayStore = mayStore(head, key)
    let recallCount = succeeded(by: facts, key, isStored: mayStore, job.reason)
    return LoadedBody(
      loaded: Loaded(id: key.id, head: head, source: .network, body: body), facts: facts, mayKeep: mayStore,
      hasBytes: true,
      reason: StoreRule.reason(job.reason, head: head, requestFields: key.fields, freshness: key.freshness),
      recallCount: recallCount)
  }

  func facts(_ head: LoadHead, _ key: HandlerKey, _ times: LoadTimes) -> EntryFacts {
    EntryFacts(
      head: StoreRule.stored(head), requestTime: times.request, responseTime: times.response,
      varying: VaryRule.varying(of: head, to: key.fields, secrets: secrets),
      generation: numbers.next())
  }

  func mayStore(_ head: LoadHead, _ key: HandlerKey) -> Bool {
    StoreRule.mayStore(head: head, requestFields: key.fields, freshness: key.freshness, mode: key.mode)
  }

  /// The object is delivered whatever happens here.
  func put(
    _ data: Data, _ facts: EntryFacts, _ key: HandlerKey, _ kind: EntryKey.Kind = .good, in backend: any CacheBackend
  ) {
    do {
      var writer = try begin(key, facts.head, kind, expectedBytes: data.count, in: backend)
      try writer.append(data.bytes)
      _ = try writer.commit(facts)
      cacheWorked()
    } catch {
      cacheFailed(key.id, ObjectError(cacheFault: error))
    }
  }

  func commit(
    _ entry: PendingEntry, _ facts: EntryFacts, _ key: HandlerKey
  ) throws(ObjectError) -> Loaded.Body {
    guard var writer = entry.take() else { throw ObjectError(.cacheBroken, "The body was lost on its way; ask again.") }
    do {
      let lease = try writer.commit(facts)
      // A file of the caller's own says nothing about the cache.
      if type(of: lease) != OutputFile.self { cacheWorked() }
      return .lease(lease)
    } catch {
      let fault = ObjectError(cacheFault: error)
      cacheFailed(key.id, fault)
      guard entry.count <= policy.limitMemoryOnlyBodyBytes, let data = try? writer.salvage(), data.count == entry.count
      else { throw fault }
      return .memory(data)
    }
  }

  /// 304: a new head, the same bytes and objects.
  private func storeHead(_ job: StoreJob, _ head: LoadHead, in backend: (any CacheBackend)?) {
    guard let base = job.base, UpdateRule.confirms(head, base.facts) else { return lostBase(job) }
    let facts = UpdateRule.updated(
      base.facts, by: head, requestTime: job.times.request, responseTime: job.times.response)
    let mayStore = mayStore(facts.head, job.key)
    let body: Loaded.Body
    if let lease = base.lease {
      body = .lease(lease)
      if mayStore, Self.mayUpdate(base.key, facts.head, by: job.key) { update(base.key, facts, in: backend) }
    } else {
      let isComplete = wanted(by: job.handler).allSatisfy { representation in
        let key = MemoryKey(id: job.key.id, scope: job.key.scope, representation: representation)
        return memory.find(key)?.facts.generation == facts.generation
      }
      guard isComplete else { return lostBase(job) }
      body = .memory(Data())
    }
    if let backend { forgetError(job.key, in: backend) }
    invalidate(job.key, ifRecalledSince: job.recallNumber)
    let loaded = Loaded(id: job.key.id, head: facts.head, source: .revalidated, body: body)
    let hasBytes = base.lease != nil
    stored(
      job,
      .success(
        LoadedBody(
          loaded: loaded, facts: facts, mayKeep: mayStore, hasBytes: hasBytes, lostCount: base.count,
          reason: .revalidated, recallCount: base.recallCount, bodyTime: base.facts.responseTime)))
  }

  private func update(_ key: EntryKey, _ facts: EntryFacts, in backend: (any CacheBackend)?) {
    do { try backend?.update(key, facts: facts) } catch { cacheFailed(key.id, ObjectError(cacheFault: error)) }
  }

  private func lostBase(_ job: StoreJob) { step { $0.lostBase(job.handler, now: self.time.now) } }

  /// Where a body may go while it arrives; nil: into memory only.
  func open(_ job: AttemptJob, _ head: LoadHead) -> BodyStore.Open? {
    let output = job.output
    guard let backend, mayStore(head, job.key) else {
      guard let output else { return nil }
      return { _ in try output.begin() }
    }
    return { [self] expected in
      do { return try begin(job.key, head, expectedBytes: expected, in: backend) } catch {
        // What the cache cannot take goes straight to its place: it may be too large for memory as well.
        guard let output else { throw error }
        cacheFailed(job.key.id, ObjectError(cacheFault: error))
        return try output.begin()
      }
    }
  }
}
