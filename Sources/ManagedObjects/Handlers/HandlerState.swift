/// One request of one user, as the rules see it.
struct SeatID: Numbered {
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
    indirect case expired(SeatID, ObjectError)
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
    indirect case failed(ObjectError)
    case decoded(Representation, Decoded)
    /// Nobody whom the decode was for is alive any more.
    case decodeAbandoned(Representation)
    /// The manager's own reasons: bumped, closed.
    case cancelled(CancelReason)
  }

  enum Decoded: Sendable {
    case made
    indirect case failed(ObjectError)
  }

  enum Action: Sendable {
    case lookUp
    case load
    /// Abandoned: all who wanted it have left.
    case stopLoad(isAbandoned: Bool)
    case store
    case decode(Representation)
    case end(Few<SeatID>, How)
    /// Leave the table and the FIFO; nothing follows.
    case finish
  }

  enum How: Sendable {
    /// With the object of their representation.
    case ready
    /// A prefetch: the bytes are here.
    case content
    indirect case failed(ObjectError)
    case cancelled(CancelReason)
  }

  private enum Work: Sendable {
    case running
    case done(Decoded)
  }

  /// How many seats have each priority, and how many hold a place: counted along, so that no step has to look at
  /// every seat of a crowd.
  private struct Tally: Sendable {
    /// One for each priority.
    private var counts = InlineArray<5, Int32>(repeating: 0)
    private var holding: Int32 = 0

    var highest: LoadPriority? { LoadPriority.allCases.last { counts[$0.rawValue] > 0 } }
    var holdsPlace: Bool { holding > 0 }

    mutating func count(_ wish: Wish, _ step: Int32) {
      counts[wish.priority.rawValue] += step
      if wish.holdsPlace { holding += step }
    }
  }

  private(set) var phase = Phase.waiting
  private(set) var seats = FewMap<SeatID, Wish>()
  private var tally = Tally()
  private var decodes = FewMap<Representation, Work>()
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
      && decodes.allSatisfy {
        if case .done(.failed(let error)) = $0.value { error.code == .undecodable } else { false }
      }
  }

  /// What is to be done, in that order.
  mutating func handle(_ event: Event) -> Few<Action> {
    var actions = Few<Action>()
    if phase != .finished { take(event, &actions) }
    return actions
  }

  private mutating func take(_ event: Event, _ actions: inout Few<Action>) {
    switch event {
    case .joined(let seat, let wish): join(seat, wish, &actions)
    case .left(let seat, let reason): drop(seat, .cancelled(reason), &actions)
    case .expired(let seat, let error): drop(seat, .failed(error), &actions)
    case .reprioritized(let seat, let priority):
      guard var wish = seats[seat] else { return }
      wish.priority = priority
      set(seat, to: wish)
    case .admitted: move(from: .waiting, to: .lookingUp, .lookUp, &actions)
    case .foundNothing: move(from: .lookingUp, to: .loading, .load, &actions)
    case .foundUsable: if phase == .lookingUp { decodeAll(&actions) }
    case .received: move(from: .loading, to: .storing, .store, &actions)
    case .fellBack: if phase == .loading { decodeAll(&actions) }
    case .lostBytes: move(from: .storing, to: .loading, nil, &actions)
    case .stored: if phase == .storing { decodeAll(&actions) }
    case .failed(let error): finish(.failed(error), &actions)
    case .decoded(let representation, let result): decoded(representation, result, &actions)
    case .decodeAbandoned(let representation): decodeAgain(representation, &actions)
    case .cancelled(let reason): finish(.cancelled(reason), &actions)
    }
  }

  private mutating func move(from: Phase, to: Phase, _ action: Action?, _ actions: inout Few<Action>) {
    guard phase == from else { return }
    phase = to
    if let action { actions.append(action) }
  }

  private mutating func set(_ seat: SeatID, to wish: Wish?) {
    if let old = seats[seat] { tally.count(old, -1) }
    if let wish { tally.count(wish, 1) }
    seats[seat] = wish
  }

  private mutating func join(_ seat: SeatID, _ wish: Wish, _ actions: inout Few<Action>) {
    set(seat, to: wish)
    guard phase == .decoding else { return }
    guard let representation = wish.representation else {
      end(Few(seat), .content, &actions)
      return finishIfDone(&actions)
    }
    switch decodes[representation] {
    case nil: startDecode(representation, &actions)
    case .running: break
    case .done(.made): end(Few(seat), .ready, &actions)
    case .done(.failed(let error)): end(Few(seat), .failed(error), &actions)
    }
  }

  private mutating func drop(_ seat: SeatID, _ how: How, _ actions: inout Few<Action>) {
    guard seats[seat] != nil else { return }
    end(Few(seat), how, &actions)
    let goesOn = whenLastLeaves == .finish && (phase == .lookingUp || phase == .loading)
    if seats.isEmpty, !goesOn { close(isAbandoned: true, &actions) }
  }

  /// The bytes are here.
  private mutating func decodeAll(_ actions: inout Few<Action>) {
    phase = .decoding
    // One seat: nearly always so.
    if let only = seats.only, let representation = only.value.representation {
      return startDecode(representation, &actions)
    }
    let wanted = Set(seats.compactMap(\.value.representation))
    end(sorted { $0.representation == nil }, .content, &actions)
    for representation in wanted { startDecode(representation, &actions) }
    finishIfDone(&actions)
  }

  private mutating func startDecode(_ representation: Representation, _ actions: inout Few<Action>) {
    decodes[representation] = .running
    actions.append(.decode(representation))
  }

  private mutating func decoded(
    _ representation: Representation, _ result: Decoded, _ actions: inout Few<Action>
  ) {
    guard phase == .decoding, case .running = decodes[representation] else { return }
    decodes[representation] = .done(result)
    let how: How = if case .failed(let error) = result { .failed(error) } else { .ready }
    end(sorted { $0.representation == representation }, how, &actions)
    finishIfDone(&actions)
  }

  /// For those who came after the decode was begun.
  private mutating func decodeAgain(_ representation: Representation, _ actions: inout Few<Action>) {
    guard phase == .decoding, case .running = decodes[representation] else { return }
    decodes[representation] = nil
    let isWanted = seats.contains { $0.value.representation == representation }
    if isWanted { startDecode(representation, &actions) }
  }

  private mutating func finishIfDone(_ actions: inout Few<Action>) {
    if seats.isEmpty { close(&actions) }
  }

  private mutating func finish(_ how: How, _ actions: inout Few<Action>) {
    end(sorted { _ in true }, how, &actions)
    close(&actions)
  }

  private mutating func close(isAbandoned: Bool = false, _ actions: inout Few<Action>) {
    if phase == .loading { actions.append(.stopLoad(isAbandoned: isAbandoned)) }
    actions.append(.finish)
    phase = .finished
  }

  private mutating func end(_ ended: Few<SeatID>, _ how: How, _ actions: inout Few<Action>) {
    guard !ended.isEmpty else { return }
    for seat in ended { set(seat, to: nil) }
    actions.append(.end(ended, how))
  }

  /// In the order of their joining.
  private func sorted(where isWanted: (Wish) -> Bool) -> Few<SeatID> {
    if let only = seats.only { return isWanted(only.value) ? Few(only.key) : Few() }
    return Few(all: seats.filter { isWanted($0.value) }.map(\.key).sorted { $0.number < $1.number })
  }
}
