internal import CurlTransfer
internal import FoundationEssentials

/// One load by `CurlLoader`: a transfer for each hop of its redirects, the last of which is the answer.
///
/// The engine calls from its one thread; only `stop` comes from elsewhere. The state is behind a lock for that one's
/// sake, and nothing of the target is called while it is held.
final class CurlLoad: TransferReceiver, StoppableLoad {
  /// One request of the load, and where that goes.
  private final class Hop: Sendable {
    let request: LoadRequest
    let location: URLRule.Location
    /// How many were before.
    let number: Int
    /// Of the hops before.
    let timings: LoadTimings?
    /// How long the redirects before lead here; nil: for ever.
    let lifetime: Duration?

    init(_ request: LoadRequest) throws(ObjectError) {
      self.request = request
      location = try CurlRequestRule.location(of: request)
      (number, timings, lifetime) = (0, nil, nil)
    }

    init(_ request: LoadRequest, after hop: Hop, _ timings: LoadTimings?, lifetime: Duration?) throws(ObjectError) {
      self.request = request
      location = try CurlRequestRule.location(of: request)
      number = hop.number + 1
      self.timings = timings
      self.lifetime = lifetime
    }

    /// As it is the answer to the first of them.
    func answer(_ head: LoadHead) -> LoadHead {
      number == 0 ? head : RedirectRule.answer(head, afterRedirectsFor: lifetime, now: SystemTime().wallNow)
    }
  }

  /// Where a hop redirects to.
  private final class Turn: Sendable {
    let request: LoadRequest
    let lifetime: Duration?

    init(_ request: LoadRequest, lifetime: Duration?) { (self.request, self.lifetime) = (request, lifetime) }
  }

  private struct State: Sendable {
    /// nil after the end: whoever still holds the load holds nothing of the target.
    var target: (any CurlLoadTarget)?
    /// The one that is running; nil before the first.
    var hop: Hop?
    /// This hop is sent for the second time.
    var isRepeat = false
    var transfer: TransferID?
    /// The final head of this hop.
    var head: LoadHead?
    /// Its body is dropped, and however it ends the next hop begins.
    var turn: Turn?
    var droppedBytes = 0
    /// Why the load is to fail, however this hop ends.
    var refusal: ObjectError?
    var isStopped = false

    /// What becomes of so many bytes of this hop's body.
    mutating func fate(of count: Int) -> Fate {
      guard refusal == nil, !isStopped, let transfer, let target else { return .stop }
      guard turn != nil else { return .pass(transfer, target) }
      droppedBytes += count
      // Reading so much of a redirect's body costs less than a new connection would.
      return droppedBytes > 64 << 10 ? .stop : .drop
    }

    /// What becomes of the load at this hop's end.
    mutating func end(_ end: TransferEnd) -> End {
      transfer = nil
      if isStopped { return .failed(ObjectError(.left)) }
      if let refusal { return .failed(refusal) }
      switch end {
      case .failed(let failure) where failure.kind == .closed: return .failed(ObjectError(.closed))
      case .failed(let failure) where failure.wasStale && turn == nil && head == nil && !isRepeat:
        isRepeat = true
        return .again
      case .finished(let facts):
        var timings = CurlTimingsRule.timings(facts, after: hop?.timings)
        if let hop, hop.number > 0 { timings.redirectedOrigin = hop.location.origin.description }
        return turn.map { .turned($0, timings) } ?? .finished(timings)
      case .failed(let failure):
        return turn.map { .turned($0, hop?.timings) } ?? .failed(CurlFailureRule.error(for: failure, head: head))
      }
    }
  }

  private enum Fate: Sendable {
    case pass(TransferID, any CurlLoadTarget)
    case drop
    case stop
  }

  private enum End: Sendable {
    case finished(LoadTimings)
    case failed(ObjectError)
    /// On a new connection.
    case again
    case turned(Turn, LoadTimings?)
  }

  private let state: Lock<State>
  private let line: CurlLine

  init(for target: any CurlLoadTarget, on line: CurlLine) {
    state = Lock(State(target: target))
    self.line = line
  }

  func begin(_ request: LoadRequest) {
    do throws(ObjectError) { try begin(Hop(request)) } catch { fail(error) }
  }

  /// Its end comes to `ended`, unless this throws.
  /// - Parameter isRepeat: goes to a new connection: those that are open may all be as stale.
  private func begin(_ hop: Hop, isRepeat: Bool = false) throws(ObjectError) {
    var transfer = try CurlRequestRule.transfer(for: hop.request, at: hop.location, on: line)
    transfer.wantsNewConnection = isRepeat
    let old = state.withLock { state in
      let old = state.hop
      state.hop = hop
      return old
    }
    withExtendedLifetime(old) {}
    line.desk.start(transfer, self)
  }

