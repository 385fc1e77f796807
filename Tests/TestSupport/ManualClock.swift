package import ManagedObjects

/// Time that a test turns by hand. Nothing runs but inside `advance`, on the calling thread, in order of time.
///
/// Two kinds of time, as in life: `now` only ever goes forward by `advance`; `wallNow` goes along with it and can be set
/// to anything besides.
package final class ManualClock: TimeSource {
  private struct Entry: Sendable {
    let id: Int
    let due: Moment
    let work: @Sendable () -> Void
  }

  private struct State: Sendable {
    var now: Moment
    var wallNow: WallTime
    /// In order of time; those of one time in the order in which they were scheduled.
    var entries: [Entry] = []
    var lastID = 0
  }

  private let state: Watched<State>

  /// - Parameter wallNow: by default 2026-01-01 00:00 UTC.
  package init(wallNow: WallTime = WallTime(seconds: 1_767_225_600)) {
    state = Watched(State(now: .now, wallNow: wallNow))
  }

  package var now: Moment { state.value.now }

  package var wallNow: WallTime {
    get { state.value.wallNow }
    set { state.update { $0.wallNow = newValue } }
  }

  /// Work that waits for its time.
  package var scheduledCount: Int { state.value.entries.count }

  /// Time until the next work is due, zero where it is overdue; nil: none waits.
  package var nextDue: Duration? {
    let state = state.value
    return state.entries.first.map { max(.zero, $0.due - state.now) }
  }

  package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledWork {
    let id = state.update { state in
      state.lastID += 1
      let entry = Entry(id: state.lastID, due: state.now + max(.zero, delay), work: work)
      let at = state.entries.firstIndex { $0.due > entry.due } ?? state.entries.endIndex
      state.entries.insert(entry, at: at)
      return entry.id
    }
    return ScheduledWork { [weak self] in self?.cancel(id) }
  }

  private func cancel(_ id: Int) {
    // The work, and what it captured, outlives the lock.
    let cancelled = state.update { state in
      let at = state.entries.firstIndex { $0.id == id }
      return at.map { state.entries.remove(at: $0) }
    }
    withExtendedLifetime(cancelled) {}
  }

  /// Lets time pass and runs what falls due, each at its own time, also what that work schedules meanwhile.
  /// By zero: runs what is due now.
  package func advance(by duration: Duration = .zero) {
    let end = state.value.now + duration
    while let entry = takeFirst(until: end) { entry.work() }
    state.update { Self.move(&$0, to: end) }
  }

  private func takeFirst(until end: Moment) -> Entry? {
    state.update { state in
      guard let first = state.entries.first, first.due <= end else { return nil }
      Self.move(&state, to: first.due)
      return state.entries.removeFirst()
    }
  }

  private static func move(_ state: inout State, to time: Moment) {
    guard time > state.now else { return }
    state.wallNow = state.wallNow + (time - state.now)
    state.now = time
  }

  /// Waits until so many pieces of work are scheduled.
  package func waitForScheduled(_ count: Int = 1, seconds: Double = 10) async throws {
    try await state.wait(for: "\(count) scheduled", seconds: seconds) { $0.entries.count >= count }
  }

  /// The same for code that is not async; blocks the thread.
  package func waitForScheduled(_ count: Int = 1, seconds: Double = 10) throws {
    try state.wait(for: "\(count) scheduled", seconds: seconds) { $0.entries.count >= count }
  }
}
