/// The seat of a `ManagedUser`, whom it holds weakly.
///
/// An ending is first set, then run as a callback. Until it runs, `leave` and `supersede` may still put their own in its
/// place, so an object that is already on its way to a reused user is never delivered to it.
final class UserSeat<User: ManagedUser>: CancellableSeat {
  private enum Phase: Sendable {
    case waiting
    /// Decided and scheduled.
    case set(SeatEnding)
    /// Its callback runs, has run, or never will because the user is gone.
    case over
  }

  private struct State: Sendable {
    var phase = Phase.waiting
    /// The newest that was not shown yet.
    var progress: LoadProgress?
  }

  let id: SeatID
  let representation: Representation?
  let request: ObjectRequest
  private weak let user: User?
  private let desk: UserDesk
  private let state = Lock(State())

  init(_ user: User, _ id: SeatID, _ request: ObjectRequest, at desk: UserDesk) {
    self.user = user
    self.id = id
    self.request = request
    self.desk = desk
    representation = user.representation
  }

  var wantsProgress: Bool { true }
  var decodesInline: Bool { false }
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
    let isWaiting = state.withLock { if case .waiting = $0.phase { true } else { false } }
    if !isWaiting { _ = desk.finish(update) }
    return isWaiting ? update : nil
  }

  func end(_ ending: SeatEnding, from caller: Caller) {
    let isFirst = state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .set(ending)
      return true
    }
    if isFirst { schedule(from: caller) }
  }

  func cancel(_ reason: CancelReason, from caller: Caller) -> Bool {
    let isInTime = state.withLock { state -> Bool? in
      switch state.phase {
      case .over: return nil
      case .set(.cancelled(.left)), .set(.cancelled(.superseded)): return false
      case .waiting, .set:
        state.phase = .set(.cancelled(reason))
        return true
      }
    }
    guard let isInTime else { return false }
    // It may be scheduled already, but elsewhere and later: run it from here too, the first to come takes it.
    schedule(from: caller)
    return isInTime
  }

  func progressed(_ progress: LoadProgress) {
    let isFirst = state.withLock { state in
      guard case .waiting = state.phase else { return false }
      defer { state.progress = progress }
      return state.progress == nil
    }
    guard isFirst, let user else { return }
    desk.callbacks.post(user.delivery, here: false) { [self] in showProgress() }
  }

  private func showProgress() {
    let progress =
      state.withLock { state in
        defer { state.progress = nil }
        switch state.phase {
        case .over, .set(.cancelled): return nil
        case .waiting, .set: return state.progress
        }
      } as LoadProgress?
    if let progress { user?.progressed(progress) }
  }

  private func schedule(from caller: Caller) {
    guard let user else { return abandon() }
    let delivery = user.delivery
    let here = if case .user(let actor) = caller { delivery.allows(actor) } else { false }
    desk.callbacks.post(delivery, here: here) { [self] in runEnding() }
  }

  private func runEnding() {
    let ending = state.withLock { state -> SeatEnding? in
      guard case .set(let ending) = state.phase else { return nil }
      state.phase = .over
      return ending
    }
    guard let ending else { return }
    desk.vacate(self)
    user?.ended(Ending(request: request, outcome: outcome(ending)))
    desk.closeIfUnused()
  }

  private func abandon() {
    let old = state.withLock { state in
      let old = state
      state.phase = .over
      return old
    }
    withExtendedLifetime(old) { desk.vacate(self) }
    desk.closeIfUnused()
  }

  private func outcome(_ ending: SeatEnding) -> Ending<User.Object>.Outcome {
    switch ending {
    case .ready(let box, let delivered):
      if let object = box.object(as: User.Object.self) { return .ready(object, delivered.source) }
      return .failed(ObjectError(.undecodable, "Another type was decoded under the same representation."))
    case .content: return .failed(ObjectError(.undecodable, "Only the bytes were asked for."))
    case .failed(let error): return .failed(error)
    case .cancelled(let reason): return .cancelled(reason)
    }
  }
}
