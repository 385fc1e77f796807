/// All that the manager knows about what is under way: handlers, the FIFO, the transfer slots, what failed lately.
///
/// One value in one lock: every step touches several of these together, takes about a microsecond, and does nothing
/// but decide. What is to be done comes back as `Work`. Time and chance are passed in.
struct CoreState: Sendable {
  struct Settings: Sendable {
    let policy: Policy
    let limitTransfers: Int
    var hasBackend = true
  }

  /// What a newcomer brings.
  struct Joiner: Sendable {
    let seat: any Seat
    let wish: HandlerState.Wish
    let locations: [String]
    let whenFull: ObjectRequest.WhenFull
    let output: OutputTarget?
    /// The first of them, where it has been read.
    var firstLocation: URLRule.Location?
    /// Memory has an object for it, which is not fresh.
    var hasReady = false
  }

  let settings: Settings
  var handlers = NumberMap<HandlerID, HandlerRecord>()
  var byKey: [HandlerKey: HandlerRecord] = [:]
  var bySeat = NumberMap<SeatID, HandlerRecord>()
  /// How many of the seats may be left by a user that dies.
  private var mortals = 0
  var live: LiveQueue<HandlerID>
  /// Requests for the HTTP answer; they share the transfer slots, and the numbers, with the handlers.
  var exchanges: [HandlerID: any SlotTaker] = [:]
  var transfers: TransferQueue<HandlerID>
  var failures: FailureMemory<FailureKey>
  var suspects: SuspectMemory<FailureKey>
  /// What was made stale, so that what was on its way meanwhile is neither joined nor kept as fresh.
  var recalls = RecallNumbers<ObjectID>()
  var statistics = ManagerStatistics()
  var reportsEvents = false
  var isClosed = false
  /// Somebody is taking a request back; there may be more of them.
  private var isLeaving = false
  /// Handlers that waited for their place are being let in.
  private var isAdmitting = false
  /// A sweep for dead users is scheduled.
  var isSweeping = false
  var refills = RefillRule()
  /// When the transfers of held hosts will be looked at again, if that is scheduled.
  var wakeAt: Moment?
  /// Who waits for the refreshes in the background.
  var whenRefreshed: [@Sendable () -> Void] = []
  private var responseRefreshes = 0
  private var lastHandler: UInt64 = 0
  var lastHost: (location: URLRule.Location, name: String)?

  /// Failures belong to what was asked for, by whom, and where; undecodable bytes are the same wherever they are from.
  struct FailureKey: Hashable, Sendable {
    let id: ObjectID
    let scope: String
    var locations: [String] = []
  }

  init(_ settings: Settings) {
    self.settings = settings
    live = LiveQueue(limit: settings.policy.limitLiveHandlers)
    transfers = TransferQueue(
      limit: settings.limitTransfers, limitPerHost: max(1, settings.policy.limitTransfersPerHost))
    failures = FailureMemory(policy: settings.policy.failureMemory)
    suspects = SuspectMemory(policy: settings.policy.failureMemory)
  }

  // MARK: Coming and going

  /// nil: closed.
  mutating func join(
    _ key: HandlerKey, _ joiner: Joiner, now: Moment
  ) -> (record: HandlerRecord, work: Few<Work>)? {
    guard !isClosed else { return nil }
    let known = handlerToJoin(key)
    if known != nil { statistics.joins += 1 }
    let record = known.flatMap { $0.serves(joiner.wish) ? $0 : nil } ?? makeHandler(key)
    record.add(joiner)
    if joiner.seat.mayDie { mortals += 1 }
    bySeat[joiner.seat.id] = record
    var work = Few<Work>()
    advance(record, .joined(joiner.seat.id, joiner.wish), now, &work)
    enterLive(record, joiner.whenFull, now, &work)
    armSweep(&work)
    return (record, work)
  }

