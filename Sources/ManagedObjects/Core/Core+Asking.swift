internal import FoundationEssentials

/// The part of the core that takes requests.
extension Core {
  // MARK: Users

  func manage<User: ManagedUser>(_ user: User, _ request: ObjectRequest, _ caller: (any Actor)?) -> Handler? {
    if isAnswered(user, request, caller) { return nil }
    let (seat, former) = users.seat(user) { desk in UserSeat(user, makeSeatID(), request, at: desk) }
    if let update = former.update { leave(update.id, .superseded) }
    if let former = former.seat {
      supersede(former, caller)
      // The callback may have asked for something else already.
      guard users.current(user) === seat else { return nil }
    }
    let handler = ask(request, seat, whenFull: .bumpOldest, caller: .user(caller))
    guard handler != nil else { return nil }
    (user as? any DeathNotifying)?.watch(DeathWatch(of: user, for: self))
    // Superseded or left while it was on its way in, by another thread or by the callback that told of the former
    // request: whoever did that may have come too early to take it out again.
    if users.current(user) !== seat { leave(seat.id, .superseded) }
    return handler
  }

  /// Most hits are for a user that has no other request, on a thread where it may be told: that needs no seat.
  private func isAnswered<User: ManagedUser>(
    _ user: User, _ request: ObjectRequest, _ caller: (any Actor)?
  ) -> Bool {
    guard let ready = readyAtOnce(request, user.representation), let box = ready.box as? ObjectBox<User.Object>,
      user.delivery.allows(caller)
    else { return false }
    return users.runAtOnce(for: user) {
      user.ended(
        Ending(
          request: request,
          outcome: countHit() ? .ready(box.object, .memory) : .cancelled(.closed)))
    }
  }

  private func supersede(_ seat: any CancellableSeat, _ caller: (any Actor)?) {
    _ = seat.cancel(.superseded, from: .user(caller))
    leave(seat.id, .superseded)
  }

  /// True: its request ended so.
  func leave(_ user: AnyObject, _ caller: (any Actor)?) -> Bool {
    // The update last: a stale object that is just being given takes a seat for it before it looks whether it is in time.
    defer { if let update = users.takeUpdate(of: user) { leave(update.id, .left) } }
    guard let seat = users.current(user) else { return false }
    let hasLeft = seat.cancel(.left, from: .user(caller))
    leave(seat.id, .left)
    return hasLeft
  }

  // MARK: Everybody

  /// From memory at once where that may be; else joins or makes the handler.
  /// - Returns: for a user the handler on its way; nil: it has ended.
  @discardableResult
  func ask(
    _ request: ObjectRequest, _ seat: any Seat, whenFull: ObjectRequest.WhenFull, output: OutputTarget? = nil,
    caller: Caller
  ) -> Handler? {
    do throws(ObjectError) {
      return ask(try asked(request), seat, whenFull: whenFull, output: output, caller: caller)
    } catch {
      seat.end(.failed(error), from: caller)
      return nil
    }
  }

  @discardableResult
  func ask(
    _ asked: Asked, _ seat: any Seat, whenFull: ObjectRequest.WhenFull, output: OutputTarget? = nil, caller: Caller
  ) -> Handler? {
    let representation = seat.representation
    while true {
      let ready = ready(asked.key, representation)
      if let ready, answers(seat, ready, asked, caller) { return nil }
      var joiner = joiner(asked, seat, representation, whenFull: whenFull, output: output)
      joiner.hasReady = ready != nil || mayRevalidate(asked.key, representation)
      if joiner.whenFull == .bumpOldest { dropDeadUsers() }
      switch join(asked.key, joiner, unlessChangedSince: ready, caller) {
      case .joined(let handler):
        setDeadline(asked.timeout ?? policy.timeout, seat)
        return handler
      case .closed:
        seat.end(.cancelled(.closed), from: caller)
        return nil
      case .changed: continue
      }
    }
  }

