/// How a request for the HTTP answer is met, given what is stored (RFC 9111 section 4): the order of questions.
package enum ExchangeRule {
  package enum Plan: Hashable, Sendable {
    /// The stored answer of this place, as it is; stale where the caller allowed that.
    case serve(Int, AnswerReason)
    /// At once, and one load in the background asks the server (RFC 5861 section 3).
    case serveAndRefresh(Int)
    /// Ask the server. With a place, what is stored there may be confirmed by a 304, or stand in for an outage.
    case ask(base: Int?, conditions: HeaderFields, AnswerReason)
    /// Nothing is stored and the caller forbids to ask: 504 (RFC 9111 section 5.2.1.7).
    case gatewayTimeout(AnswerReason)

    /// The place of the stored answer that is given without asking first.
    package var served: Int? {
      switch self {
      case .serve(let place, _), .serveAndRefresh(let place): place
      case .ask, .gatewayTimeout: nil
      }
    }
  }

  /// Methods that are answered from the cache (RFC 9110 section 9.2.3); a HEAD by what a GET brought.
  package static func mayAnswer(_ method: String) -> Bool { method == "GET" || method == "HEAD" }

  /// RFC 9110 section 9.2.1. Any that is not known may change something.
  package static func isSafe(_ method: String) -> Bool { ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method) }

  /// - Parameters:
  ///   - stored: what answers this request as far as Vary tells, successes and errors.
  ///   - missing: why there is nothing, where there is nothing.
  ///   - request: its fields as the caller gave them.
  package static func plan(
    _ stored: [EntryFacts], missing: AnswerReason = .absent, method: String, request: HeaderFields, mode: CacheMode,
    freshness: Freshness, now: WallTime,
    secrets: VaryRule.Secrets? = nil
  ) -> Plan {
    let asked = CacheControl(request)
    let given = mode
    let mode = asked.onlyIfCached ? .onlyIfCached : given
    if asked.noStore { return nothing(.noStore, mode) }
    guard let newest = newest(stored) else { return nothing(missing, mode) }
    // fetch() gives whatever is stored; the directive, what may be used by itself.
    let isDirective = asked.onlyIfCached
    let decision = ReuseRule.decide(
      stored[newest], fields: request, mode: isDirective && given == .onlyIfCached ? .standard : given,
      freshness: freshness, now: now,
      secrets: secrets)
    switch decision.verdict {
    case .fresh: return .serve(newest, decision.reason)
    case .unusable: return nothing(decision.reason, mode)
    case .stale where isDirective: return .gatewayTimeout(decision.reason)
    case .stale: return refresh(stored, newest, method, request, mode, freshness, now, decision.reason)
    }
  }

  private static func nothing(_ reason: AnswerReason, _ mode: CacheMode) -> Plan {
    mode == .onlyIfCached ? .gatewayTimeout(reason) : .ask(base: nil, conditions: [:], reason)
  }

  private static func refresh(
    _ stored: [EntryFacts], _ newest: Int, _ method: String, _ request: HeaderFields, _ mode: CacheMode,
    _ freshness: Freshness, _ now: WallTime, _ reason: AnswerReason
  ) -> Plan {
    if mode == .standard, !CacheControl(request).restrictsAge, !stored[newest].isInvalidated,
      StaleRule.mayAnswer(with: stored[newest], on: .revalidating, freshness: freshness, now: now)
    {
      return .serveAndRefresh(newest)
    }
    let base = stored.indices.filter { (200..<300).contains(stored[$0].head.status) }
      .max { stored[$0].responseTime < stored[$1].responseTime }
    // A part is asked for as it is: its answer confirms nothing about the whole. A HEAD may refresh it all the same.
    let isWhole = method == "GET" && !request.contains("Range")
    let conditions = isWhole ? base.map { ReuseRule.conditions(for: stored[$0].head) } : nil
    return .ask(base: base, conditions: conditions ?? [:], reason)
  }

  /// Of several that came in the same millisecond the last: an error that stands beside a good answer came after it, since a
  /// good one drives it out.
  private static func newest(_ stored: [EntryFacts]) -> Int? {
    stored.indices.reversed().max { stored[$0].responseTime < stored[$1].responseTime }
  }

  /// What is sent: the request's own fields, our conditions, the codings that we undo, and what caches on the way have to
  /// know of the mode (Fetch, HTTP-network-or-cache fetch).
  package static func sent(_ own: HeaderFields, _ conditions: HeaderFields, mode: CacheMode) -> HeaderFields {
    let directive = directive(for: mode)
    if own.isEmpty, conditions.isEmpty, directive == nil { return LoadAttempt.acceptingCodings }
    var fields = conditional(own, conditions)
    if let directive, !fields.contains("Cache-Control") { fields.append("Cache-Control", directive) }
    if !fields.contains("Accept-Encoding"), !fields.contains("Range") {
      fields.append("Accept-Encoding", LoadAttempt.acceptedCodings)
    }
    return fields
  }

  private static func directive(for mode: CacheMode) -> String? {
    switch mode {
    case .noCache: "max-age=0"
    case .reload, .noStore: "no-cache"
    case .standard, .forceCache, .onlyIfCached: nil
    }
  }

  /// The request's fields with our conditions in place of the caller's, which are answered from what is stored afterwards.
  package static func conditional(_ fields: HeaderFields, _ conditions: HeaderFields) -> HeaderFields {
    guard !conditions.isEmpty else { return fields }
    var result = fields
    for name in ["If-None-Match", "If-Modified-Since"] { result.remove(name) }
    for field in conditions { result.append(field.name, field.value) }
    return result
  }

  /// What a HEAD says about the stored answer to GET (RFC 9111 section 4.3.5): true, it is the same and may be renewed;
  /// false, it is another.
  package static func confirms(_ head: LoadHead, _ stored: EntryFacts, count: Int) -> Bool {
    for name in ["ETag", "Last-Modified"] {
      if let new = head.fields[name], new != stored.head.fields[name] { return false }
    }
    guard let length = head.fields["Content-Length"] else { return true }
    return length == (stored.head.fields["Content-Length"] ?? String(count))
  }

  /// Whether the answer to a POST is also that of later GETs (RFC 9110 section 9.3.3): it says for how long, and that it
  /// is about this URL.
  package static func answersGET(_ head: LoadHead, location: URLRule.Location) -> Bool {
    guard head.status == 200, FreshnessRule.isExplicit(head.fields), let named = head.fields["Content-Location"] else {
      return false
    }
    return (try? URLRule.resolve(named, from: location).get())?.key == location.key
  }

  /// URLs whose stored answers are good no longer after this one (RFC 9111 section 4.4): its own, and those that it names
  /// of the same origin.
  package static func invalidated(
    by head: LoadHead, method: String, location: URLRule.Location
  ) -> [URLRule.Location] {
    guard !isSafe(method), (200..<400).contains(head.status) else { return [] }
    let named = ["Location", "Content-Location"].compactMap { head.fields[$0] }.compactMap { text in
      try? URLRule.resolve(text, from: location).get()
    }
    return [location] + named.filter { $0.origin == location.origin }
  }
}
