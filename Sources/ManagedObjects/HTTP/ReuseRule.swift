/// Whether a stored response may answer a request without asking the server (RFC 9111 section 4), given the caller's
/// cache mode and freshness.
///
///     mode                     answer
///     noStore, reload          nothing stored is looked at
///     onlyIfCached             what is stored, however old
///     forceCache               what is stored, however old; asks where nothing could decode it
///     noCache                  asks, except for a fresh response that says `immutable` (RFC 8246)
///     standard                 .immutable: always; .ttl: for that long after it came; .http: while fresh
///
/// In every mode the request must match what the response varies on; where nobody can tell on what it varies (`*`), it
/// matches no request under `.http`, and all where the caller has decided. A response that lies in the future counts as
/// stale: the clock was ahead, and nobody knows how old it is.
package enum ReuseRule {
  package enum Verdict: Hashable, Sendable {
    case fresh
    /// Ask the server; with these fields added it may answer 304. Empty: there is no validator.
    case stale(conditions: HeaderFields)
    case unusable
  }

  package struct Decision: Hashable, Sendable {
    package let verdict: Verdict
    package let reason: AnswerReason
    /// Until when every request that asks nothing special gets this decision by HTTP's rules; nil: it has to be asked for
    /// each time.
    package let freshUntil: WallTime?

    init(_ verdict: Verdict, _ reason: AnswerReason, freshUntil: WallTime? = nil) {
      self.verdict = verdict
      self.reason = reason
      self.freshUntil = freshUntil
    }
  }

  /// - Parameters:
  ///   - fields: the request's, as the caller gave them: what the library itself adds to a load is left out here as in
  ///     `VaryRule.varying`.
  ///   - isSuspect: no representation could decode these bytes, and it is time to ask whether they are still so.
  ///   - secrets: as for `VaryRule.varying`; nil: no field is secret.
  package static func decide(
    _ facts: EntryFacts, fields: HeaderFields, mode: CacheMode, freshness: Freshness, now: WallTime,
    isSuspect: Bool = false, secrets: VaryRule.Secrets? = nil
  ) -> Decision {
    guard mode != .noStore, mode != .reload else { return Decision(.unusable, mode == .reload ? .reload : .noStore) }
    guard matches(facts, fields: fields, freshness: freshness, secrets: secrets) else {
      return Decision(.unusable, .varies)
    }
    let (standing, end) = standing(facts, CacheControl(mode == .noCache ? [:] : fields), freshness, now)
    if mode == .onlyIfCached { return Decision(.fresh, standing == .fresh ? .fresh : .staleAllowed) }
    if isSuspect { return stale(facts, .undecodable) }
    switch (mode, standing) {
    case (.forceCache, _): return Decision(.fresh, standing == .fresh ? .fresh : .staleAllowed)
    case (.noCache, .fresh) where freshness == .http && CacheControl(facts.head.fields).isImmutable:
      return Decision(.fresh, .fresh)
    case (.noCache, _): return stale(facts, .noCache)
    case (_, .fresh), (_, .staleAllowed): return Decision(.fresh, standing, freshUntil: fields.isEmpty ? end : nil)
    default: return stale(facts, standing)
    }
  }

  private static func stale(_ facts: EntryFacts, _ reason: AnswerReason) -> Decision {
    Decision(.stale(conditions: conditions(for: facts.head)), reason)
  }

  /// Whether it answers such a request at all.
  package static func matches(
    _ facts: EntryFacts, fields: HeaderFields, freshness: Freshness, secrets: VaryRule.Secrets?
  ) -> Bool {
    VaryRule.matches(facts.head, varying: facts.varying, request: fields, secrets: secrets)
      || freshness != .http && VaryRule.names(of: facts.head) == nil
        && VaryRule.isCoded(facts.head, facts.varying, asFor: fields)
  }

  /// `.fresh` and until when, if HTTP says so; `.staleAllowed`, or what is to be said against it.
  private typealias Standing = (reason: AnswerReason, end: WallTime?)

  private static func standing(
    _ facts: EntryFacts, _ asked: CacheControl, _ freshness: Freshness, _ now: WallTime
  ) -> Standing {
    if facts.isInvalidated { return (.invalidated, nil) }
    switch freshness {
    case .immutable: return (.fresh, nil)
    case .ttl(let time):
      guard facts.responseTime <= now else { return (.clock, nil) }
      return (now - facts.responseTime < time ? .fresh : .expired, nil)
    case .http: return standing(facts, asked, now)
    }
  }

  /// Section 4.2, and what the request asks for (section 5.2.1).
  private static func standing(_ facts: EntryFacts, _ asked: CacheControl, _ now: WallTime) -> Standing {
    let control = CacheControl(facts.head.fields)
    if control.noCache || asked.noCache || asked.maxAge == .zero { return (.noCache, nil) }
    guard let age = FreshnessRule.age(of: facts, at: now) else { return (.clock, nil) }
    if let maxAge = asked.maxAge, age > maxAge { return (.expired, nil) }
    let left = FreshnessRule.grant(of: facts, control).lifetime - age
    if left > (asked.minFresh ?? .zero) { return (.fresh, now + left) }
    guard let maxStale = asked.maxStale, asked.minFresh == nil, !control.mustRevalidate else { return (.expired, nil) }
    return (.zero - left <= maxStale ? .staleAllowed : .expired, nil)
  }

  /// Section 4.3.1. Only a success is validated: for other statuses a server does not evaluate conditions
  /// (RFC 9110 section 13.2.1).
  package static func conditions(for head: LoadHead) -> HeaderFields {
    var conditions = HeaderFields()
    guard (200..<300).contains(head.status) else { return conditions }
    if let tag = head.fields["ETag"], !tag.isEmpty { conditions.append("If-None-Match", tag) }
    if let date = head.fields["Last-Modified"], !date.isEmpty { conditions.append("If-Modified-Since", date) }
    return conditions
  }
}