  /// nil: there is none, or it began before its object was made stale, and may bring what it was then.
  func handlerToJoin(_ key: HandlerKey) -> HandlerRecord? { byKey[key].flatMap { isRecalled($0) ? nil : $0 } }

  /// Whether its object was made stale since it began.
  func isRecalled(_ record: HandlerRecord) -> Bool {
    record.begun.map { recalls[record.key.id] != $0.recallNumber } ?? false
  }

  mutating func makeID() -> HandlerID {
    lastHandler += 1
    return HandlerID(number: lastHandler)
  }

  private mutating func makeHandler(_ key: HandlerKey) -> HandlerRecord {
    let id = makeID()
    let record = HandlerRecord(id, key, settings.policy.whenLastLeaves)
    handlers[id] = record
    byKey[key] = record
    return record
  }

  /// A new one asks for its place, a known one renews it.
  private mutating func enterLive(
    _ record: HandlerRecord, _ whenFull: ObjectRequest.WhenFull, _ now: Moment,
    _ work: inout Few<Work>
  ) {
    guard record.state.phase != .finished else { return }
    switch live.enter(record.id, whenFull, record.state.priority, at: now) {
    case .waits: return
    case .admitted: break
    case .admittedBumping(let victim):
      statistics.bumps += 1
      if let bumped = handlers[victim] {
        report(.bumped(bumped.key.id), &work)
        advance(bumped, .cancelled(.bumped), now, &work)
      }
    }
    advance(record, .admitted, now, &work)
  }

  mutating func leave(_ seat: SeatID, _ reason: CancelReason, now: Moment) -> Few<Work> {
    isLeaving = true
    defer { isLeaving = false }
    return happened(.left(seat, reason), to: seat, now)
  }

  mutating func expire(_ seat: SeatID, _ error: ObjectError, now: Moment) -> Few<Work> {
    happened(.expired(seat, error), to: seat, now)
  }

  mutating func changePriority(
    of seat: SeatID, to priority: LoadPriority, now: Moment
  ) -> Few<Work> {
    happened(.reprioritized(seat, priority), to: seat, now)
  }

  private mutating func happened(
    _ event: HandlerState.Event, to seat: SeatID, _ now: Moment
  ) -> Few<Work> {
    var work = Few<Work>()
    if let record = bySeat[seat] { advance(record, event, now, &work) }
    return work
  }

  mutating func close(now: Moment) -> Few<Work> {
    isClosed = true
    var work = Few<Work>()
    for record in handlers.values.sorted(by: { $0.id.number < $1.id.number }) {
      advance(record, .cancelled(.closed), now, &work)
    }
    for exchange in exchanges.values { work.append(.closeExchange(exchange)) }
    exchanges = [:]
    return work
  }

  // MARK: The spine

  /// An event of one handler: asks its state, and turns the answer into work. One that has finished has no more events.
  mutating func advance(
    _ record: HandlerRecord, _ event: HandlerState.Event, _ now: Moment, _ work: inout Few<Work>
  ) {
    record.state.handle(event).each { take($0, record, now, &work) }
    // What it left behind is done.
    guard record.state.phase != .finished else { return }
    let standing = HandlerRecord.Standing(
      priority: record.state.priority,
      place: record.state.seats.isEmpty ? .hasNobody : record.state.holdsPlace ? .held : .bumpable)
    if standing != record.standing {
      record.standing = standing
      live.update(record.id, standing.priority, standing.place)
      transfers.changePriority(record.id, to: standing.priority)
    }
    record.publish()
  }

  private mutating func take(
    _ action: HandlerState.Action, _ record: HandlerRecord, _ now: Moment, _ work: inout Few<Work>
  ) {
    switch action {
    case .lookUp: lookUp(record, now, &work)
    case .load: beginLoad(record, now, &work)
    case .stopLoad(let isAbandoned):
      if isAbandoned { report(.abandoned(record.key.id), &work) }
      stopLoad(record, now, &work)
    case .store: store(record, now, &work)
    case .decode(let form): if let job = record.decodeJob(form) { work.append(.decode(job)) }
    case .end(let seats, let how): for seat in seats { end(seat, how, record, &work) }
    case .finish: finish(record, now, &work)
    }
  }

