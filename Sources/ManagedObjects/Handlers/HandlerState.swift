/// One request of one user, as the rules see it.
struct SeatID: Hashable, Sendable {
  let number: UInt64
}

/// What happens to one id on its way, decided without doing: an event in, actions out.
///
///     waiting ─admitted→ lookingUp ─nothing→ loading ─received→ storing ─stored→ decoding ─→ finished
///                            └──────────── usable ────────────────────────────────┘
///
/// Invariants (checked by a random walk): every seat ends exactly once; a representation is decoded at most once for
/// one set of bytes; nothing is asked for after `finish`; without seats nothing is begun.
struct HandlerState: Sendable {
  enum Phase: Sendable, Equatable {
    /// For a place among the live handlers.
    case waiting
    case lookingUp
    case loading
    /// The body is whole and on its way into the cache: nobody may stop it any more.
    case storing
    case decoding
    case finished
  }

  /// What a seat wants. `representation` is nil for a prefetch: it is content when the bytes are here.
  struct Wish: Sendable {
    var representation: Representation?
    var priority = LoadPriority.normal
    /// It waits for its place rather than take another's, and so its handler is never bumped.
    var holdsPlace = false
  }

  enum Event: Sendable {
    case joined(SeatID, Wish)
    case left(SeatID, CancelReason)
    /// The seat's own time is over.
    case expired(SeatID, ObjectError)
    case reprioritized(SeatID, LoadPriority)
    case admitted
    /// A usable entry was found; its bytes are at hand.
    case foundUsable
    /// Nothing usable: the bytes must be loaded.
    case foundNothing
    case received
    /// The load failed, and what is stored stands in for it.
    case fellBack
    /// 304, but what it speaks of is gone: load once more.
    case lostBytes
    case stored
    case failed(ObjectError)
    case decoded(Representation, Decoded)
    /// Nobody whom the decode was for is alive any more.
    case decodeAbandoned(Representation)
    /// The manager's own reasons: bumped, closed.
    case cancelled(CancelReason)
  }

  enum Decoded: Sendable {
    case made
    case failed(ObjectError)
  }

  enum Action: Sendable {
    case lookUp
    case load
    case stopLoad
    case store
    case decode(Representation)
    case end([SeatID], How)
    /// Leave the table and the FIFO; nothing follows.
    case finish
  }

  enum How: Sendable {
    /// With the object of their representation.
    case ready
    /// A prefetch: the bytes are here.
    case content
    case failed(ObjectError)
    case cancelled(CancelReason)
  }

  private enum Work: Sendable {
    case running
    case done(Decoded)
  }

  /// How many seats have each priority, and how many hold a place: counted along, so that no step has to look at
  /// every seat of a crowd.
  private struct Tally: Sendable {
    private var counts = [Int](repeating: 0, count: LoadPriority.allCases.count)
    private var holding = 0

    var highest: LoadPriority? { counts.lastIndex { $0 > 0 }.flatMap { LoadPriority(rawValue: $0) } }
    var holdsPlace: Bool { holding > 0 }

    mutating func count(_ wish: Wish, _ step: Int) {
      counts[wish.priority.rawValue] += step
      if wish.holdsPlace { holding += step }
    }
  }

  private(set) var phase = Phase.waiting
  private(set) var seats: [SeatID: Wish] = [:]
  private var tally = Tally()
  private var decodes: [Representation: Work] = [:]
  private let whenLastLeaves: Policy.WhenLastLeaves

  init(whenLastLeaves: Policy.WhenLastLeaves = .cancel) { self.whenLastLeaves = whenLastLeaves }

  /// The highest of its seats; `.veryLow` where nobody is left.
  var priority: LoadPriority { tally.highest ?? .veryLow }
  /// Whether somebody waited for its place, so that it may not be bumped.
  var holdsPlace: Bool { tally.holdsPlace }
  /// Whether bytes were to be made into objects at all.
  var hasDecodes: Bool { !decodes.isEmpty }
  /// True where every representation that was tried failed.
  var isUndecodable: Bool {
    !decodes.isEmpty
      && decodes.values.allSatisfy {
        if case .done(.failed(let error)) = $0 { error.code == .undecodable } else { false }
      }
  }

