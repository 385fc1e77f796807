import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct CoreStateTests {
  @Test(.timeLimit(.minutes(1))) func `twenty thousand come to one handler and go, and no step looks at all of them`() {
    var room = StateRoom()
    let seats = (0..<20_000).map { _ in room.join("crowd").seat }
    #expect(room.state.handlers.count == 1)
    for seat in seats { room.note(room.state.leave(seat.id, .left, now: room.now)) }
    #expect(room.state.handlers.isEmpty && room.state.bySeat.isEmpty)
    #expect(seats.allSatisfy { $0.endings.elements == ["cancelled"] })
  }

  @Test func `who wants another form does not join an answer that brought no bytes`() throws {
    var room = StateRoom()
    let (_, old) = room.join("a")
    room.note(room.state.lookedUp(old, .base(StateRoom.base(of: "a")), now: room.now))
    room.endAttempt(of: old, .notModified(LoadHead(status: 304)))
    #expect(room.state.handlers[old]?.state.phase == .storing)
    let (same, other) = (room.join("a").handler, room.join("a", as: StateRoom.number).handler)
    #expect(same == old && other != old)
  }

  @Test func `when the manager is closed nobody is looked up or loaded in the place of those who went`() {
    var room = StateRoom {
      $0.limitLiveHandlers = 2
      $0.limitTransfersPerHost = 1
    }
    for name in ["a", "b"] {
      let handler = room.join(name, whenFull: .wait).handler
      room.note(room.state.lookedUp(handler, .nothing(.absent), now: room.now))
    }
    for name in ["c", "d"] { _ = room.join(name, whenFull: .wait) }
    room.begun = []
    room.note(room.state.close(now: room.now))
    #expect(room.begun.isEmpty)
    #expect(room.state.handlers.isEmpty && room.state.statistics.loads == 1)
  }

  @Test func `a handler none of whose decodes succeeded shows as failed`() throws {
    var room = StateRoom()
    let (_, id) = room.join("a")
    let handler = try #require(room.state.handlers[id]?.handler)
    room.note(room.state.lookedUp(id, .usable(StateRoom.body(of: "a")), now: room.now))
    let failure = ObjectError(.undecodable, "no")
    room.note(room.state.decoded(id, StateRoom.text, .failure(failure), decodes: 1, now: room.now))
    #expect(handler.state == .failed)
  }

  @Test func `of the users of the oldest handlers only a few are looked at, however many one has`() {
    var room = StateRoom { $0.limitLiveHandlers = 1 }
    for _ in 0..<500 { _ = room.join("a") }
    #expect(room.state.oldestSeats(limit: 64).count == 64)
  }

  @Test func `those who are called off together begin no load in each other's place`() {
    var room = StateRoom {
      $0.limitLiveHandlers = 20
      $0.limitTransfersPerHost = 1
    }
    let seats = (0..<50).map { room.join("\($0)", whenFull: .wait).seat }
    for id in room.state.live.ids { room.note(room.state.lookedUp(id, .nothing(.absent), now: room.now)) }
    #expect(room.begun.count { $0 == "attempt" } == 1)
    for seat in seats.prefix(49) { room.note(room.state.leave(seat.id, .left, now: room.now)) }
    #expect(room.begun.count { $0 == "attempt" } == 1 && room.begun.count { $0 == "refill" } == 1)
    // The one that stayed gets its place all the same, when no more leave.
    room.begun = []
    room.note(room.state.refill(now: room.now))
    #expect(room.begun == ["refill"])
    room.note(room.state.refill(now: room.now))
    #expect(room.begun == ["refill", "lookUp"] && room.state.live.count == 1)
  }

  @Test func `HTTP answers that are called off together begin none in each other's place`() {
    var room = StateRoom { $0.limitTransfersPerHost = 1 }
    let exchanges = (0..<50).compactMap { _ in room.enter() }
    #expect(room.begun == ["exchange"])
    for id in exchanges.prefix(49) {
      room.note(room.state.leave(exchange: id, isCalledOff: true, now: room.now))
    }
    #expect(room.begun == ["exchange", "refill"])
    for _ in 0..<2 { room.note(room.state.refill(now: room.now)) }
    #expect(room.begun.filter { $0 == "exchange" }.count == 2)
  }

  @Test func `what was made stale is joined by nobody who asks afterwards`() {
    var room = StateRoom()
    let first = room.join("a").handler
    #expect(room.join("a").handler == first)
    room.state.recalls.note(ObjectID("a"))
    let second = room.join("a").handler
    #expect(second != first && room.join("a").handler == second)
    #expect(room.state.handlers[first]?.seats.count == 2)
  }

  @Test func `the bytes of an error page are not counted for the attempt after it`() throws {
    var room = StateRoom(hasBackend: false)
    let (_, id) = room.join("a")
    let record = try #require(room.state.handlers[id])
    _ = record.handler.note(LoadProgress(receivedBytes: 500, expectedBytes: nil))
    room.endAttempt(of: id, .status(LoadHead(status: 503), ErrorBody()))
    room.note(room.state.retryDue(id, attempts: 1, now: room.now))
    #expect(record.load.attempts == 2)
    room.endAttempt(of: id, number: 2, .failure(ObjectError(.transport, "cut")))
    #expect(record.load.mostBytes == 0)
  }

  @Test func `without a backend a load begins in the step in which it is asked for`() {
    var room = StateRoom(hasBackend: false)
    _ = room.join("a")
    #expect(room.begun == ["attempt"])
  }

  @Test func `who joins after the first failure brings a mirror that is asked`() throws {
    var room = StateRoom(hasBackend: false)
    let id = room.join("a", locations: ["http://one/a"]).handler
    let record = try #require(room.state.handlers[id])
    room.endAttempt(of: id, .failure(ObjectError(.transport, "cut")))
    #expect(record.load.attempts == 2 && record.load.location == 0)
    #expect(room.join("a", locations: ["http://two/a"]).handler == id)
    room.endAttempt(of: id, number: 2, .failure(ObjectError(.transport, "cut")))
    #expect(record.load.attempts == 3 && record.load.location == 1)
  }

  @Test func `an oid with thousands of mirrors that are no urls ends with an error`() {
    var room = StateRoom()
    let (seat, id) = room.join("a", locations: (0..<5000).map { "no url \($0)" })
    room.note(room.state.lookedUp(id, .nothing(.absent), now: room.now))
    #expect(seat.endings.elements == ["failed"])
  }

  @Test func `requests that differ in a header field only are told apart without comparing each with each`() {
    let keys = (0..<100).map { number in
      HandlerKey(
        id: ObjectID("a"), scope: "", fields: ["X-Trace": "\(number)"], mode: .standard, freshness: .http,
        limitBytes: nil)
    }
    #expect(Set(keys.map(\.hashValue)).count > 90)
  }
}

