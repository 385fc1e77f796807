/// Whether a stale response may be given all the same (RFC 9111 section 4.2.4, RFC 5861). Never against must-revalidate
/// or no-cache, and never where its age cannot be known.
package enum StaleRule {
  package enum Occasion: Sendable {
    /// At once, while a background load asks the server.
    case revalidating
    /// The server could not be reached, or its answer did not arrive whole.
    case unreachable
    /// The server answered with this status.
    case status(Int)
  }

  /// Where the server sets no limit for an outage.
  private static var limitOutage: Duration { .seconds(7 * 86_400) }

  package static func mayAnswer(
    with facts: EntryFacts, on occasion: Occasion, freshness: Freshness, now: WallTime
  ) -> Bool {
    timeLeft(of: facts, on: occasion, freshness: freshness, now: now) != nil
  }

  /// How long it may be given from now on; nil: not any more, or never.
  package static func timeLeft(
    of facts: EntryFacts, on occasion: Occasion, freshness: Freshness, now: WallTime
  ) -> Duration? {
    let control = CacheControl(freshness == .http ? facts.head.fields : [:])
    guard !control.noCache, !control.mustRevalidate, let staleness = staleness(of: facts, freshness, now),
      let limit = limit(on: occasion, control), staleness <= limit
    else { return nil }
    return limit - staleness
  }

  /// The same for a load that failed: only where the caller left it to the rules, and never what was invalidated.
  package static func mayBridge(
    _ facts: EntryFacts, _ occasion: Occasion, mode: CacheMode, freshness: Freshness, now: WallTime
  ) -> Bool {
    (mode == .standard || mode == .forceCache) && !facts.isInvalidated
      && mayAnswer(with: facts, on: occasion, freshness: freshness, now: now)
  }

  /// nil: not on this occasion.
  private static func limit(on occasion: Occasion, _ control: CacheControl) -> Duration? {
    switch occasion {
    case .revalidating: control.staleWhileRevalidate
    case .unreachable: control.staleIfError ?? limitOutage
    // RFC 5861 section 4 names these.
    case .status(let status): [500, 502, 503, 504].contains(status) ? control.staleIfError : nil
    }
  }

  /// How long ago it stopped being fresh.
  private static func staleness(of facts: EntryFacts, _ freshness: Freshness, _ now: WallTime) -> Duration? {
    switch freshness {
    case .immutable: .zero
    case .ttl(let time): facts.responseTime <= now ? now - facts.responseTime - time : nil
    case .http: FreshnessRule.age(of: facts, at: now).map { $0 - FreshnessRule.lifetime(of: facts) }
    }
  }
}