  /// From any thread. Between two hops there is no transfer to stop: `began` and `ended` look again.
  func stop() {
    let transfer = state.withLock { state in
      state.isStopped = true
      return state.transfer
    }
    if let transfer { line.desk.stop(transfer) }
  }

  // MARK: What the transfer brings

  func began(as id: TransferID) {
    let isStopped = state.withLock { state in
      state.transfer = id
      return state.isStopped
    }
    if isStopped { line.desk.stop(id) }
  }

  func headReceived(_ raw: [UInt8]) {
    switch HeadRule.parse(raw) {
    case .failure(let fault): refuse(ObjectError(.transport, fault.why))
    case .success(let head) where (100...199).contains(head.status): state.withLock { $0.target }?.interim(head)
    case .success(let head): take(head)
    }
  }

  private func take(_ head: LoadHead) {
    let (hop, target) = state.withLock { state in
      state.head = head
      return (state.hop, state.target)
    }
    guard let hop, let target else { return }
    switch redirect(head, hop) {
    case .none:
      target.head(hop.answer(head))
      if !target.isWanted { stop() }
    case .to(let next):
      let method = hop.request.method
      if !ExchangeRule.isSafe(method) {
        target.redirected(by: RedirectHop(location: hop.location, method: method, head: head, next: next))
      }
      let leads = RedirectRule.lifetime(head, now: SystemTime().wallNow)
      let turn = Turn(next, lifetime: [hop.lifetime, leads].compactMap(\.self).min())
      state.withLock { $0.turn = turn }
    case .refused(let error): refuse(ObjectError(error.code, error.message, head: head))
    }
  }

  private func redirect(_ head: LoadHead, _ hop: Hop) -> RedirectRule.Verdict {
    guard (300...399).contains(head.status) else { return .none }
    return RedirectRule.follow(
      status: head.status, location: head.fields["Location"], from: hop.location, hops: hop.number,
      request: hop.request, limit: line.options.limitRedirects, allowsDowngrade: line.options.allowsDowngradeToHTTP,
      secretFields: hop.request.secretFields.union(line.options.secretFields))
  }

  private func refuse(_ error: ObjectError) {
    let transfer = state.withLock { state in
      state.refusal = error
      return state.transfer
    }
    if let transfer { line.desk.stop(transfer) }
  }

  func bodyReceived(_ bytes: RawSpan) -> TransferFlow {
    let count = bytes.byteCount
    switch state.withLock({ $0.fate(of: count) }) {
    case .stop: return .stop
    case .drop: return .more
    case .pass(let id, let target):
      switch target.take(bytes) {
      case .more: return .more
      case .none: return .stop
      case .full:
        // Called at once, the resume is served after this callback all the same.
        target.whenNotFull { [desk = line.desk] in desk.resume(id) }
        return .pause
      }
    }
  }

  // MARK: The end of a hop

  func ended(_ end: TransferEnd) {
    switch state.withLock({ $0.end(end) }) {
    case .finished(let timings): letGo()?.finish(timings)
    case .failed(let error): fail(error)
    case .again: again()
    case .turned(let turn, let timings): follow(turn, timings)
    }
  }

  private func fail(_ error: ObjectError) { letGo()?.fail(error) }

  /// The target, for its end.
  private func letGo() -> (any CurlLoadTarget)? { state.withLock { $0.target.take() } }

  private func again() {
    guard let hop = state.withLock({ $0.hop }) else { return }
    do throws(ObjectError) { try begin(hop, isRepeat: true) } catch { fail(error) }
  }

  private func follow(_ turn: Turn, _ timings: LoadTimings?) {
    let hop = state.withLock { state in
      let hop = state.hop
      (state.isRepeat, state.head, state.turn, state.droppedBytes) = (false, nil, nil, 0)
      return hop
    }
    guard let hop else { return }
    do throws(ObjectError) {
      try begin(Hop(turn.request, after: hop, timings, lifetime: turn.lifetime))
    } catch {
      fail(error)
    }
  }
}

/// What all loads of a loader share.
final class CurlLine: Sendable {
  /// Does not keep the engine open: that is the loader's.
  let desk: EngineDesk
  let options: CurlLoaderOptions
  let proxies: ProxyRule
  /// By host in lower case, as a URL's is read.
  let hostOverrides: [String: String]
  let sent = CurlSentFields()

  init(_ desk: EngineDesk, _ options: CurlLoaderOptions, _ proxies: ProxyRule) {
    self.desk = desk
    self.options = options
    self.proxies = proxies
    // Of two spellings of one host that in lower case counts, which is sorted last.
    let overrides = options.hostOverrides.sorted { $0.key < $1.key }.map { ($0.key.lowercased(), $0.value) }
    hostOverrides = Dictionary(overrides) { $1 }
  }
}
