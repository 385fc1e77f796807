/// Turns what libcurl says into what happened, in words that name the host and say where to look.
enum FailureRule {
  /// All that the decision needs.
  struct Facts {
    var request: TransferRequest
    /// libcurl's error, see libcurl-errors(3).
    var code: Int
    /// errno of the last failed connect or receive; 0: none.
    var systemError = 0
    /// What the system says for it.
    var systemText = ""
    /// libcurl's own sentence; "" where it had none.
    var detail = ""
    /// The name's address was found.
    var wasResolved = false
    /// The connection stood, TLS included.
    var wasConnected = false
    /// It had carried another transfer before.
    var wasReused = false
    /// What the proxy answered when it was asked for a tunnel; 0: it was not, or did not.
    var connectStatus = 0
    /// OpenSSL's, see X509_STORE_CTX_get_error(3); 0: none.
    var verifyResult = 0
    /// A byte of a response has come.
    var hasHead = false
    var headIsFinal = false
    var bodyBytes = 0
    /// nil: the response did not promise a length.
    var promisedBytes: Int?
    var elapsed = Duration.zero
    /// Why our own callback ended the transfer, where it did.
    var cause: Cause?
    var refusedAddress: AddressRefusal?
  }

  /// Why a callback of ours refused what came.
  enum Cause { case stopped, headTooLarge, bodyBeforeHead }

  static func failure(_ facts: Facts) -> TransferFailure {
    let kind = kind(facts)
    var failure = TransferFailure(kind: kind, code: facts.code, message: message(kind, facts))
    let isBroken = [.noReply, .reset, .sendFailed].contains(kind)
    failure.wasStale = isBroken && facts.wasReused && !facts.hasHead && facts.request.isIdempotent
    return failure
  }

  static func kind(_ facts: Facts) -> TransferFailure.Kind {
    if let cause = facts.cause { return kind(cause) }
    if let fault = TLSFaultRule.fault(facts) { return .tls(fault) }
    if isOfProxy(facts) { return .proxy }
    switch facts.code {
    case 7 where facts.refusedAddress != nil: return .addressRefused
    case 6: return .resolve
    case 7: return facts.systemError == connectionRefused ? .refused : .connect
    case 28: return .timedOut(phase(facts))
    case 18: return .partial
    case 52: return .noReply
    // An answer in HTTP/0.9 is a "protocol" that was not allowed (1); framing that cannot be read is a "weird reply" (8).
    case 1, 8, 61: return .badFraming
    // libcurl says "receive error" both for a broken connection and for chunks it cannot read; only the words differ.
    case 56: return facts.detail.lowercased().contains("chunk") ? .badFraming : .reset
    case 16, 92, 95: return .reset
    case 55: return .sendFailed
    // Too long a line is "out of memory" to older ones (27) and "too large" to newer ones (100).
    case 27, 100: return facts.headIsFinal ? .other : .headTooLarge
    default: return .other
    }
  }

  /// It failed before the proxy had opened the way: its name, its port, its refusal of a tunnel.
  private static func isOfProxy(_ facts: Facts) -> Bool {
    guard facts.request.proxy != nil else { return false }
    switch facts.code {
    case 5, 7, 97: return true
    case 28: return !facts.wasConnected && !(200...299).contains(facts.connectStatus) && !isTotal(facts)
    case 56: return facts.connectStatus >= 300
    default: return false
    }
  }

  private static func kind(_ cause: Cause) -> TransferFailure.Kind {
    switch cause {
    case .stopped: .stopped
    case .headTooLarge: .headTooLarge
    case .bodyBeforeHead: .badFraming
    }
  }

  /// libcurl has one code for all its clocks; which one it was can be read from how far the transfer had come.
  private static func phase(_ facts: Facts) -> TransferFailure.Phase {
    if isTotal(facts) { return .total }
    if !facts.wasConnected, !facts.wasResolved { return .resolve }
    return facts.wasConnected ? .idle : .connect
  }

  /// libcurl counts whole milliseconds, by a clock that is not slewed (CLOCK_MONOTONIC_RAW) as ours is, by up to 500 parts
  /// in a million (adjtimex(2)): by ours it may end a transfer a little early.
  private static func isTotal(_ facts: Facts) -> Bool {
    facts.request.totalTimeout.map { facts.elapsed + .milliseconds(2) + $0 / 1000 >= $0 } ?? false
  }