  /// Whether what is ready may be given, which it then is.
  private func answers(_ seat: any Seat, _ ready: ReadyObject, _ asked: Asked, _ caller: Caller) -> Bool {
    if let reason = whyUsable(ready, asked.key) {
      answer(seat, ready, asked.key, reason, caller)
      return true
    }
    guard mayServeStale(ready, asked.key, seat) else { return false }
    let refresh = Refresh(key: asked.key, locations: asked.locations, generation: ready.facts.generation)
    answer(seat, ready, asked.key, .staleWhileRevalidate, caller, awaiting: refresh)
    return true
  }

  private func joiner(
    _ asked: Asked, _ seat: any Seat, _ representation: Representation?, whenFull: ObjectRequest.WhenFull,
    output: OutputTarget?
  ) -> CoreState.Joiner {
    let whenFull = asked.whenFull ?? whenFull
    return CoreState.Joiner(
      seat: seat,
      wish: HandlerState.Wish(
        representation: representation, priority: asked.priority, holdsPlace: whenFull == .wait),
      locations: asked.locations, whenFull: whenFull, output: output, firstLocation: asked.location)
  }

  /// Nobody is bumped while a handler without live users holds a place. Looks at the oldest few only: the sweep does
  /// the rest.
  private func dropDeadUsers() {
    for seat in read({ $0.oldestSeats(limit: 64) }) where !seat.isAlive { leave(seat.id, .left) }
  }

  private enum Joined: Sendable {
    /// nil: nobody looks at it.
    case joined(Handler?)
    case closed, changed
  }

  /// Looks into memory once more under the core's lock: a handler puts its object there before it goes, so nobody
  /// falls between "on its way" and "in memory".
  private func join(
    _ key: HandlerKey, _ joiner: CoreState.Joiner, unlessChangedSince seen: ReadyObject?, _ caller: Caller
  ) -> Joined {
    let memoryKey = memoryKey(key, joiner.wish.representation)
    return stepForResult { state in
      if state.handlerToJoin(key) == nil, let memoryKey, memory.hasChanged(memoryKey, since: seen?.facts) {
        return (.changed, Few())
      }
      guard let (record, work) = state.join(key, joiner, now: time.now) else { return (.closed, Few()) }
      if case .library = caller { return (.joined(nil), work) }
      return (.joined(record.handler), work)
    }
  }

  func setDeadline(_ timeout: Duration?, _ seat: any Seat) {
    guard let timeout else { return }
    let id = seat.id
    let deadline = later(timeout) { core in
      core.step { $0.expire(id, ObjectError(timeout: timeout), now: core.time.now) }
    }
    step { $0.setDeadline(deadline, for: id) }
  }

  // MARK: Memory

  /// nil: not there, or not to be asked.
  func ready(_ key: HandlerKey, _ representation: Representation?) -> ReadyObject? {
    memoryKey(key, representation).flatMap { memory.find($0) }
  }

  /// Whether memory has an object for a request that asks the server in any case.
  private func mayRevalidate(_ key: HandlerKey, _ representation: Representation?) -> Bool {
    guard key.mode == .noCache, let representation else { return false }
    return memory.find(MemoryKey(id: key.id, scope: key.scope, representation: representation)) != nil
  }

  /// What is ready and known to be fresh, for a request that asks nothing special.
  ///
  /// Its URL is not even read: a text that equals the key of an object in memory is that key, since `URLRule` made it, and
  /// reads what it has made as itself.
  private func readyAtOnce(_ request: ObjectRequest, _ representation: Representation) -> ReadyObject? {
    guard request.isPlain, let name = request.oid ?? request.locations.first, !Self.mayNameUsers(request) else {
      return nil
    }
    let id = ObjectID(name, kind: request.oid == nil ? .url : .oid)
    guard let ready = memory.find(MemoryKey(id: id, representation: representation)),
      isKnownFresh(ready, policy.freshness)
    else { return nil }
    return ready
  }

  /// Whether a URL that is not its key may name somebody.
  private static func mayNameUsers(_ request: ObjectRequest) -> Bool {
    (request.oid != nil || request.locations.count > 1) && request.locations.contains { $0.utf8.contains(0x40) }
  }

  /// nil: this request may not be answered from memory.
  private func memoryKey(_ key: HandlerKey, _ representation: Representation?) -> MemoryKey? {
    guard let representation, [.standard, .forceCache, .onlyIfCached].contains(key.mode) else { return nil }
    return MemoryKey(id: key.id, scope: key.scope, representation: representation)
  }