  private mutating func end(
    _ seatID: SeatID, _ how: HandlerState.How, _ record: HandlerRecord, _ work: inout Few<Work>
  ) {
    bySeat[seatID] = nil
    guard let seat = record.seats.removeValue(forKey: seatID) else { return }
    if seat.wantsProgress { record.watchers -= 1 }
    if seat.mayDie { mortals -= 1 }
    if let deadline = record.deadlines.removeValue(forKey: seatID) { work.append(.cancelTimer(deadline)) }
    let ending = record.ending(of: seat, how)
    if case .ready = ending, let refresh = record.refresh {
      work.append(.endStale(seat, ending, refresh))
    } else {
      work.append(.end(seat, ending))
    }
  }

  /// The seat's own time has begun to run.
  mutating func setDeadline(_ deadline: ScheduledWork, for seat: SeatID) -> Few<Work> {
    guard let record = bySeat[seat] else { return Few(.cancelTimer(deadline)) }
    record.deadlines[seat] = deadline
    return Few()
  }

  private mutating func finish(_ record: HandlerRecord, _ now: Moment, _ work: inout Few<Work>) {
    handlers[record.id] = nil
    if let place = byKey.index(forKey: record.key), byKey[place].value === record { byKey.remove(at: place) }
    record.publish()
    noteDecodes(of: record, now)
    work.append(.release(record))
    live.leave(record.id)
    if record.key.isRefresh { tellRefreshed(&work) }
    if isLeaving { refillSoon(&work) } else { admitWaiting(now, &work) }
  }

  /// One that is admitted may end at once and so let others in: the outermost call takes them all, so that thousands need
  /// no deep stack.
  mutating func admitWaiting(_ now: Moment, _ work: inout Few<Work>) {
    guard !isClosed, !isAdmitting else { return }
    isAdmitting = true
    while live.waitingCount > 0, !live.isFull {
      let admitted = live.admitWaiting(at: now)
      guard !admitted.isEmpty else { break }
      for next in admitted { if let record = handlers[next] { advance(record, .admitted, now, &work) } }
    }
    isAdmitting = false
  }

  var isRefreshing: Bool { responseRefreshes > 0 || handlers.values.contains { $0.key.isRefresh } }

  /// Of an HTTP answer, which has no handler.
  mutating func beginRefresh() -> Few<Work> {
    responseRefreshes += 1
    return Few()
  }

  mutating func endRefresh() -> Few<Work> {
    responseRefreshes -= 1
    var work = Few<Work>()
    tellRefreshed(&work)
    return work
  }

  private mutating func tellRefreshed(_ work: inout Few<Work>) {
    guard !whenRefreshed.isEmpty, !isRefreshing else { return }
    work.append(.call(whenRefreshed))
    whenRefreshed = []
  }

  /// Bytes that nobody could decode are asked for again sooner.
  private mutating func noteDecodes(of record: HandlerRecord, _ now: Moment) {
    guard let begun = record.begun else { return }
    if record.state.isUndecodable {
      suspects.note(FailureKey(id: record.key.id, scope: record.key.scope), at: now)
    } else if suspects.count > 0, !begun.results.isEmpty {
      suspects.clear(FailureKey(id: record.key.id, scope: record.key.scope))
    }
  }

  private mutating func armSweep(_ work: inout Few<Work>) {
    guard !isSweeping else { return }
    isSweeping = true
    work.append(.sweep(after: Self.sweepInterval))
  }

  /// The sweep's turn: what to look at, and whether to come again.
  mutating func beginSweep(mustGoOn: Bool) -> (seats: [any Seat], work: Few<Work>) {
    isSweeping = !handlers.isEmpty || mustGoOn
    // Of thousands that wait all may be calls that are awaited.
    let seats = mortals == 0 ? [] : handlers.values.flatMap { $0.seats.map(\.value).filter(\.mayDie) }
    return (seats, isSweeping ? Few(.sweep(after: Self.sweepInterval)) : Few())
  }

