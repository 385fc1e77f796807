/// Names one handler for ever, where its key may come again.
struct HandlerID: Numbered {
  let number: UInt64
}

/// What requests must have in common to share one handler. Requests that differ here never share a load.
///
/// A reference, since it is handed on from room to room.
final class HandlerKey: Hashable, Sendable {
  let id: ObjectID
  /// Whose answer it is; "" for everybody's.
  let scope: String
  let fields: HeaderFields
  let mode: CacheMode
  let freshness: Freshness
  let limitBytes: Int?
  /// What came for a request without credentials answers this one too, unless it varies on them: its only secret is a
  /// cookie. RFC 9111 has no rule about cookies, and servers that give answers by them say so in Vary.
  let mayUseAnonymous: Bool
  /// The load in the background of what others are given stale meanwhile: for it that is not good enough.
  let isRefresh: Bool
  /// Of the texts above: a handler is looked for several times.
  private let textHash: Int

  init(
    id: ObjectID, scope: String, fields: HeaderFields, mode: CacheMode, freshness: Freshness, limitBytes: Int?,
    mayUseAnonymous: Bool = false, isRefresh: Bool = false
  ) {
    self.id = id
    self.scope = scope
    self.fields = fields
    self.mode = mode
    self.freshness = freshness
    self.limitBytes = limitBytes
    self.mayUseAnonymous = mayUseAnonymous
    self.isRefresh = isRefresh
    textHash = Self.hash(id, scope, fields)
  }

  private static func hash(_ id: ObjectID, _ scope: String, _ fields: HeaderFields) -> Int {
    var hash = TableHash.of(id.name)
    // Most have none of these, and equal keys agree on that.
    if !id.namespace.isEmpty { hash = TableHash.of(id.namespace, behind: hash) }
    if !scope.isEmpty { hash = TableHash.of(scope, behind: hash) }
    return Int(truncatingIfNeeded: hash) ^ (fields.isEmpty ? 0 : fields.hashValue)
  }

  /// The same, with other fields of the request.
  func with(_ fields: HeaderFields) -> HandlerKey {
    HandlerKey(
      id: id, scope: scope, fields: fields, mode: mode, freshness: freshness, limitBytes: limitBytes,
      mayUseAnonymous: mayUseAnonymous, isRefresh: isRefresh)
  }

  /// The same, for a refresh.
  var refreshing: HandlerKey {
    HandlerKey(
      id: id, scope: scope, fields: fields, mode: mode, freshness: freshness, limitBytes: limitBytes,
      mayUseAnonymous: mayUseAnonymous, isRefresh: true)
  }

  static func == (left: HandlerKey, right: HandlerKey) -> Bool {
    left === right
      || left.textHash == right.textHash && left.id == right.id && left.scope == right.scope
        && left.fields == right.fields && left.mode == right.mode && left.freshness == right.freshness
        && left.limitBytes == right.limitBytes && left.mayUseAnonymous == right.mayUseAnonymous
        && left.isRefresh == right.isRefresh
  }

  func hash(into hasher: inout Hasher) { hasher.combine(textHash) }

  /// What a stored body of so many bytes ends with; nil: the request allows it.
  func refusal(ofBytes count: Int) -> ObjectError? {
    guard let limitBytes, count > limitBytes else { return nil }
    return ObjectError(.tooLarge, "The stored body has more than the \(limitBytes) bytes that the request allows.")
  }
}

/// What is known to be stored under an id but may not be used without asking the server.
struct StoredBase: Sendable {
  let facts: EntryFacts
  /// nil: only ready objects in memory, no bytes.
  let lease: (any EntryLease)?
  let key: EntryKey
  /// What makes the request conditional; empty: it carries no validator.
  let conditions: HeaderFields
  /// Length of the body of which only objects are left.
  var count = 0
  /// Why it may not.
  var reason = AnswerReason.expired
  /// `MemoryCache.recallCount` before it was looked up.
  var recallCount: UInt32
}

/// Bytes that are here and good. A reference, since all who are given an object share it.
final class LoadedBody: Sendable {
  let loaded: Loaded
  let facts: EntryFacts
  /// Objects made of it may be kept.
  let mayKeep: Bool
  /// False: revalidated from ready objects alone, so there is nothing to decode others from.
  let hasBytes: Bool
  /// Length of the body whose bytes are gone.
  let lostCount: Int
  let reason: AnswerReason
  /// `ReuseRule.Decision.freshUntil`; nil: not judged.
  let freshUntil: WallTime?
  /// `MemoryCache.recallCount` before it was looked up, or when it came.
  let recallCount: UInt32?
  /// When the body came, which a 304 may have confirmed long after.
  let bodyTime: WallTime

  init(
    loaded: Loaded, facts: EntryFacts, mayKeep: Bool, hasBytes: Bool, lostCount: Int = 0,
    reason: AnswerReason = .absent, freshUntil: WallTime? = nil, recallCount: UInt32? = nil,
    bodyTime: WallTime? = nil
  ) {
    self.loaded = loaded
    self.facts = facts
    self.mayKeep = mayKeep
    self.hasBytes = hasBytes
    self.lostCount = lostCount
    self.reason = reason
    self.freshUntil = freshUntil
    self.recallCount = recallCount
    self.bodyTime = bodyTime ?? facts.responseTime
  }

