internal import CurlTransfer
internal import FoundationEssentials

/// One load by `CurlLoader`: a transfer for each hop of its redirects, the last of which is the answer.
///
/// The engine calls from its one thread; only `stop` comes from elsewhere. The state is behind a lock for that one's
/// sake, and nothing of the target is called while it is held.
final class CurlLoad: TransferReceiver {
  private struct State: Sendable {
    /// The hop that is running, and where that is.
    var request: LoadRequest
    var location: URLRule.Location?
    var hops = 0
    /// This hop is sent for the second time.
    var isRepeat = false
    /// Of the hops before.
    var timings: LoadTimings?
    /// How long the redirects before lead here; nil: for ever.
    var lifetime: Duration?
    var transfer: TransferID?
    /// The final head of this hop.
    var head: LoadHead?
    /// Where this hop redirects to: its body is dropped, and however it ends the next one begins.
    var next: LoadRequest?
    var droppedBytes = 0
    /// Why the load is to fail, however this hop ends.
    var refusal: ObjectError?
    var isStopped = false

    /// Nothing of the answer was seen, and asking twice does what asking once does (RFC 9110 section 9.2.2).
    var mayRepeat: Bool {
      !isRepeat && head == nil && ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(request.method)
    }

    /// What becomes of so many bytes of this hop's body.
    mutating func fate(of count: Int) -> Fate {
      guard refusal == nil, !isStopped, let transfer else { return .stop }
      guard next != nil else { return .pass(transfer) }
      droppedBytes += count
      // Reading so much of a redirect's body costs less than a new connection would.
      return droppedBytes > 64 << 10 ? .stop : .drop
    }
  }

  private enum Fate: Sendable {
    case pass(TransferID)
    case drop
    case stop
  }

  private let state: Lock<State>
  private let target: any CurlLoadTarget
  private weak let engine: CurlEngine?
  private let options: CurlLoaderOptions
  private let proxies: ProxyRule
  private let sent: CurlSentFields

  init(
    _ request: LoadRequest, for target: any CurlLoadTarget, engine: CurlEngine, options: CurlLoaderOptions,
    proxies: ProxyRule,
    sent: CurlSentFields
  ) {
    state = Lock(State(request: request))
    self.target = target
    self.engine = engine
    self.options = options
    self.proxies = proxies
    self.sent = sent
  }

  /// Begins the hop that the state tells of. Its end comes to `ended`, or at once to the target.
  func begin() {
    let request = state.withLock { $0.request }
    switch CurlRequestRule.transfer(for: request, options, proxies, sent) {
    case .failure(let error): target.fail(error)
    case .success((let transfer, let location)):
      state.withLock { $0.location = location }
      guard let engine else { return target.fail(ObjectError(.closed)) }
      engine.start(transfer, self)
    }
  }

  /// From any thread. Between two hops there is no transfer to stop: `began` and `ended` look again.
  func stop() {
    let transfer = state.withLock { state in
      state.isStopped = true
      return state.transfer
    }
    if let transfer { engine?.stop(transfer) }
  }

  // MARK: What the transfer brings

  func began(as id: TransferID) {
    let isStopped = state.withLock { state in
      state.transfer = id
      return state.isStopped
    }
    if isStopped { engine?.stop(id) }
  }

  func headReceived(_ raw: [UInt8]) {
    switch HeadRule.parse(raw) {
    case .failure(let fault): refuse(ObjectError(.transport, fault.why))
    case .success(let head) where (100...199).contains(head.status): target.interim(head)
    case .success(let head): take(head)
    }
  }

  private func take(_ head: LoadHead) {
    let hop = state.withLock { state in
      state.head = head
      return state
    }
    guard let location = hop.location else { return }
    switch redirect(head, hop.request, from: location, hop.hops) {
    case .none: pass(RedirectRule.answer(head, after: hop.lifetime, now: SystemTime().wallNow))
    case .to(let next):
      let leads = RedirectRule.lifetime(head, now: SystemTime().wallNow)
      state.withLock { state in
        state.next = next
        state.lifetime = [state.lifetime, leads].compactMap(\.self).min()
      }
    case .refused(let error): refuse(ObjectError(error.code, error.message, head: head))
    }
  }

  private func redirect(
    _ head: LoadHead, _ request: LoadRequest, from location: URLRule.Location, _ hops: Int
  ) -> RedirectRule.Verdict {
    guard (300...399).contains(head.status) else { return .none }
    return RedirectRule.follow(
      status: head.status, location: head.fields["Location"], from: location, hops: hops, request: request,
      limit: options.limitRedirects, allowsDowngrade: options.allowsDowngradeToHTTP,
      secretFields: request.secretFields.union(options.secretFields))
  }

  private func pass(_ head: LoadHead) {
    target.head(head)
    if !target.isWanted { stop() }
  }

  private func refuse(_ error: ObjectError) {
    let transfer = state.withLock { state in
      state.refusal = error
      return state.transfer
    }
    if let transfer { engine?.stop(transfer) }
  }

  func bodyReceived(_ bytes: RawSpan) -> TransferFlow {
    let count = bytes.byteCount
    switch state.withLock({ $0.fate(of: count) }) {
    case .stop: return .stop
    case .drop: return .more
    case .pass(let id):
      guard target.isWanted else { return .stop }
      target.append(bytes)
      guard target.isFull else { return .more }
      // Called at once, the resume is served after this callback all the same.
      target.whenNotFull { [weak engine] in engine?.resume(id) }
      return .pause
    }
  }

  // MARK: The end of a hop

  func ended(_ end: TransferEnd) {
    let ended = state.withLock { state in
      let ended = state
      state.transfer = nil
      return ended
    }
    if ended.isStopped { return target.fail(ObjectError(.left)) }
    if let refusal = ended.refusal { return target.fail(refusal) }
    switch end {
    case .failed(let failure) where failure.kind == .closed: target.fail(ObjectError(.closed))
    case _ where ended.next != nil: follow(ended, end)
    case .finished(let facts):
      target.measured(CurlTimingsRule.timings(facts, after: ended.timings))
      target.finish()
    case .failed(let failure) where failure.wasStale && ended.mayRepeat:
      state.withLock { $0.isRepeat = true }
      begin()
    case .failed(let failure): target.fail(CurlFailureRule.error(for: failure, head: ended.head))
    }
  }

  private func follow(_ ended: State, _ end: TransferEnd) {
    guard let next = ended.next else { return }
    var timings = ended.timings
    if case .finished(let facts) = end { timings = CurlTimingsRule.timings(facts, after: timings) }
    state.withLock { [timings] state in
      let isStopped = state.isStopped
      state = State(request: next, hops: ended.hops + 1, timings: timings, lifetime: ended.lifetime)
      state.isStopped = isStopped
    }
    begin()
  }
}