  static let sweepInterval = Duration.milliseconds(250)

  /// Of the handlers that would be bumped next; empty while there is room.
  func oldestSeats(limit: Int) -> [any Seat] {
    guard live.isFull else { return [] }
    var seats: [any Seat] = []
    for id in live.ids {
      guard seats.count < limit else { break }
      if let record = handlers[id] { seats += record.seats.prefix(limit - seats.count).map(\.value) }
    }
    return seats
  }

  func report(_ event: @autoclosure () -> ObjectEvent, _ work: inout Few<Work>) {
    if reportsEvents { work.append(.report(event())) }
  }
}

extension HandlerRecord {
  func add(_ joiner: CoreState.Joiner) {
    seats[joiner.seat.id] = joiner.seat
    if joiner.seat.wantsProgress { watchers += 1 }
    if joiner.hasReady { mayHaveBase = true }
    if locations.isEmpty {
      firstLocation = joiner.firstLocation
      // Nearly always one, whose array is then shared.
      if joiner.locations.count == 1 { locations = joiner.locations }
    }
    for location in joiner.locations where !locations.contains(location) { locations.append(location) }
    output = output ?? joiner.output
  }

  var failureKey: CoreState.FailureKey {
    CoreState.FailureKey(id: key.id, scope: key.scope, locations: locations)
  }

  var storeJob: StoreJob? {
    load.received.map { received in
      StoreJob(
        handler: id, key: key, received: received, times: load.times, base: load.base, reason: load.reason,
        recallNumber: load.recallNumber)
    }
  }

  func decodeJob(_ representation: Representation) -> DecodeJob? {
    guard let body = begun?.body else { return nil }
    return DecodeJob(
      handler: id, key: key, representation: representation, body: body, seats: seats(wanting: representation))
  }

  private func seats(wanting representation: Representation) -> Few<any Seat> {
    if let only = seats.only?.value { return only.representation == representation ? Few(only) : Few() }
    let wanting = seats.map(\.value).filter { $0.representation == representation }
    return Few(all: wanting.sorted { $0.id.number < $1.id.number })
  }

  /// False: it has ready objects only, and no bytes to decode this one from.
  fileprivate func serves(_ wish: HandlerState.Wish) -> Bool {
    guard let representation = wish.representation else { return true }
    guard let begun else { return true }
    if let body = begun.body { return body.hasBytes || begun.results[representation] != nil }
    // A 304 on its way, about the objects of those who were here when it came.
    guard case .notModified? = begun.received, begun.base?.lease == nil else { return true }
    return seats.contains { $0.value.representation == representation }
  }

  func ending(of seat: any Seat, _ how: HandlerState.How) -> SeatEnding {
    switch how {
    case .failed(let error): return .failed(error)
    case .cancelled(let reason): return .cancelled(reason)
    case .content: return delivered.map { .content($0) } ?? .failed(Self.nothing)
    case .ready:
      guard let delivered, let representation = seat.representation, let result = begun?.results[representation] else {
        return .failed(Self.nothing)
      }
      return .ready(result.box, delivered)
    }
  }

  private var delivered: Delivered? {
    begun?.body.map {
      Delivered(
        source: $0.loaded.source, reason: $0.reason, head: $0.loaded.head, count: $0.count,
        generation: $0.facts.generation, timings: load.timings)
    }
  }

  /// nil: what it gives is not stale, or nobody asks for a newer one.
  var refresh: Refresh? {
    begun?.body.flatMap { body in
      body.isBeingRefreshed ? Refresh(key: key, locations: locations, generation: body.facts.generation) : nil
    }
  }

  /// Cannot be reached while the rules hold; an ending all the same.
  private static var nothing: ObjectError { ObjectError(.transport, "The object was lost on its way; ask again.") }
}
