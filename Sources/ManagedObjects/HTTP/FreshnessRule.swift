/// How old a stored response is and how long it stays fresh (RFC 9111 section 4.2).
package enum FreshnessRule {
  /// current_age of section 4.2.3, at least zero. nil: the response lies in the future, because the clock was ahead when
  /// it came and has been put right; its age cannot be known.
  package static func age(of facts: EntryFacts, at now: WallTime) -> Duration? {
    guard facts.responseTime <= now else { return nil }
    return initialAge(of: facts) + (now - facts.responseTime)
  }

  /// corrected_initial_age: how old it was when it came.
  private static func initialAge(of facts: EntryFacts) -> Duration {
    let received = ageField(facts.head.fields)
    let delay = max(.zero, facts.responseTime - facts.requestTime)
    guard let date = date(facts) else { return received + delay }
    // Date has whole seconds, rounded down: what it may have lost is no age.
    let apparent = max(.zero, facts.responseTime - date - .milliseconds(999))
    return max(apparent, received + delay)
  }

  /// The first member of the first Age field; what is not digits only is no age (section 5.1).
  private static func ageField(_ fields: HeaderFields) -> Duration {
    let digits = trimmed(fields.bytes(of: "Age")?.prefix { $0 != UInt8(ascii: ",") } ?? [])
    guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return .zero }
    return .seconds(digits.reduce(Int64(0)) { min($0 * 10 + Int64($1 - 0x30), 1 << 31) })
  }

  /// How long a response is fresh, and who says so.
  package struct Grant: Hashable, Sendable {
    package enum Origin: String, Sendable {
      case maxAge = "max-age"
      case expires = "Expires"
      /// A part of the time since it was last modified.
      case heuristic
      /// Nobody says anything, so it is not fresh at all.
      case none
    }

    package let lifetime: Duration
    package let origin: Origin
  }

  package static func lifetime(of facts: EntryFacts) -> Duration { grant(of: facts).lifetime }

  package static func grant(of facts: EntryFacts) -> Grant { grant(of: facts, CacheControl(facts.head.fields)) }

  /// freshness_lifetime of section 4.2.1, as a private cache reads it.
  /// - Parameter control: what its Cache-Control says, for those who know it already.
  static func grant(of facts: EntryFacts, _ control: CacheControl) -> Grant {
    let fields = facts.head.fields
    if let maxAge = control.maxAge { return Grant(lifetime: maxAge, origin: .maxAge) }
    if fields.contains("Expires") {
      // Two, or one that cannot be read, mean already expired (section 5.3).
      let lines = fields.values(of: "Expires")
      guard lines.count == 1, let expires = HTTPDate.parse(lines[0], now: facts.responseTime) else {
        return Grant(lifetime: .zero, origin: .expires)
      }
      return Grant(lifetime: max(.zero, expires - (date(facts) ?? facts.responseTime)), origin: .expires)
    }
    let isGuessable = heuristicStatuses.contains(facts.head.status) || control.isPublic
    let guess = isGuessable ? heuristicLifetime(of: facts) : nil
    return guess.map { Grant(lifetime: $0, origin: .heuristic) } ?? Grant(lifetime: .zero, origin: .none)
  }

  /// A tenth of the time since the last modification, at most a day (section 4.2.2). nil: nobody knows when that was.
  private static func heuristicLifetime(of facts: EntryFacts) -> Duration? {
    guard let date = facts.head.fields.bytes(of: "Last-Modified"),
      let modified = HTTPDate.parse(date, now: facts.responseTime)
    else { return nil }
    let unchanged = (self.date(facts) ?? facts.responseTime) - modified
    return min(max(.zero, unchanged / 10), .seconds(86_400))
  }

  /// RFC 9110 section 15.1, without 206, which is never stored.
  private static let heuristicStatuses = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

  /// Whether the server itself said how long, or that not at all.
  package static func isExplicit(_ fields: HeaderFields) -> Bool {
    let control = CacheControl(fields)
    return control.maxAge != nil || control.noStore || control.noCache || fields.contains("Expires")
  }

  private static func date(_ facts: EntryFacts) -> WallTime? {
    facts.head.fields.bytes(of: "Date").flatMap { HTTPDate.parse($0, now: facts.responseTime) }
  }
}
