/// A load in the background, and what was given stale meanwhile.
struct Refresh: Sendable {
  /// Of the request that was given it.
  let key: HandlerKey
  let locations: [String]
  /// Of the stale body.
  let generation: UInt64
}

/// Stale answers that are given at once while one load in the background asks the server (RFC 5861 section 3).
///
/// That load is a handler like any other, under a key of its own, so that there is one for all who are given the stale
/// object meanwhile. A seat of the manager's holds it: it waits for its place, is never bumped, and is given up at
/// shutdown or when the policy's time is over, as all who join it are. Beside that seat sit the users that asked to be told, and decoders whose object is kept.
extension Core {
  func mayServeStale(_ facts: EntryFacts, _ key: HandlerKey) -> Bool {
    key.mode == .standard && key.freshness == .http && !key.isRefresh && !facts.isInvalidated
      && StaleRule.mayAnswer(with: facts, on: .revalidating, freshness: key.freshness, now: time.wallNow)
      && !CacheControl(key.fields).restrictsAge && !isSuspect(key)
  }

  /// From memory only where that is all there is, since a file may be newer; and only to whoever has what the refresh brings
  /// decoded, since without files its bytes are not kept. The refresh is then up to that seat.
  func mayServeStale(_ ready: ReadyObject, _ key: HandlerKey, _ seat: any Seat) -> Bool {
    backend == nil && seat.wantsUpdates && mayServeStale(ready.facts, key)
  }

  /// The manager's own seat, whoever else joins.
  func begin(_ refresh: Refresh) {
    let seat = PrefetchSeat(makeSeatID()) { _ in }
    join(refresh, seat)
  }

  /// Ends it with the stale object. Its place in the refresh is taken before, and the update comes after.
  func end(_ seat: any Seat, _ ending: SeatEnding, awaiting refresh: Refresh, from caller: Caller) {
    let update = seat.seatForUpdate(makeSeatID(), after: refresh.generation)
    seat.end(ending, from: caller)
    if let update { join(refresh, update) }
  }

  /// Calls when no refresh is under way.
  func whenRefreshed(_ call: @escaping @Sendable () -> Void) {
    step { state in
      guard state.isRefreshing else { return Few(.call([call])) }
      state.whenRefreshed.append(call)
      return Few()
    }
  }

  private func join(_ refresh: Refresh, _ seat: any Seat) {
    let joiner = CoreState.Joiner(
      seat: seat,
      wish: HandlerState.Wish(representation: seat.representation, priority: .low, holdsPlace: true),
      locations: refresh.locations, whenFull: .wait, output: nil, hasReady: true)
    let hasJoined = stepForResult { state -> (Bool, Few<Work>) in
      guard let (_, work) = state.join(refresh.key.refreshing, joiner, now: time.now) else { return (false, Few()) }
      return (true, work)
    }
    guard hasJoined else { return seat.end(.cancelled(.closed), from: .library) }
    setDeadline(policy.timeout, seat)
  }
}