/// A core's state without a core: what it asks for is noted, not done.
private struct StateRoom {
  static let text = Representation(of: String.self, variant: "text")
  static let number = Representation(of: Int.self, variant: "number")

  var state: CoreState
  let now = Moment.now
  /// Look-ups and attempts that were asked for.
  var begun: [String] = []
  private var lastSeat: UInt64 = 0

  init(hasBackend: Bool = true, _ change: (inout Policy) -> Void = { _ in }) {
    var policy = Policy()
    change(&policy)
    state = CoreState(CoreState.Settings(policy: policy, limitTransfers: 8, hasBackend: hasBackend))
  }

  mutating func join(
    _ name: String, as representation: Representation = Self.text, locations: [String]? = nil,
    whenFull: ObjectRequest.WhenFull = .bumpOldest
  ) -> (seat: NotedSeat, handler: HandlerID) {
    lastSeat += 1
    let seat = NotedSeat(lastSeat, representation)
    let key = HandlerKey(
      id: ObjectID(name), scope: "", fields: [:], mode: .standard, freshness: .http, limitBytes: nil)
    let joiner = CoreState.Joiner(
      seat: seat, wish: HandlerState.Wish(representation: representation, holdsPlace: whenFull == .wait),
      locations: locations ?? ["http://host/\(name)"], whenFull: whenFull, output: nil)
    if let (_, work) = state.join(key, joiner, now: now) { note(work) }
    return (seat, state.bySeat[seat.id]?.id ?? HandlerID(number: 0))
  }

  mutating func enter() -> HandlerID? {
    let (id, work) = state.enter(IdleTaker(), host: "host", priority: .normal, now: now)
    note(work)
    return id
  }

  mutating func note(_ work: Few<Work>) {
    for item in work {
      switch item {
      case .lookUp: begun.append("lookUp")
      case .attempt: begun.append("attempt")
      case .refill: begun.append("refill")
      case .beginExchange: begun.append("exchange")
      case .end(let seat, let ending): seat.end(ending, from: .library)
      default: break
      }
    }
  }

  mutating func endAttempt(of handler: HandlerID, number: Int = 1, _ outcome: LoadOutcome) {
    let time = WallTime(seconds: 1)
    let end = CoreState.AttemptEnd(outcome: outcome, times: LoadTimes(request: time, response: time))
    note(state.attemptEnded(handler, number: number, end, now: now) { 0 })
  }

  static func base(of name: String) -> StoredBase {
    StoredBase(
      facts: EntryFacts(head: LoadHead(fields: ["ETag": "\"1\""])), lease: nil, key: EntryKey(ObjectID(name)),
      conditions: ["If-None-Match": "\"1\""], recallCount: 0)
  }

  static func body(of name: String) -> LoadedBody {
    LoadedBody(
      loaded: Loaded(id: ObjectID(name), source: .file, bytes: Data([1])), facts: EntryFacts(head: LoadHead()),
      mayKeep: true, hasBytes: true)
  }
}

private final class IdleTaker: SlotTaker {
  func begin() {}
  func close() {}
}

private final class NotedSeat: Seat {
  let id: SeatID
  let representation: Representation?
  let endings = Collector<String>()

  init(_ number: UInt64, _ representation: Representation?) {
    id = SeatID(number: number)
    self.representation = representation
  }

  var wantsProgress: Bool { false }
  var decodesInline: Bool { false }
  var mayDie: Bool { true }
  var isAlive: Bool { true }
  func decode(_ loaded: Loaded) -> DecodedObject? { nil }
  func progressed(_ progress: LoadProgress) {}
  func end(_ ending: SeatEnding, from caller: Caller) {
    switch ending {
    case .ready, .content: endings.append("ready")
    case .failed: endings.append("failed")
    case .cancelled: endings.append("cancelled")
    }
  }
}
