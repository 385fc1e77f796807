/// How the request of a user ends, and how far that has come. Knows no user's type: what is generic is slow where it is
/// not specialised.
private struct UserEnding: Sendable {
  private enum Phase: Sendable {
    case waiting
    /// Decided and scheduled.
    case set(SeatEnding)
    /// Its callback runs, has run, or never will because the user is gone.
    case over
  }

  private var phase = Phase.waiting
  /// The newest that was not shown yet.
  private var progress: LoadProgress?

  var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  /// False: it was set before.
  mutating func set(_ ending: SeatEnding) -> Bool {
    guard isWaiting else { return false }
    phase = .set(ending)
    return true
  }

  /// True: it ends so. False: its user had taken it back before. nil: its ending has begun to run.
  mutating func cancel(_ reason: CancelReason) -> Bool? {
    switch phase {
    case .over: return nil
    case .set(.cancelled(.left)), .set(.cancelled(.superseded)): return false
    case .waiting, .set:
      phase = .set(.cancelled(reason))
      return true
    }
  }

  /// Its callback is about to run. nil: it has run already.
  mutating func take() -> SeatEnding? {
    guard case .set(let ending) = phase else { return nil }
    phase = .over
    return ending
  }

  /// True: whoever shows it is to be called.
  mutating func note(_ news: LoadProgress) -> Bool {
    guard isWaiting else { return false }
    defer { progress = news }
    return progress == nil
  }

  mutating func takeProgress() -> LoadProgress? {
    defer { progress = nil }
    switch phase {
    case .over, .set(.cancelled): return nil
    case .waiting, .set: return progress
    }
  }
}

/// The seat of a `ManagedUser`, whom it holds weakly.
///
/// An ending is first set, then run as a callback. Until it runs, `leave` and `supersede` may still put their own in its
/// place, so an object that is already on its way to a reused user is never delivered to it.
final class UserSeat<User: ManagedUser>: CancellableSeat {
  let id: SeatID
  let representation: Representation?
  let request: ObjectRequest
  private weak let user: User?
  private let desk: UserDesk
  private let ending = Lock(UserEnding())

  init(_ user: User, _ id: SeatID, _ request: ObjectRequest, at desk: UserDesk) {
    self.user = user
    self.id = id
    self.request = request
    self.desk = desk
    representation = user.representation
  }

  var wantsProgress: Bool { true }
  var decodesInline: Bool { false }
  var mayDie: Bool { true }
  var isAlive: Bool { user != nil }
  var wantsUpdates: Bool { user?.wantsUpdates ?? false }

  func decode(_ loaded: Loaded) throws -> DecodedObject? {
    guard let user else { return nil }
    let object = try user.readyFromLoaded(loaded)
    return DecodedObject(box: ObjectBox(object), cost: user.memoryCost(of: object, from: loaded))
  }

  func seatForUpdate(_ id: SeatID, after generation: UInt64) -> (any Seat)? {
    guard let user, user.wantsUpdates else { return nil }
    let update = UpdateSeat(user, id, request, representation, after: generation, at: desk)
    guard desk.reserve(update, behind: self) else { return nil }
    let isWaiting = ending.withLock { $0.isWaiting }
    if !isWaiting { _ = desk.finish(update) }
    return isWaiting ? update : nil
  }

  func end(_ ending: SeatEnding, from caller: Caller) {
    if self.ending.withLock({ $0.set(ending) }) { schedule(from: caller) }
  }

  func cancel(_ reason: CancelReason, from caller: Caller) -> Bool {
    let (isInTime, former) = ending.withLock { ending in
      let former = ending
      return (ending.cancel(reason), former)
    }
    return withExtendedLifetime(former) {
      guard let isInTime else { return false }
      // It may be scheduled already, but elsewhere and later: run it from here too, the first to come takes it.
      schedule(from: caller)
      return isInTime
    }
  }

  func progressed(_ progress: LoadProgress) {
    guard ending.withLock({ $0.note(progress) }), let user else { return }
    desk.callbacks.post(user.delivery, here: false) { [self] in showProgress() }
  }

  private func showProgress() {
    if let progress = ending.withLock({ $0.takeProgress() }) { user?.progressed(progress) }
  }

  private func schedule(from caller: Caller) {
    guard let user else { return abandon() }
    let delivery = user.delivery
    let here = if case .user(let actor) = caller { delivery.allows(actor) } else { false }
    desk.callbacks.post(delivery, here: here) { [self] in runEnding() }
  }

  private func runEnding() {
    guard let ending = ending.withLock({ $0.take() }) else { return }
    desk.vacate(self)
    user?.ended(Ending(request: request, outcome: outcome(ending)))
    desk.leave()
  }

  private func abandon() {
    let old = ending.withLock { ending in
      _ = ending.set(.cancelled(.left))
      return ending.take()
    }
    guard let old else { return }
    withExtendedLifetime(old) { desk.vacate(self) }
    desk.leave()
  }

  private func outcome(_ ending: SeatEnding) -> Ending<User.Object>.Outcome {
    switch ending {
    case .ready(let box, let delivered):
      if let box = box as? ObjectBox<User.Object> { return .ready(box.object, delivered.source) }
      return .failed(ObjectError(.undecodable, "Another type was decoded under the same representation."))
    case .content: return .failed(ObjectError(.undecodable, "Only the bytes were asked for."))
    case .failed(let error): return .failed(error)
    case .cancelled(let reason): return .cancelled(reason)
    }
  }
}
