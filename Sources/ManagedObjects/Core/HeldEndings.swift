/// Endings that were decided on the thread that moves the bytes, to be told a few at a time.
///
/// Telling one wakes a thread of those who wait for it, which costs as much as the rest of a small load; a thread that is
/// woken for several costs little more than for one. They are told when the thread has gone once through what it has,
/// or when there are enough of them to keep somebody busy meanwhile.
final class HeldEndings: Sendable {
  typealias Held = (seat: any Seat, ending: SeatEnding)

  private struct State: Sendable {
    var held: [Held] = []
    /// Somebody is about to tell them.
    var isDue = false
  }

  enum Turn: Equatable { case wait, makeDue, tell }

  static let limit = 16
  private let state = Lock(State())

  /// What to do now.
  func add(_ seat: any Seat, _ ending: SeatEnding) -> Turn {
    state.withLock { state in
      state.held.append((seat, ending))
      if state.held.count >= Self.limit { return .tell }
      if state.isDue { return .wait }
      state.isDue = true
      return .makeDue
    }
  }

  /// In the order in which they came.
  /// - Parameter isDue: this is the call that was due.
  func take(isDue: Bool) -> [Held] {
    state.withLock { state in
      if isDue { state.isDue = false }
      defer { state.held = [] }
      return state.held
    }
  }
}