  static func message(_ kind: TransferFailure.Kind, _ facts: Facts) -> String {
    let host = facts.request.origin.host
    let place = "\(host), port \(facts.request.origin.port)"
    switch kind {
    case .invalid: return "Nothing was sent to \(host): \(reason(facts))."
    case .resolve: return "The name \(host) has no address; check its spelling and the name server."
    case .connect: return "No connection to \(place): \(reason(facts))."
    case .refused: return "Connection refused by \(place): nobody listens there; is the server running?"
    case .tls(let fault):
      return TLSFaultRule.message(fault, host: host, place: place, reason: reason(facts))
    case .proxy: return proxyMessage(facts)
    case .addressRefused: return refusalMessage(facts)
    case .timedOut(let phase): return message(phase, facts)
    case .noReply: return "\(host) closed the connection without an answer."
    case .reset: return "The connection to \(host) broke: \(reason(facts))."
    case .partial: return "\(host) closed the connection too early: \(extent(facts))."
    case .badFraming: return "The answer of \(host) is not HTTP: \(reason(facts))."
    case .headTooLarge:
      return "The response head or trailers of \(host) are larger than \(facts.request.limitHeadBytes) bytes."
    case .sendFailed: return "The request could not be sent to \(host): \(reason(facts))."
    case .stopped: return "The transfer from \(host) was stopped."
    case .closed: return "The transfer from \(host) ended because its engine was closed."
    case .other: return "The transfer from \(host) failed: \(reason(facts))."
    }
  }

  private static func message(_ phase: TransferFailure.Phase, _ facts: Facts) -> String {
    let (request, host) = (facts.request, facts.request.origin.host)
    switch phase {
    case .resolve: return "The name server gave no address of \(host) within \(request.connectTimeout); does it work?"
    case .connect: return "No connection to \(host) within \(request.connectTimeout)."
    case .idle: return "\(host) sent nothing for \(request.idleTimeout)."
    case .total: return "The transfer from \(host) was not complete within \(request.totalTimeout ?? facts.elapsed)."
    }
  }

  private static func proxyMessage(_ facts: Facts) -> String {
    let (host, proxy) = (facts.request.origin.host, facts.request.proxy?.description ?? "")
    switch facts.code {
    case 5: return "The name of the proxy \(proxy) for \(host) has no address; check its spelling."
    case 7 where facts.systemError == connectionRefused:
      return "The proxy \(proxy) for \(host) refused the connection: nobody listens there; is it running?"
    case 28: return "No connection to the proxy \(proxy) for \(host) within \(facts.request.connectTimeout)."
    case _ where facts.connectStatus == 407:
      return "The proxy \(proxy) for \(host) wants a user and a password (407), or others than it was given."
    case _ where facts.connectStatus >= 300:
      return "The proxy \(proxy) opens no tunnel to \(host): it answered with status \(facts.connectStatus)."
    default: return "No connection to the proxy \(proxy) for \(host): \(reason(facts))."
    }
  }

  private static func refusalMessage(_ facts: Facts) -> String {
    guard let refused = facts.refusedAddress else { return reason(facts) }
    return
      "\(facts.request.origin.host) leads to \(refused.address) (\(refused.purpose)), and only public addresses are "
      + "allowed."
  }

  private static func extent(_ facts: Facts) -> String {
    guard let promised = facts.promisedBytes else { return "\(facts.bodyBytes) bytes came, but no end" }
    return "\(facts.bodyBytes) of \(promised) bytes came"
  }

  private static func reason(_ facts: Facts) -> String {
    if facts.cause == .bodyBeforeHead { return "a body came before the final head" }
    // libcurl's sentence may quote what it was given, so one that may hold a user's name is not passed on.
    if !facts.detail.isEmpty, !facts.detail.contains("@") { return facts.detail }
    return facts.systemText.isEmpty ? "libcurl error \(facts.code)" : facts.systemText
  }

  /// ECONNREFUSED on Linux, see errno(3).
  private static let connectionRefused = 111
}
