internal import FoundationEssentials

/// The async side of the core: a thin layer on the same path.
///
/// What an async function may need after an `await`, and all that the optimiser has moved into it, stands in its task's
/// memory meanwhile, for each request that waits. So those that call `begin` await nothing else, what comes before and
/// after is not inlined into them, and they hold one reference: their frames together are some five hundred bytes.
extension Core {
  /// An async call that has asked.
  enum Begun<Object: Sendable>: Sendable {
    /// It was ready: that costs nothing more than a look into memory.
    case ready(Object)
    case waits(WaiterSeat<Object>)
  }

  @inline(never)
  func begin<Object: Sendable>(_ request: ObjectRequest, _ decoder: ObjectDecoder<Object>) -> Begun<Object> {
    do throws(ObjectError) {
      if let ready = peekAtOnce(request, decoder), countHit() { return .ready(ready) }
      let asked = try asked(request)
      if let ready = peek(asked.key, decoder), countHit() { return .ready(ready) }
      return .waits(enter(asked, seat(decoder), nil))
    } catch {
      return .waits(ended(seat(decoder), error))
    }
  }

  /// The bytes themselves.
  @inline(never) func begin(_ request: ObjectRequest) -> Begun<Data> { begin(request, .data) }

  private func seat<Object: Sendable>(_ decoder: ObjectDecoder<Object>) -> WaiterSeat<Object> {
    WaiterSeat(makeSeatID(), decoder, wantsDelivered: false)
  }

  /// The same for one who wants to know where the object came from.
  @inline(never)
  func begin<Object: Sendable>(
    _ request: ObjectRequest, _ decoder: ObjectDecoder<Object>, output: OutputTarget?,
    _ progress: (@Sendable (LoadProgress) -> Void)?
  ) -> WaiterSeat<Object> {
    let seat = WaiterSeat(makeSeatID(), decoder, wantsDelivered: true, progress)
    do throws(ObjectError) { return enter(try asked(request), seat, output) } catch { return ended(seat, error) }
  }

  private func ended<NewSeat: AwaitedSeat>(_ seat: NewSeat, _ error: ObjectError) -> NewSeat {
    seat.end(.failed(error), from: .library)
    return seat
  }