  /// The same, for those who wait for it and nobody else.
  var unkept: LoadedBody {
    LoadedBody(
      loaded: loaded, facts: facts, mayKeep: false, hasBytes: hasBytes, lostCount: lostCount, reason: reason)
  }

  /// It is stale, and a load in the background asks for a newer one.
  var isBeingRefreshed: Bool { reason == .staleWhileRevalidate }

  var count: Int { hasBytes ? loaded.count : lostCount }
}

/// What a finished attempt brought, before it is stored.
enum Received: Sendable {
  case body(LoadHead, ReceivedBody)
  case notModified(LoadHead)
}

/// When a request was sent and its response was here.
struct LoadTimes: Sendable {
  var request: WallTime
  var response: WallTime
}

/// One handler, as the core keeps it under its lock.
///
/// A reference, since every step looks at it many times: copies of a value took most of a request's time. So what is read
/// of it after a change is what it is now; take out before what must be known as it was. Thousands may wait for their
/// place: what is not needed until then is in `load`, or made when it is asked for.
///
/// Sound although unchecked: it is in one table of one `CoreState`, whose lock is held by all who read or change it; once
/// it has left the table nobody does.
final class HandlerRecord: @unchecked Sendable {
  let id: HandlerID
  let key: HandlerKey
  var state: HandlerState
  var seats = FewMap<SeatID, any Seat>()
  var deadlines = FewMap<SeatID, ScheduledWork>()

  /// Where the bytes are: mirrors of one oid, in the order of asking.
  var locations: [String] = []
  /// The first of them, where it has been read.
  var firstLocation: URLRule.Location?
  /// Where a large body may go that no backend takes.
  var output: OutputTarget?
  /// Memory has an object that might be revalidated.
  var mayHaveBase = false
  /// How many of the seats want to be told of progress.
  var watchers = 0

  init(_ id: HandlerID, _ key: HandlerKey, _ whenLastLeaves: Policy.WhenLastLeaves) {
    self.id = id
    self.key = key
    state = HandlerState(whenLastLeaves: whenLastLeaves)
  }

  /// What the FIFO and the transfer queue were told of it last.
  struct Standing: Equatable, Sendable {
    let priority: LoadPriority
    let place: LiveQueue<HandlerID>.Standing
  }
  var standing: Standing?

  /// What has come of it so far; nil while it waits for its place.
  private(set) var begun: LoadRecord?
  /// The same, for whoever is about to change it.
  var load: LoadRecord {
    if let begun { return begun }
    let load = LoadRecord()
    begun = load
    return load
  }

  private var shown: Handler?
  /// What the public may see of it; made when somebody looks.
  var handler: Handler {
    if let shown { return shown }
    let handler = Handler(key.id)
    shown = handler
    publish()
    return handler
  }

  var publicState: Handler.State {
    switch state.phase {
    case .waiting, .lookingUp: .new
    case .loading: .loading
    case .storing, .decoding: .loaded
    case .finished: begun.map { $0.isReady(hasDecodes: state.hasDecodes) } ?? false ? .ready : .failed
    }
  }

  /// What the handler shows of all this.
  private struct Face: Equatable {
    var state = Handler.State.new
    var users = 0
    var isWatched = false
  }
  private var face = Face()

  func publish() {
    guard let shown else { return }
    let now = Face(state: publicState, users: state.seats.count, isWatched: watchers > 0)
    guard now != face else { return }
    face = now
    shown.published.withLock { published in
      published.state = now.state
      published.waitingUsers = now.users
      published.isWatched = now.isWatched
    }
  }

  /// Where its bytes are now asked for, or why they cannot be.
  var currentLocation: Result<URLRule.Location, ObjectError> {
    let location = begun?.location ?? 0
    guard location < locations.count else {
      return .failure(ObjectError(.invalidURL, "The request has no URL to load “\(key.id)” from; give it one."))
    }
    if location == 0, let firstLocation { return .success(firstLocation) }
    let text = locations[location]
    return URLRule.parse(text).mapError { ObjectError(invalid: text, $0) }
  }
}

/// What the handler of a `HandlerRecord` does once it has its place: look for the bytes, load, store, decode. Under the
/// same lock, and sound for the same reason.
final class LoadRecord: @unchecked Sendable {
  var base: StoredBase?
  /// Why it has to be loaded.
  var reason = AnswerReason.absent
  /// `CoreState.recalls` of its id when it began to look for it.
  var recallNumber: UInt64 = 0
  /// Made by the first failure.
  var retry: RetryRule?
  var loadingSince: Moment?
  /// Which of the locations.
  var location = 0
  /// Attempts begun, over all locations.
  var attempts = 0
  var attempt: AttemptTicket?
  /// Conditions are left out: the server said 304 but the bytes are gone.
  var isUnconditional = false
  var times = LoadTimes(request: WallTime(milliseconds: 0), response: WallTime(milliseconds: 0))
  /// Since when it waits for a transfer slot, and how long the attempt that runs has waited.
  var queuedAt: Moment?
  var queueTime = Duration.zero
  /// Of the last attempt, where it was measured.
  var timings: LoadTimings?
  var mostBytes = 0

  var received: Received?
  /// What was received, where nothing is left to do with it before it is decoded.
  var usable: LoadedBody?
  var body: LoadedBody?
  var results = FewMap<Representation, DecodedObject>()

  /// A prefetch has what it wanted as soon as there is a body.
  func isReady(hasDecodes: Bool) -> Bool { !results.isEmpty || body != nil && !hasDecodes }
}
