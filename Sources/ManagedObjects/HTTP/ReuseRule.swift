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
/// In every mode the request must match what the response varies on. A response that lies in the future counts as stale:
/// the clock was ahead, and nobody knows how old it is.
package enum ReuseRule {
  package enum Verdict: Hashable, Sendable {
    case fresh
    /// Ask the server; with these fields added it may answer 304. Empty: there is no validator.
    case stale(conditions: HeaderFields)
    case unusable
  }

  /// - Parameters:
  ///   - fields: the request's, as the caller gave them: what the library itself adds to a load is left out here as in
  ///     `StoreRule.varying`.
  ///   - isSuspect: no representation could decode these bytes, and it is time to ask whether they are still so.
  ///   - secrets: as for `StoreRule.varying`; nil: no field is secret.
  package static func decide(
    _ facts: EntryFacts, fields: HeaderFields, mode: CacheMode, freshness: Freshness, now: WallTime,
    isSuspect: Bool = false, secrets: VaryRule.Secrets? = nil
  ) -> Verdict {
    guard mode != .noStore, mode != .reload,
      VaryRule.matches(facts.head, varying: facts.varying, request: fields, secrets: secrets)
    else { return .unusable }
    if mode == .onlyIfCached { return .fresh }
    let isUsable =
      switch mode {
      case .forceCache: true
      case .noCache: freshness == .http && CacheControl(facts.head.fields).isImmutable && isFresh(facts, at: now)
      default: isReusable(facts, fields, freshness, now)
      }
    return isUsable && !isSuspect ? .fresh : .stale(conditions: conditions(for: facts.head))
  }

  private static func isReusable(
    _ facts: EntryFacts, _ fields: HeaderFields, _ freshness: Freshness, _ now: WallTime
  ) -> Bool {
    guard !facts.isInvalidated else { return false }
    return switch freshness {
    case .immutable: true
    case .ttl(let time): facts.responseTime <= now && now - facts.responseTime < time
    case .http: isFresh(facts, at: now, asked: CacheControl(fields))
    }
  }

  /// Section 4.2, and what the request asks for (section 5.2.1).
  private static func isFresh(_ facts: EntryFacts, at now: WallTime, asked: CacheControl = CacheControl([:])) -> Bool {
    let control = CacheControl(facts.head.fields)
    guard !control.noCache, !asked.noCache, let age = FreshnessRule.age(of: facts, at: now) else { return false }
    if let maxAge = asked.maxAge, age > maxAge || maxAge == .zero { return false }
    let left = FreshnessRule.lifetime(of: facts) - age
    if left > (asked.minFresh ?? .zero) { return true }
    guard let maxStale = asked.maxStale, asked.minFresh == nil, !control.mustRevalidate else { return false }
    return .zero - left <= maxStale
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