  /// nil: the server has to be asked.
  private func whyUsable(_ ready: ReadyObject, _ key: HandlerKey) -> AnswerReason? {
    // Most requests ask nothing special.
    let isPlain = key.mode == .standard && key.fields.isEmpty
    if isPlain, isKnownFresh(ready, key.freshness) { return .fresh }
    let decision = judge(ready.facts, key)
    guard case .fresh = decision.verdict else { return nil }
    if let end = decision.freshUntil { ready.freshUntil = end }
    return decision.reason
  }

  /// What the rules say of it, without asking them: by HTTP it is judged once, and noted how long that holds.
  private func isKnownFresh(_ ready: ReadyObject, _ freshness: Freshness) -> Bool {
    switch freshness {
    case .http:
      let now = time.wallLately
      return ready.facts.responseTime <= now && now < ready.freshUntil
    case .immutable:
      return !ready.facts.isInvalidated && ready.facts.varying.isEmpty && !ready.facts.head.fields.contains("Vary")
    case .ttl: return false
    }
  }

  private func answer(
    _ seat: any Seat, _ ready: ReadyObject, _ key: HandlerKey, _ reason: AnswerReason, _ caller: Caller,
    awaiting refresh: Refresh? = nil
  ) {
    if let refusal = key.refusal(ofBytes: ready.count) { return seat.end(.failed(refusal), from: caller) }
    guard countHit() else { return seat.end(.cancelled(.closed), from: caller) }
    let delivered = Delivered(
      source: refresh == nil ? .memory : .stale, reason: reason, head: ready.facts.head, count: ready.count)
    guard let refresh else { return seat.end(.ready(ready.box, delivered), from: caller) }
    end(seat, .ready(ready.box, delivered), awaiting: refresh, from: caller)
  }

  /// False: the manager is closed.
  func countHit() -> Bool {
    hits.withLock { hits in
      if !hits.isClosed { hits.count += 1 }
      return !hits.isClosed
    }
  }

  /// The object if it is ready in memory and may be used; nothing is loaded.
  func peek<Object: Sendable>(_ request: ObjectRequest, _ decoder: ObjectDecoder<Object>) -> Object? {
    if let object = peekAtOnce(request, decoder) { return object }
    guard let asked = try? asked(request) else { return nil }
    return peek(asked.key, decoder)
  }

  func peekAtOnce<Object: Sendable>(_ request: ObjectRequest, _ decoder: ObjectDecoder<Object>) -> Object? {
    readyAtOnce(request, decoder.representation)?.box.object(as: Object.self)
  }

  func peek<Object: Sendable>(_ key: HandlerKey, _ decoder: ObjectDecoder<Object>) -> Object? {
    guard let ready = ready(key, decoder.representation), whyUsable(ready, key) != nil,
      key.refusal(ofBytes: ready.count) == nil
    else { return nil }
    return ready.box.object(as: Object.self)
  }

  // MARK: What is asked for

  /// A request that has been read: what it names, and what its handler has to know of it.
  struct Asked: Sendable {
    let key: HandlerKey
    /// Of its first URL, where that names the object.
    let location: URLRule.Location?
    let locations: [String]
    let priority: LoadPriority
    let whenFull: ObjectRequest.WhenFull?
    let timeout: Duration?

    /// Whether its first URL is for the network.
    var isHTTP: Bool { location?.isHTTP ?? locations.first.map(URLRule.isHTTP) ?? false }
  }

  /// What requests must share to share a handler.
  /// - Throws: what is wrong with this one.
  func handlerKey(_ request: ObjectRequest) throws(ObjectError) -> HandlerKey { try asked(request).key }

  func asked(_ request: ObjectRequest) throws(ObjectError) -> Asked {
    if let name = request.fields.refusedName { throw Self.refused(name) }
    let location = try location(naming: request)
    let withField = withCredentials(request, location)
    let users = withField == nil ? Self.users(request, location) : []
    let request = withField ?? request
    return Asked(
      key: handlerKey(request, Self.id(of: request, location), users), location: location,
      locations: request.locations, priority: request.priority, whenFull: request.whenFull, timeout: request.timeout)
  }