  /// How it ended.
  nonisolated(nonsending) func end(of seat: AwaitedSeat) async -> AwaitedEnding.Told {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in seat.wait(continuation) }
    } onCancel: {
      giveUp(seat)
    }
  }

  /// Where the bytes will come is where all that stands for the request is made, changed and dropped: an object that one
  /// thread makes and another drops costs both of them the allocator's lock.
  private func enter<NewSeat: AwaitedSeat & Seat>(
    _ asked: Asked, _ seat: NewSeat, _ output: OutputTarget?
  ) -> NewSeat {
    guard asked.isHTTP else {
      ask(asked, seat, whenFull: .wait, output: output, caller: .library)
      return seat
    }
    onLoaderThread { [self] in
      guard !seat.hasEnded else { return }
      ask(asked, seat, whenFull: .wait, output: output, caller: .library)
      // Whoever gave it up meanwhile may have come too early to take it out again.
      if seat.hasEnded { leave(seat.id, .left) }
    }
    return seat
  }

  private func giveUp(_ seat: AwaitedSeat) {
    seat.end(.cancelled(.left), from: .library)
    leave(seat.id, .left)
  }

  private func giveUp(_ seat: PrefetchSeat) {
    seat.end(.cancelled(.left), from: .library)
    leave(seat.id, .left)
  }

  nonisolated(nonsending) func prefetch(_ requests: [ObjectRequest]) async -> [Int: ObjectError] {
    let round = PrefetchRound(count: requests.count)
    let seats = requests.indices.map { place in
      PrefetchSeat(makeSeatID()) { ending in round.ended(place, ending) }
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        round.wait(continuation)
        for (request, seat) in zip(requests, seats) where !Task.isCancelled {
          var request = request
          request.priority = min(request.priority, .low)
          ask(request, seat, whenFull: .wait, caller: .library)
        }
        if Task.isCancelled { for seat in seats { giveUp(seat) } }
      }
    } onCancel: {
      for seat in seats { giveUp(seat) }
    }
  }

  nonisolated(nonsending) func settle(_ limit: Duration) async {
    let start = time.now
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let once = Once { continuation.resume() }
      let timer = later(limit) { _ in once.run() }
      whenRefreshed { [filePool] in
        filePool.whenIdle {
          timer.cancel()
          once.run()
        }
      }
    }
    guard let backend else { return }
    let rest = limit - (time.now - start)
    guard rest > .zero else { return }
    await onFilePool { backend.settle(atMost: rest) }
  }

  // MARK: What is stored

  nonisolated(nonsending) func contains(_ request: ObjectRequest) async throws(ObjectError) -> Bool {
    let key = try handlerKey(request)
    guard let backend else { return false }
    let result = await onFilePool { [self] () -> Result<Bool, ObjectError> in
      do {
        return .success(try !answers(to: key, in: backend).all.isEmpty)
      } catch {
        return .failure(ObjectError(cacheFault: error))
      }
    }
    return try result.get()
  }

  nonisolated(nonsending) func store(
    _ bytes: Data, _ request: ObjectRequest, _ head: LoadHead
  ) async throws(ObjectError) {
    let key = try handlerKey(request)
    let backend = try requiredBackend()
    let now = time.wallNow
    let facts = facts(head, key, LoadTimes(request: now, response: now))
    forget(key)
    try await changing { [self] in
      var writer = try begin(key, facts.head, expectedBytes: bytes.count, in: backend)
      try writer.append(bytes.bytes)
      _ = try writer.commit(facts)
      forgetError(key, in: backend)
    }
    forget(key)
  }

  nonisolated(nonsending) func invalidate(_ request: ObjectRequest) async throws(ObjectError) {
    let key = try handlerKey(request)
    invalidateInMemory(key.id)
    guard let backend else { return }
    try await changing { [self] in
      try invalidate(key, in: backend)
    }
    // Somebody may have taken it from the file in between.
    invalidateInMemory(key.id)
  }

  /// What is in memory is asked about before it is used again, and what failed lately is asked for.
  func invalidateInMemory(_ id: ObjectID) {
    noteRecall(of: id)
    memory.invalidate(id)
    forgetFailures { $0.id == id }
  }

  /// Nobody joins what is on its way, and what it brings is asked about before it is used again.
  /// - Parameter id: nil: of all.
  private func noteRecall(of id: ObjectID?) {
    step { state in
      if let id { state.recalls.note(id) } else { state.recalls.noteAll() }
      return Few()
    }
  }

  nonisolated(nonsending) func remove(_ request: ObjectRequest) async throws(ObjectError) {
    let key = try handlerKey(request)
    forget(key)
    guard let backend else { return }
    try await changing { [self] in
      try remove(key, in: backend)
    }
    forget(key)
  }

  nonisolated(nonsending) func remove(namespace: String) async throws(ObjectError) {
    noteRecall(of: nil)
    memory.removeAll { $0.id.namespace == namespace }
    forgetFailures { $0.id.namespace == namespace }
    guard let backend else { return }
    let judge: @Sendable (EntrySummary) -> EntryVerdict = { $0.key.id.namespace == namespace ? .remove : .keep }
    try await changing { try backend.forEach(judge) }
    noteRecall(of: nil)
    memory.removeAll { $0.id.namespace == namespace }
  }

  nonisolated(nonsending) func removeAll() async throws(ObjectError) {
    noteRecall(of: nil)
    memory.removeAll()
    forgetFailures()
    guard let backend else { return }
    try await changing { try backend.clear() }
    noteRecall(of: nil)
    memory.removeAll()
  }

  /// Memory, what is on its way and what failed lately must not answer for it any more.
  private func forget(_ key: HandlerKey) {
    noteRecall(of: key.id)
    memory.removeAll(of: key.id)
    forgetFailures { $0.id == key.id }
  }

  /// Answers that failed, and bytes that could not be decoded.
  private func forgetFailures(where fits: (CoreState.FailureKey) -> Bool) {
    step { state in
      state.failures.forget(where: fits)
      state.suspects.clear(where: fits)
      return Few()
    }
  }

  func forgetFailures() { forgetFailures { _ in true } }

  private func requiredBackend() throws(ObjectError) -> any CacheBackend {
    guard let backend else {
      throw ObjectError(.cacheBroken, "The manager has no cache to store in; give it one: ObjectManager(cache:).")
    }
    return backend
  }

  /// A change of the backend, on the I/O pool.
  private nonisolated(nonsending) func changing(
    _ change: @escaping @Sendable () throws -> Void
  ) async throws(ObjectError) {
    let error = await onFilePool { () -> ObjectError? in
      do {
        try change()
        return nil
      } catch { return ObjectError(cacheFault: error) }
    }
    if let error { throw error }
  }

  nonisolated(nonsending) func onFilePool<Outcome: Sendable>(
    _ work: @escaping @Sendable () -> Outcome
  ) async -> Outcome {
    await withCheckedContinuation { continuation in
      filePool.run { continuation.resume(returning: work()) }
    }
  }

  // MARK: Watching

  func setPriority(_ priority: LoadPriority, of user: AnyObject) {
    guard let seat = users.current(user) else { return }
    step { $0.changePriority(of: seat.id, to: priority, now: self.time.now) }
  }

  var liveHandlers: [Handler] { read { state in state.live.ids.compactMap { state.handlers[$0]?.handler } } }

  var statistics: ManagerStatistics {
    var statistics = read { state in
      var statistics = state.statistics
      statistics.liveHandlers = state.live.count
      statistics.waitingHandlers = state.live.waitingCount
      statistics.runningTransfers = state.transfers.running
      return statistics
    }
    statistics.memoryHits = hits.withLock { $0.count }
    statistics.memoryObjects = memory.count
    statistics.memoryCost = memory.cost
    return statistics
  }

  func listen(bufferingNewest count: Int) -> AsyncStream<ObjectEvent> {
    let stream = events.stream(bufferingNewest: count)
    step { state in
      state.reportsEvents = true
      return Few()
    }
    return stream
  }
}

