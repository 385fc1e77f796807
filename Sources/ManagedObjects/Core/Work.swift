/// What is to be done once the core's lock has been let go. Carries all it needs; what is large is boxed, since all is
/// handed on a few times.
enum Work: Sendable {
  case lookUp(HandlerID, HandlerKey)
  /// The handler's turn has come: begin its next attempt.
  case attempt(AttemptJob)
  case cancelAttempt(AttemptTicket)
  /// The same for a request for the HTTP answer.
  case beginExchange(any SlotTaker)
  case closeExchange(any SlotTaker)
  case releaseExchange(any SlotTaker)
  case store(StoreJob)
  case decode(DecodeJob)
  case end(any Seat, SeatEnding)
  /// With a stale object, while the refresh is under way.
  indirect case endStale(any Seat, SeatEnding, Refresh)
  case progress([any Seat], LoadProgress)
  /// Load again after a wait.
  case retry(HandlerID, attempts: Int, after: Duration)
  /// A host may be asked again after this.
  case startTransfers(after: Duration)
  /// Slots are free, and those who are called off together may not be gone yet. After no time: when the loader's thread
  /// comes to it.
  case refill(after: Duration)
  case sweep(after: Duration)
  case cancelTimer(ScheduledWork)
  /// Out of the tables: freed outside the lock, since leases and users' objects hang on it.
  case release(HandlerRecord)
  indirect case report(ObjectEvent)
  case call([@Sendable () -> Void])

  /// To be done before anybody is told: a slot that came free is filled, and a load's events keep their order.
  var goesFirst: Bool {
    switch self {
    case .attempt, .cancelAttempt, .beginExchange, .report: true
    default: false
    }
  }
}

/// A reference, since it is large and handed on a few times.
final class AttemptJob: Sendable {
  let handler: HandlerID
  let number: Int
  let key: HandlerKey
  let request: LoadRequest
  let isConditional: Bool
  let output: OutputTarget?
  /// Why it has to be loaded.
  let reason: AnswerReason
  /// `CoreState.recalls` when the handler began.
  let recallNumber: UInt64
  let ticket: AttemptTicket
  /// Shows how far it is.
  let face: Handler

  init(
    handler: HandlerID, number: Int, key: HandlerKey, request: LoadRequest, isConditional: Bool, output: OutputTarget?,
    reason: AnswerReason, recallNumber: UInt64, ticket: AttemptTicket, face: Handler
  ) {
    self.handler = handler
    self.number = number
    self.key = key
    self.request = request
    self.isConditional = isConditional
    self.output = output
    self.reason = reason
    self.recallNumber = recallNumber
    self.ticket = ticket
    self.face = face
  }
}

final class StoreJob: Sendable {
  let handler: HandlerID
  let key: HandlerKey
  let received: Received
  let times: LoadTimes
  let base: StoredBase?
  /// Why it had to be loaded.
  let reason: AnswerReason
  /// `CoreState.recalls` when the handler began.
  let recallNumber: UInt64

  init(
    handler: HandlerID, key: HandlerKey, received: Received, times: LoadTimes, base: StoredBase?, reason: AnswerReason,
    recallNumber: UInt64
  ) {
    self.handler = handler
    self.key = key
    self.received = received
    self.times = times
    self.base = base
    self.reason = reason
    self.recallNumber = recallNumber
  }
}

final class DecodeJob: Sendable {
  let handler: HandlerID
  let key: HandlerKey
  let representation: Representation
  let body: LoadedBody
  /// Any one of them will do.
  let seats: Few<any Seat>

  init(
    handler: HandlerID, key: HandlerKey, representation: Representation, body: LoadedBody, seats: Few<any Seat>
  ) {
    self.handler = handler
    self.key = key
    self.representation = representation
    self.body = body
    self.seats = seats
  }
}