  mutating func handle(_ event: Event) -> [Action] {
    guard phase != .finished else { return [] }
    switch event {
    case .joined(let seat, let wish): return join(seat, wish)
    case .left(let seat, let reason): return drop(seat, .cancelled(reason))
    case .expired(let seat, let error): return drop(seat, .failed(error))
    case .reprioritized(let seat, let priority):
      guard var wish = seats[seat] else { return [] }
      wish.priority = priority
      set(seat, to: wish)
      return []
    case .admitted: return move(from: .waiting, to: .lookingUp, [.lookUp])
    case .foundNothing: return move(from: .lookingUp, to: .loading, [.load])
    case .foundUsable: return phase == .lookingUp ? decodeAll() : []
    case .received: return move(from: .loading, to: .storing, [.store])
    case .fellBack: return phase == .loading ? decodeAll() : []
    case .lostBytes: return move(from: .storing, to: .loading, [])
    case .stored: return phase == .storing ? decodeAll() : []
    case .failed(let error): return finish(.failed(error))
    case .decoded(let representation, let result): return decoded(representation, result)
    case .decodeAbandoned(let representation): return decodeAgain(representation)
    case .cancelled(let reason): return finish(.cancelled(reason))
    }
  }

  private mutating func move(from: Phase, to: Phase, _ actions: [Action]) -> [Action] {
    guard phase == from else { return [] }
    phase = to
    return actions
  }

  private mutating func set(_ seat: SeatID, to wish: Wish?) {
    if let old = seats[seat] { tally.count(old, -1) }
    if let wish { tally.count(wish, 1) }
    seats[seat] = wish
  }

  private mutating func join(_ seat: SeatID, _ wish: Wish) -> [Action] {
    set(seat, to: wish)
    guard phase == .decoding else { return [] }
    guard let representation = wish.representation else { return end([seat], .content) + finishIfDone() }
    switch decodes[representation] {
    case nil: return startDecode(representation)
    case .running: return []
    case .done(.made): return end([seat], .ready)
    case .done(.failed(let error)): return end([seat], .failed(error))
    }
  }

  private mutating func drop(_ seat: SeatID, _ how: How) -> [Action] {
    guard seats[seat] != nil else { return [] }
    let actions = end([seat], how)
    let goesOn = whenLastLeaves == .finish && [.lookingUp, .loading].contains(phase)
    return seats.isEmpty && !goesOn ? actions + close() : actions
  }

  /// The bytes are here.
  private mutating func decodeAll() -> [Action] {
    phase = .decoding
    // One seat: nearly always so.
    if seats.count == 1, let representation = seats.first?.value.representation { return startDecode(representation) }
    let content = sorted { $0.representation == nil }
    let wanted = Set(seats.values.compactMap(\.representation))
    return end(content, .content) + wanted.flatMap { startDecode($0) } + finishIfDone()
  }

  private mutating func startDecode(_ representation: Representation) -> [Action] {
    decodes[representation] = .running
    return [.decode(representation)]
  }

  private mutating func decoded(_ representation: Representation, _ result: Decoded) -> [Action] {
    guard phase == .decoding, case .running = decodes[representation] else { return [] }
    decodes[representation] = .done(result)
    let told = sorted { $0.representation == representation }
    let how: How = if case .failed(let error) = result { .failed(error) } else { .ready }
    var actions = end(told, how)
    actions += finishIfDone()
    return actions
  }

  /// For those who came after the decode was begun.
  private mutating func decodeAgain(_ representation: Representation) -> [Action] {
    guard phase == .decoding, case .running = decodes[representation] else { return [] }
    decodes[representation] = nil
    let isWanted = seats.values.contains { $0.representation == representation }
    return isWanted ? startDecode(representation) : []
  }

  private mutating func finishIfDone() -> [Action] {
    seats.isEmpty ? close() : []
  }

  private mutating func finish(_ how: How) -> [Action] {
    let told = sorted { _ in true }
    return end(told, how) + close()
  }

  private mutating func close() -> [Action] {
    defer { phase = .finished }
    return phase == .loading ? [.stopLoad, .finish] : [.finish]
  }

  private mutating func end(_ ended: [SeatID], _ how: How) -> [Action] {
    for seat in ended { set(seat, to: nil) }
    return ended.isEmpty ? [] : [.end(ended, how)]
  }

  /// In the order of their joining.
  private func sorted(where isWanted: (Wish) -> Bool) -> [SeatID] {
    if seats.count == 1, let only = seats.first { return isWanted(only.value) ? [only.key] : [] }
    return seats.filter { isWanted($0.value) }.keys.sorted { $0.number < $1.number }
  }
}
