/// The users that have a request under way, by identity: which request each has now, and its callback queue.
///
/// An identity may be reused after its user died, so what is found is compared before it is changed. A user's desk
/// stays until its last callback has returned, and until every request that was made there has ended, the superseded ones
/// too: whoever manages it meanwhile, on whatever thread, gets the same queue.
final class UserRegistry: Sendable {
  let trampoline = Trampoline()
  private let desks = Lock<[ObjectIdentifier: UserDesk]>([:])

  /// Makes a new seat the user's request of now. Gives back the one before, and the one that waits for an update, both of
  /// which the caller has to end.
  func seat<NewSeat: CancellableSeat>(
    _ user: AnyObject, _ make: (UserDesk) -> NewSeat
  ) -> (seat: NewSeat, former: UserDesk.Former) {
    let key = ObjectIdentifier(user)
    while true {
      let desk = desks.withLock { desks in
        if let desk = desks[key] { return desk }
        let desk = UserDesk(key, self)
        desks[key] = desk
        return desk
      }
      let seat = make(desk)
      if let former = desk.take(seat) { return (seat, former) }
    }
  }

  /// Runs a callback of a user that has nothing under way, here and now, as one that was posted would be.
  /// - Returns: false: it has, or this thread is inside a callback; nothing was run.
  func runAtOnce(for user: AnyObject, _ callback: () -> Void) -> Bool {
    var hasRun = false
    _ = trampoline.runAtOnce {
      guard let desk = openRunning(ObjectIdentifier(user)) else { return }
      callback()
      desk.callbacks.runWaiting()
      desk.leave()
      hasRun = true
    }
    return hasRun
  }

  /// A desk whose queue runs a callback from the beginning, for one who leaves it afterwards. nil: there is one.
  private func openRunning(_ key: ObjectIdentifier) -> UserDesk? {
    desks.withLock { desks in
      guard desks[key] == nil else { return nil }
      let desk = UserDesk(runningFor: key, self)
      desks[key] = desk
      return desk
    }
  }

  /// The user's request of now; never that of a dead user of the same identity.
  func current(_ user: AnyObject) -> (any CancellableSeat)? {
    current(ObjectIdentifier(user)).flatMap { $0.isAlive ? $0 : nil }
  }

  /// The request of a user that has just died; nil where it had none.
  func orphaned(_ user: ObjectIdentifier) -> (any CancellableSeat)? {
    current(user).flatMap { $0.isAlive ? nil : $0 }
  }

  private func current(_ user: ObjectIdentifier) -> (any CancellableSeat)? { desks.withLock { $0[user] }?.current }

  /// The seat that waits for an update on behalf of the user, which now waits no more; nil: there was none.
  func takeUpdate(of user: AnyObject) -> (any Seat)? {
    guard let desk = desks.withLock({ $0[ObjectIdentifier(user)] }) else { return nil }
    let update = desk.takeUpdate()
    desk.closeIfUnused()
    return update
  }

  fileprivate func remove(_ desk: UserDesk) {
    let old = desks.withLock { desks in
      let old = desks[desk.key]
      if old === desk { desks[desk.key] = nil }
      return old
    }
    withExtendedLifetime(old) {}
  }
}

/// One user's place in the registry.
final class UserDesk: Sendable {
  private struct State: Sendable {
    var seat: (any CancellableSeat)?
    /// How many were here whose callback has not returned: the seat, superseded ones, one that is told at once, an update.
    var present = 0
    /// The last request ended with a stale object, and this waits for what the refresh brings.
    var update: (any Seat)?
    /// Removed from the registry: nobody may sit down here any more.
    var isClosed = false
  }

  /// What was there before; a struct, to tell "nobody" from "closed".
  struct Former: Sendable {
    let seat: (any CancellableSeat)?
    let update: (any Seat)?
  }

  let callbacks: CallbackQueue
  fileprivate let key: ObjectIdentifier
  private let registry: UserRegistry
  private let state: Lock<State>

  fileprivate init(_ key: ObjectIdentifier, _ registry: UserRegistry) {
    self.key = key
    self.registry = registry
    callbacks = CallbackQueue(registry.trampoline)
    state = Lock(State())
  }

  fileprivate init(runningFor key: ObjectIdentifier, _ registry: UserRegistry) {
    self.key = key
    self.registry = registry
    callbacks = CallbackQueue(registry.trampoline, isRunning: true)
    state = Lock(State(present: 1))
  }

  var current: (any CancellableSeat)? { state.withLock { $0.seat } }

  /// nil: the desk was closed meanwhile.
  fileprivate func take(_ seat: any CancellableSeat) -> Former? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      let former = Former(seat: state.seat, update: state.update)
      state.seat = seat
      state.update = nil
      state.present += 1
      return former
    }
  }

  // MARK: Updates

  /// Before the seat's ending has begun to run. False: the user wants something else by now.
  func reserve(_ update: any Seat, behind seat: any CancellableSeat) -> Bool {
    state.withLock { state in
      guard state.seat === seat else { return false }
      state.update = update
      return true
    }
  }

  /// Right before the user is told, and when there is nothing to tell. False: it has left, or asked for something else.
  /// - Parameter tells: a callback of the user follows, and then `leave`.
  func finish(_ update: any Seat, tells: Bool = false) -> Bool {
    let old = state.withLock { state in
      let old = state.update
      if old === update {
        state.update = nil
        if tells { state.present += 1 }
      }
      return old
    }
    return withExtendedLifetime(old) { old === update }
  }

  fileprivate func takeUpdate() -> (any Seat)? {
    state.withLock { state in
      let update = state.update
      state.update = nil
      return update
    }
  }

  /// The seat's ending begins to run, or never will.
  func vacate(_ seat: any CancellableSeat) {
    let old = state.withLock { state in
      let old = state.seat
      if old === seat { state.seat = nil }
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// A seat's callback has returned, or there never will be one. Once for each.
  func leave() { close { $0.present -= 1 } }

  /// No update is awaited any more.
  func closeIfUnused() { close { _ in } }

  /// Unless somebody is there, or is yet to be told something.
  private func close(after change: (inout State) -> Void) {
    let isUnused = state.withLock { state in
      change(&state)
      guard state.present == 0, state.update == nil, !state.isClosed else { return false }
      state.isClosed = true
      return true
    }
    if isUnused { registry.remove(self) }
  }
}
