import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Walks at random through everything that can happen to a few handlers, doing what the core asks for in any order,
/// late or never, and checks what must always hold.
struct CoreWalkTests {
  @Test(arguments: 0..<40) func `whatever happens in whatever order, the rules hold`(seed: UInt64) {
    var walk = Walk(seed: seed)
    for _ in 0..<1500 { walk.step() }
    walk.drain()
    walk.checkEnd()
  }
}

private final class WalkSeat: Seat {
  let id: SeatID
  let representation: Representation?
  let endings = Lock(0)

  init(_ number: UInt64, _ representation: Representation?) {
    id = SeatID(number: number)
    self.representation = representation
  }

  var wantsProgress: Bool { false }
  var decodesInline: Bool { false }
  var mayDie: Bool { true }
  var isAlive: Bool { true }
  func decode(_ loaded: Loaded) -> DecodedObject? { nil }
  func end(_ ending: SeatEnding, from caller: Caller) {
    #expect(
      endings.withLock {
        $0 += 1
        return $0
      } == 1, "a second ending")
  }
  func progressed(_ progress: LoadProgress) {}
}

private struct Walk {
  private static let limitLive = 4
  private static let limitTransfers = 3
  private static let limitPerHost = 2

  private var random: SeededRandom
  private var state: CoreState
  private var now = Moment.now
  private var seats: [WalkSeat] = []
  /// Work that the core asked for and that nobody has done yet.
  private var open: [Work] = []
  private var running: [HandlerID: Int] = [:]
  private var decodesAsked: [String: Int] = [:]
  private var lastSeat: UInt64 = 0
  private let representations: [Representation?]

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
    representations = [
      Representation(of: String.self, variant: "a"), Representation(of: Int.self, variant: "b"), nil,
    ]
    var policy = Policy()
    policy.limitLiveHandlers = Self.limitLive
    policy.limitTransfersPerHost = Self.limitPerHost
    policy.whenLastLeaves = seed % 3 == 0 ? .finish : .cancel
    state = CoreState(
      CoreState.Settings(policy: policy, limitTransfers: Self.limitTransfers, hasBackend: seed % 4 != 0))
  }

  mutating func step() {
    now += .milliseconds(Int.random(in: 0...50, using: &random))
    switch Int.random(in: 0..<10, using: &random) {
    case 0...2: join()
    case 3: leave()
    case 4: expire()
    case 5: raise()
    default: if let index = open.indices.randomElement(using: &random) { perform(open.remove(at: index)) }
    }
    check()
  }

  /// No more requests: all that is open is done.
  mutating func drain() {
    var rounds = 0
    while !open.isEmpty, rounds < 100_000 {
      now += .seconds(1)
      perform(open.removeFirst())
      check()
      rounds += 1
    }
  }

  // MARK: What may happen

  private mutating func join() {
    lastSeat += 1
    let seat = WalkSeat(lastSeat, representations.randomElement(using: &random) ?? nil)
    let name = Int.random(in: 0..<9, using: &random)
    let key = HandlerKey(
      id: ObjectID("\(name)"), scope: "", fields: [:], mode: .standard, freshness: .http, limitBytes: nil)
    let whenFull: ObjectRequest.WhenFull = Bool.random(using: &random) ? .wait : .bumpOldest
    let joiner = CoreState.Joiner(
      seat: seat,
      wish: HandlerState.Wish(
        representation: seat.representation, priority: LoadPriority.allCases.randomElement(using: &random) ?? .normal,
        holdsPlace: whenFull == .wait),
      locations: ["http://host\(name % 3)/\(name)", "http://mirror/\(name)"], whenFull: whenFull, output: nil)
    seats.append(seat)
    if let (_, work) = state.join(key, joiner, now: now) {
      take(work)
    } else {
      seat.end(.cancelled(.closed), from: .library)
    }
  }

  private mutating func leave() {
    guard let seat = seats.randomElement(using: &random) else { return }
    take(state.leave(seat.id, .left, now: now))
  }

  private mutating func expire() {
    guard Int.random(in: 0..<4, using: &random) == 0, let seat = seats.randomElement(using: &random) else { return }
    take(state.expire(seat.id, ObjectError(.timedOut, "late"), now: now))
  }

  private mutating func raise() {
    guard let seat = seats.randomElement(using: &random) else { return }
    take(state.changePriority(of: seat.id, to: .veryHigh, now: now))
  }

  private mutating func take(_ work: Few<Work>) {
    for item in work {
      switch item {
      case .end(let seat, let ending), .endStale(let seat, let ending, _): seat.end(ending, from: .library)
      case .cancelAttempt(let attempt): attempt.cancel()
      case .beginExchange, .closeExchange, .releaseExchange: Issue.record("nobody asked for an exchange")
      case .attempt(let job):
        running[job.handler] = job.number
        open.append(item)
      case .decode(let job):
        decodesAsked["\(job.handler) \(job.representation.variant)", default: 0] += 1
        open.append(item)
      case .release(let record): #expect(record.state.phase == .finished)
      case .lookUp, .store, .retry, .startTransfers, .refill: open.append(item)
      case .progress, .sweep, .cancelTimer, .report, .call: break
      }
    }
  }

  private mutating func perform(_ work: Work) {
    switch work {
    case .lookUp(let handler, let key):
      let isHit = Int.random(in: 0..<4, using: &random) == 0
      take(state.lookedUp(handler, isHit ? .usable(body(key, .file)) : .nothing(.absent), now: now))
    case .attempt(let job): attempt(job)
    case .store(let job):
      if Int.random(in: 0..<20, using: &random) == 0 {
        take(state.lostBase(job.handler, now: now))
      } else {
        take(state.stored(job.handler, body(job.key, .network), now: now))
      }
    case .decode(let job):
      let result: Result<DecodedObject, ObjectError> =
        Bool.random(using: &random)
        ? .success(DecodedObject(box: ObjectBox(1), cost: 1)) : .failure(ObjectError(.undecodable, "no"))
      take(state.decoded(job.handler, job.representation, result, decodes: 1, now: now))
    case .retry(let handler, let attempts, _): take(state.retryDue(handler, attempts: attempts, now: now))
    case .startTransfers: take(state.hostsDue(now: now))
    case .refill: take(state.refill(now: now))
    default: break
    }
  }

  private mutating func attempt(_ job: AttemptJob) {
    let attempt = LoadAttempt(
      loaders: [], interceptors: [], plan: IntakePlan(), number: job.number,
      LoadAttempt.Listener(progress: { _ in }, end: { _, _ in }))
    guard job.ticket.admit(attempt) else { return }
    let outcome: LoadOutcome =
      switch Int.random(in: 0..<6, using: &random) {
      case 0: .failure(ObjectError(.transport, "cut"))
      case 1: .status(LoadHead(status: 503, fields: ["Retry-After": "1"]), ErrorBody())
      case 2: .status(LoadHead(status: 404), ErrorBody())
      case 3: .notModified(LoadHead(status: 304))
      default: .body(LoadHead(), .memory(Data([1])))
      }
    var end = CoreState.AttemptEnd(
      outcome: outcome, times: LoadTimes(request: WallTime(seconds: 0), response: WallTime(seconds: 1)))
    if case .body = outcome, Bool.random(using: &random) { end.usable = body(job.key, .network) }
    take(state.attemptEnded(job.handler, number: job.number, end, now: now) { 0.5 })
  }

  private func body(_ key: HandlerKey, _ source: ObjectSource) -> LoadedBody {
    LoadedBody(
      loaded: Loaded(id: key.id, source: source, bytes: Data([1])), facts: EntryFacts(head: LoadHead()), mayKeep: true,
      hasBytes: true)
  }

  // MARK: What must always hold

  private func check() {
    var broken: [String] = []
    if state.live.count > Self.limitLive { broken.append("too many live") }
    if state.transfers.running > Self.limitTransfers { broken.append("too many transfers") }
    for record in state.handlers.values {
      let id = record.id
      if record.state.phase == .finished { broken.append("a handler in the table has finished") }
      if record.seats.count != record.state.seats.count { broken.append("seats of \(id.number) differ") }
      if state.live.contains(id) != (record.state.phase != .waiting) {
        broken.append("a handler that works has no place, or one that waits has")
      }
    }
    for id in state.live.ids where state.handlers[id] == nil { broken.append("a finished handler holds a place") }
    #expect(broken.isEmpty)
  }

  func checkEnd() {
    #expect(state.handlers.isEmpty && state.byKey.isEmpty && state.bySeat.isEmpty)
    #expect(state.live.count == 0 && state.live.waitingCount == 0)
    #expect(state.transfers.running == 0 && state.transfers.waiting == 0)
    for seat in seats { #expect(seat.endings.withLock { $0 } == 1, "seat \(seat.id.number) has not one ending") }
    for (decode, count) in decodesAsked { #expect(count == 1, "\(decode) was decoded \(count) times") }
  }
}
