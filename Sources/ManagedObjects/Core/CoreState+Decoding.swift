/// The part of the core's state that has to do with bytes that are here.
extension CoreState {
  // MARK: Storing and decoding

  mutating func store(_ id: HandlerID, _ now: ContinuousClock.Instant, _ work: inout [Work]) {
    guard let record = handlers[id] else { return }
    if let body = record.usable.take() {
      stored(id, body, now, &work)
    } else if let job = record.storeJob {
      work.append(.store(job))
    }
  }

  /// The bytes are where they belong.
  mutating func stored(_ id: HandlerID, _ body: LoadedBody, now: ContinuousClock.Instant) -> [Work] {
    var work: [Work] = []
    stored(id, body, now, &work)
    return work
  }

  private mutating func stored(
    _ id: HandlerID, _ body: LoadedBody, _ now: ContinuousClock.Instant, _ work: inout [Work]
  ) {
    guard let record = handlers[id] else { return }
    // What came over the wire was stopped at the limit; what a 304 speaks of was not.
    if let refusal = record.key.refusal(ofBytes: body.count) { return fail(id, refusal, now, &work) }
    record.body = body
    report(
      .loadFinished(record.key.id, body.loaded.source, bytes: body.count, timings: record.timings), &work)
    advance(id, .stored, now, &work)
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
