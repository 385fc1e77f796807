/// What makes a stored answer one that is asked about before it is used again: the caller, an unsafe method, and a newer
/// answer that is not kept. What the backend does is done on the I/O pool.
///
/// What is on its way meanwhile may be from before. Whoever makes an object stale notes that first (`CoreState.recalls`), then
/// changes what is stored; whoever stores something looks afterwards whether that was noted since it was asked for. So one
/// of the two sees the other, and neither waits.
extension Core {
  /// What is stored of it is asked about before it is used again. Of answers that vary nothing is left: the server has to
  /// send them anew.
  /// - Parameter everybodys: also what is everybody's and would not answer it.
  func invalidate(_ key: HandlerKey, everybodys: Bool = false, in backend: any CacheBackend) throws {
    let shared = [EntryKey.Kind.good, .error].map { EntryKey(key.id, kind: $0) }
    for base in Set(try places(of: key, in: backend) + (everybodys ? shared : [])) {
      guard let facts = try backend.lookUp(base)?.facts else { continue }
      if VariantIndex(facts) != nil {
        try backend.remove(base)
      } else {
        try backend.update(base, facts: facts.invalidated)
      }
    }
  }

  /// After anything that came for it was stored. Where the object was made stale since that was asked for, it may be from
  /// before: either this or whoever made it stale finds it stored.
  /// - Parameter number: `CoreState.recalls` when it was asked for.
  func invalidate(_ key: HandlerKey, ifRecalledSince number: UInt64) {
    guard read({ $0.recalls[key.id] }) != number else { return }
    memory.invalidate(key.id)
    guard let backend else { return }
    do { try invalidate(key, in: backend) } catch { cacheFailed(key.id, ObjectError(cacheFault: error)) }
  }

  /// A success came from the server, and is stored where it may be: what is older is not given as fresh any more, nor is an
  /// error.
  /// - Parameter reason: why it was loaded.
  /// - Returns: `MemoryCache.recallCount`, for the object that is made of it.
  func succeeded(by facts: EntryFacts, _ key: HandlerKey, isStored: Bool, _ reason: AnswerReason) -> UInt32 {
    if !isStored, StoreRule.passesByCaches(key.fields, freshness: key.freshness, mode: key.mode) {
      return memory.recallCount(of: key.id)
    }
    if let backend {
      forgetError(key, in: backend)
      if !isStored, reason != .absent { outdate(key, in: backend) }
    }
    return memory.supersede(key.id, scope: key.scope, by: facts)
  }

  /// What would answer it is asked about from now on; other variants stay.
  private func outdate(_ key: HandlerKey, in backend: any CacheBackend) {
    do {
      for (entry, lease) in try answers(to: key, in: backend).all where !lease.facts.isInvalidated {
        try backend.update(entry, facts: lease.facts.invalidated)
      }
    } catch { cacheFailed(key.id, ObjectError(cacheFault: error)) }
  }

  // MARK: Unsafe methods

  /// Each hop of its redirects answered for its own URL, whatever became of the next; and an answer that was cut may have
  /// done what it was to do (RFC 9111 section 4.4).
  func invalidate(by result: Exchange.Result, _ job: ResponseJob) {
    for hop in result.hops { invalidate(by: hop.head, hop.method, hop.location, job) }
    let head: LoadHead? =
      switch result.outcome {
      case .body(let head, _), .status(let head, _), .notModified(let head): head
      case .failure(let error): error.head
      }
    guard let head else { return }
    let last = result.hops.last
    invalidate(by: head, last?.next.method ?? job.method, last?.target ?? job.location, job)
  }

  /// For whoever has these credentials, and for everybody. What other credentials have is theirs, as in a cache of their
  /// own, which would not have seen the request.
  private func invalidate(by head: LoadHead, _ method: String, _ location: URLRule.Location, _ job: ResponseJob) {
    for location in ExchangeRule.invalidated(by: head, method: method, location: location) {
      let key = HandlerKey(
        id: ObjectID(location.key, kind: .url), scope: job.key.scope, fields: job.key.fields, mode: .standard,
        freshness: job.key.freshness, limitBytes: nil)
      invalidateInMemory(key.id)
      guard let backend else { continue }
      do { try invalidate(key, everybodys: true, in: backend) } catch {
        cacheFailed(key.id, ObjectError(cacheFault: error))
      }
      invalidateInMemory(key.id)
    }
  }

  // MARK: Errors

  /// What is remembered of a failed load of the object, once the answer was asked for and is a success.
  func forgetFailure(_ key: HandlerKey) {
    step { state in
      if state.failures.count > 0 { state.failures.forget(CoreState.FailureKey(id: key.id, scope: key.scope)) }
      return Few()
    }
  }

  /// A success says that the error is over: its own, and everybody's that would answer it too.
  func forgetError(_ key: HandlerKey, in backend: any CacheBackend) {
    guard key.freshness == .http, key.mode != .noStore, backend.mayHold(.error) else { return }
    do {
      let found = try answers(to: key, .error, in: backend).all.map(\.0)
      for entry in Set(found + [entryKey(key, in: backend, nil, .error)]) { try backend.remove(entry) }
    } catch {
      cacheFailed(key.id, ObjectError(cacheFault: error))
    }
  }
}
