/// The part of the core's state that has to do with bytes that are here.
extension CoreState {
  // MARK: Storing and decoding

  mutating func store(_ record: HandlerRecord, _ now: Moment, _ work: inout Few<Work>) {
    if let body = record.load.usable.take() {
      stored(record, body, now, &work)
    } else if let job = record.storeJob {
      work.append(.store(job))
    }
  }

  /// The bytes are where they belong.
  mutating func stored(_ id: HandlerID, _ body: LoadedBody, now: Moment) -> Few<Work> {
    var work = Few<Work>()
    if let record = handlers[id] { stored(record, body, now, &work) }
    return work
  }

  private mutating func stored(
    _ record: HandlerRecord, _ body: LoadedBody, _ now: Moment, _ work: inout Few<Work>
  ) {
    // What came over the wire was stopped at the limit; what a 304 speaks of was not.
    if let refusal = record.key.refusal(ofBytes: body.count) { return fail(record, refusal, now, &work) }
    record.load.body = isRecalled(record) ? body.unkept : body
    report(
      .loadFinished(record.key.id, body.loaded.source, bytes: body.count, timings: record.load.timings), &work)
    advance(record, .stored, now, &work)
  }

  mutating func storeFailed(_ id: HandlerID, _ error: ObjectError, now: Moment) -> Few<Work> {
    var work = Few<Work>()
    if let record = handlers[id] { fail(record, error, now, &work) }
    return work
  }

  /// 304, but neither bytes nor objects are left, or it is about others: once more, without conditions.
  mutating func lostBase(_ id: HandlerID, now: Moment) -> Few<Work> {
    var work = Few<Work>()
    guard let record = handlers[id] else { return work }
    record.load.received = nil
    record.load.base = nil
    if record.load.isUnconditional {
      fail(record, ObjectError(.transport, "The server answered 304 to a request without conditions."), now, &work)
      return work
    }
    record.load.isUnconditional = true
    advance(record, .lostBytes, now, &work)
    enqueue(record, now, &work)
    return work
  }

  /// Those for whom it was to be decoded are gone.
  mutating func decodeAbandoned(
    _ id: HandlerID, _ representation: Representation, now: Moment
  ) -> Few<Work> {
    var work = Few<Work>()
    if let record = handlers[id] { advance(record, .decodeAbandoned(representation), now, &work) }
    return work
  }

  mutating func decoded(
    _ id: HandlerID, _ representation: Representation, _ result: Result<DecodedObject, ObjectError>, decodes: Int,
    now: Moment
  ) -> Few<Work> {
    var work = Few<Work>()
    statistics.decodes += decodes
    guard let record = handlers[id] else { return work }
    switch result {
    case .success(let object):
      record.load.results[representation] = object
      report(.decoded(record.key.id), &work)
      advance(record, .decoded(representation, .made), now, &work)
    case .failure(let error):
      advance(record, .decoded(representation, .failed(error)), now, &work)
    }
    return work
  }
}