  private func handlerKey(_ request: ObjectRequest, _ id: ObjectID, _ users: [String]) -> HandlerKey {
    let freshness = request.freshness ?? policy.freshness
    // Nearly every request is everybody's.
    if request.fields.isEmpty, request.credentialScope == nil, users.isEmpty {
      return HandlerKey(
        id: id, scope: "", fields: [:], mode: request.mode, freshness: freshness, limitBytes: request.limitBytes)
    }
    return HandlerKey(
      id: id,
      scope: scopes.scope(named: request.credentialScope, fields: request.fields, users: users) { text in
        SHA256Digest(of: text, key: users.isEmpty ? processSecret : storedSecret).hex
      },
      fields: request.fields, mode: request.mode, freshness: freshness, limitBytes: request.limitBytes,
      mayUseAnonymous: request.credentialScope == nil && users.isEmpty && scopes.isCookieOnly(request.fields))
  }

  /// Whom its URLs name, of whatever scheme they are.
  private static func users(_ request: ObjectRequest, _ location: URLRule.Location?) -> [String] {
    // Nearly always there is one URL, which has been read.
    if let location, request.locations.count == 1 { return location.userinfo.map { [$0] } ?? [] }
    return request.locations.compactMap(userinfo)
  }

  private static func userinfo(in location: String) -> String? {
    // Few do, and reading a URL takes longer than this.
    guard location.utf8.contains(0x40), case .success(let read) = URLRule.parse(location) else { return nil }
    return read.userinfo
  }

  /// nil: its oid names it.
  private func location(naming request: ObjectRequest) throws(ObjectError) -> URLRule.Location? {
    if let oid = request.oid {
      if oid.isEmpty { throw Self.emptyOid }
      return nil
    }
    guard let first = request.locations.first else { throw Self.nameless }
    switch URLRule.parse(first) {
    case .success(let location): return location
    case .failure(let refusal): throw ObjectError(invalid: first, refusal)
    }
  }

  private static func id(of request: ObjectRequest, _ location: URLRule.Location?) -> ObjectID {
    if let location { return ObjectID(location.key, kind: .url, namespace: request.namespace) }
    return ObjectID(request.oid ?? "", namespace: request.namespace)
  }

  /// Who is named in the URL gets answers of their own, as if the field had been given that libcurl makes of it. nil: not
  /// so; where there are mirrors, they would be told as well.
  private func withCredentials(_ request: ObjectRequest, _ location: URLRule.Location?) -> ObjectRequest? {
    guard let location, location.isHTTP, let userinfo = location.userinfo, request.locations.count == 1,
      !request.fields.contains("Authorization")
    else { return nil }
    var request = request
    request.fields.append("Authorization", BasicCredentials.field(userinfo))
    return request
  }

  private static func refused(_ name: String) -> ObjectError {
    ObjectError(
      .invalidRequest,
      "The header field “\(name)” has a name or value that HTTP does not allow; leave out CR, LF, "
        + "NUL and characters above U+00FF.")
  }

  private static var emptyOid: ObjectError {
    ObjectError(.invalidRequest, "The oid is empty; give the object a name, or nil to name it by its URL.")
  }

  private static var nameless: ObjectError {
    ObjectError(.invalidURL, "The request has neither an oid nor a URL.")
  }
}

/// A user that tells of its own death, so that nobody has to find out.
protocol DeathNotifying: AnyObject {
  func watch(_ watch: DeathWatch)
}

/// Held by a user; dropped with it. What matters is the user's death, not that of the watch: one that is replaced does
/// nothing.
final class DeathWatch: Sendable {
  /// Tells watches of different managers apart.
  let owner: ObjectIdentifier
  private weak let core: Core?
  private let user: ObjectIdentifier

  init(of user: AnyObject, for core: Core) {
    self.core = core
    self.user = ObjectIdentifier(user)
    owner = ObjectIdentifier(core)
  }

  deinit {
    guard let core, let seat = core.users.orphaned(user) else { return }
    core.leave(seat.id, .left)
  }
}
