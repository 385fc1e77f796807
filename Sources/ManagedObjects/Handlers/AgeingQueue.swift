/// Who waits, by priority: first in, first out inside a level; whoever waits long rises, so that nobody starves.
///
/// A waiting one counts a level higher for every `step` it has waited. Adding, removing and taking are amortised
/// O(1): removed ones stay in their lane until it passes them.
struct AgeingQueue<ID: Numbered>: Sendable {
  private struct Place: Sendable {
    let id: ID
    let ticket: UInt64
    let since: Moment
  }

  private struct Lane: Sendable {
    var places: [Place] = []
    var head = 0

    mutating func keep(_ isKept: (Place) -> Bool) {
      places = places[head...].filter(isKept)
      head = 0
    }

    mutating func dropHead() {
      head += 1
      if head > 64, head * 2 > places.count {
        places.removeFirst(head)
        head = 0
      }
    }
  }

  private let step: Duration
  private var lanes = [Lane](repeating: Lane(), count: LoadPriority.allCases.count)
  private var tickets = NumberMap<ID, (ticket: UInt64, priority: LoadPriority, since: Moment)>()
  private var lastTicket: UInt64 = 0

  init(step: Duration = .seconds(5)) { self.step = step }

  var count: Int { tickets.count }
  var isEmpty: Bool { tickets.isEmpty }

  mutating func append(_ id: ID, _ priority: LoadPriority, at now: Moment) {
    guard tickets[id] == nil else { return changePriority(id, to: priority) }
    place(id, priority, since: now)
  }

  /// True: it was waiting.
  @discardableResult mutating func remove(_ id: ID) -> Bool { tickets.removeValue(forKey: id) != nil }

  /// Moves behind those who wait at that level, but keeps its age.
  mutating func changePriority(_ id: ID, to priority: LoadPriority) {
    guard let old = tickets[id], old.priority != priority else { return }
    place(id, priority, since: old.since)
  }

  /// Takes the one whose turn it is.
  mutating func popFirst(at now: Moment) -> ID? {
    var best: (level: Int, rank: Double, ticket: UInt64, id: ID)?
    for level in lanes.indices {
      guard let first = head(of: level) else { continue }
      let rank = Double(level) + ((now - first.since) / step).rounded(.down)
      if best.map({ rank > $0.rank || (rank == $0.rank && first.ticket < $0.ticket) }) ?? true {
        best = (level, rank, first.ticket, first.id)
      }
    }
    guard let best else { return nil }
    lanes[best.level].dropHead()
    tickets[best.id] = nil
    return best.id
  }

  private mutating func place(_ id: ID, _ priority: LoadPriority, since: Moment) {
    lastTicket += 1
    tickets[id] = (lastTicket, priority, since)
    lanes[priority.rawValue].places.append(Place(id: id, ticket: lastTicket, since: since))
    dropRemoved(from: priority.rawValue)
  }

  /// Each time is paid for by as many that were removed: those behind a head that waits for long must not pile up.
  private mutating func dropRemoved(from level: Int) {
    guard lanes[level].places.count > 2 * tickets.count + 64 else { return }
    let current = tickets
    lanes[level].keep { current[$0.id]?.ticket == $0.ticket }
  }

  /// The first of a lane that still waits there.
  private mutating func head(of level: Int) -> Place? {
    while lanes[level].head < lanes[level].places.count {
      let place = lanes[level].places[lanes[level].head]
      if tickets[place.id]?.ticket == place.ticket { return place }
      lanes[level].dropHead()
    }
    return nil
  }
}
