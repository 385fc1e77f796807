/// The bounded FIFO of live handlers, and who waits outside for a place.
///
/// Counts handlers that are not finished, so there are no holes: a finished one gives its place back at once. A place
/// is renewed when somebody joins. Full, it either bumps the oldest that nobody waited for, or lets the newcomer wait.
struct LiveQueue<ID: Numbered>: Sendable {
  enum Admission: Sendable, Equatable {
    case admitted
    /// Admitted in the place of this one, which falls off the end.
    case admittedBumping(ID)
    case waits
  }

  private struct Place: Sendable {
    let id: ID
    let ticket: UInt64
  }

  let limit: Int
  private var places: [Place] = []
  private var head = 0
  private var tickets = NumberMap<ID, UInt64>()
  private var standings = NumberMap<ID, Standing>()
  private var lastTicket: UInt64 = 0
  private var outside = AgeingQueue<ID>()

  init(limit: Int) { self.limit = max(1, limit) }

  var count: Int { tickets.count }
  var waitingCount: Int { outside.count }
  var isFull: Bool { tickets.count >= limit }

  /// Oldest first.
  var ids: [ID] { places[head...].filter { tickets[$0.id] == $0.ticket }.map(\.id) }

  func contains(_ id: ID) -> Bool { tickets[id] != nil }

  mutating func enter(
    _ id: ID, _ whenFull: ObjectRequest.WhenFull, _ priority: LoadPriority, at now: Moment
  ) -> Admission {
    if tickets[id] != nil {
      take(id)
      return .admitted
    }
    // Those who wait came earlier.
    guard isFull || (!outside.isEmpty && whenFull == .wait) else {
      admit(id)
      return .admitted
    }
    if whenFull == .bumpOldest, let victim = victim() {
      leave(victim)
      admit(id)
      return .admittedBumping(victim)
    }
    outside.append(id, priority, at: now)
    return .waits
  }

  /// What speaks for and against bumping one.
  enum Standing: Sendable, Equatable {
    /// No user is left: it goes first.
    case hasNobody
    case bumpable
    /// Somebody waited for its place.
    case held
  }

  mutating func update(_ id: ID, _ priority: LoadPriority, _ standing: Standing) {
    standings[id] = standing
    outside.changePriority(id, to: priority)
  }

  /// Finished, bumped or given up, wherever it is.
  mutating func leave(_ id: ID) {
    tickets[id] = nil
    standings[id] = nil
    outside.remove(id)
    skipLeft()
  }

  /// Those whose turn has come; each has its place.
  mutating func admitWaiting(at now: Moment) -> [ID] {
    var admitted: [ID] = []
    while !isFull, let next = outside.popFirst(at: now) {
      take(next)
      admitted.append(next)
    }
    return admitted
  }

  /// Those with nobody left go first, then the oldest that may be bumped.
  private func victim() -> ID? {
    var oldest: ID?
    for place in places[head...] where tickets[place.id] == place.ticket {
      switch standings[place.id] ?? .bumpable {
      case .hasNobody: return place.id
      case .bumpable: oldest = oldest ?? place.id
      case .held: continue
      }
    }
    return oldest
  }

  private mutating func admit(_ id: ID) {
    outside.remove(id)
    take(id)
  }

  private mutating func take(_ id: ID) {
    lastTicket += 1
    tickets[id] = lastTicket
    places.append(Place(id: id, ticket: lastTicket))
    skipLeft()
    if places.count > 4 * tickets.count + 64 {
      places = places[head...].filter { tickets[$0.id] == $0.ticket }
      head = 0
    }
  }

  private mutating func skipLeft() {
    while head < places.count, tickets[places[head].id] != places[head].ticket { head += 1 }
    if head == places.count {
      places.removeAll(keepingCapacity: true)
      head = 0
    }
  }
}