/// Runs something the first time only.
final class Once: Sendable {
  private let work: Lock<(@Sendable () -> Void)?>

  init(_ work: @escaping @Sendable () -> Void) { self.work = Lock(work) }

  func run() {
    let work = work.withLock { work in
      let taken = work
      work = nil
      return taken
    }
    work?()
  }
}

/// Several prefetches that are awaited together.
private final class PrefetchRound: Sendable {
  private struct State: Sendable {
    var left: Int
    var errors: [Int: ObjectError] = [:]
    var continuation: CheckedContinuation<[Int: ObjectError], Never>?
  }

  private let state: Lock<State>

  init(count: Int) { state = Lock(State(left: count)) }

  func wait(_ continuation: CheckedContinuation<[Int: ObjectError], Never>) {
    state.withLock { $0.continuation = continuation }
    resumeIfDone()
  }

  func ended(_ place: Int, _ ending: SeatEnding) {
    state.withLock { state in
      state.left -= 1
      switch ending {
      case .failed(let error): state.errors[place] = error
      case .cancelled(let reason): state.errors[place] = ObjectError(reason)
      case .ready, .content: break
      }
    }
    resumeIfDone()
  }

  private func resumeIfDone() {
    let (continuation, errors) = state.withLock { state in
      guard state.left <= 0 else {
        return (nil, [:]) as (CheckedContinuation<[Int: ObjectError], Never>?, [Int: ObjectError])
      }
      let continuation = state.continuation
      state.continuation = nil
      return (continuation, state.errors)
    }
    continuation?.resume(returning: errors)
  }
}
