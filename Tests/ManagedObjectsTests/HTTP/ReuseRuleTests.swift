import Testing

@testable import ManagedObjects

private let received = WallTime(seconds: 784_111_777)

private func facts(
  _ fields: HeaderFields = [:], status: Int = 200, varying: HeaderFields = [:], responseTime: WallTime = received
) -> EntryFacts {
  EntryFacts(
    head: LoadHead(status: status, fields: fields), requestTime: responseTime, responseTime: responseTime,
    varying: varying)
}

private func decide(
  _ facts: EntryFacts, fields: HeaderFields = [:], mode: CacheMode = .standard, freshness: Freshness = .http,
  after seconds: Double = 0, isSuspect: Bool = false
) -> ReuseRule.Verdict {
  ReuseRule.decide(
    facts, fields: fields, mode: mode, freshness: freshness, now: received + .seconds(seconds), isSuspect: isSuspect
  ).verdict
}

private func reason(
  _ facts: EntryFacts, fields: HeaderFields = [:], mode: CacheMode = .standard, freshness: Freshness = .http,
  after seconds: Double = 0, isSuspect: Bool = false
) -> AnswerReason {
  ReuseRule.decide(
    facts, fields: fields, mode: mode, freshness: freshness, now: received + .seconds(seconds), isSuspect: isSuspect
  ).reason
}

private let stale = ReuseRule.Verdict.stale(conditions: [:])

@Suite struct ReuseRuleTests {
  @Test func `a response is fresh for less than its lifetime`() {
    let stored = facts(["Cache-Control": "max-age=60"])
    #expect(decide(stored, after: 59.999) == .fresh)
    #expect(decide(stored, after: 60) == stale)
    #expect(decide(facts()) == stale)
  }

  @Test(arguments: [
    ("-1", "Sun, 06 Nov 1994 08:49:37 GMT"), ("0", ""), ("Thu, 99 Foo 2099", "garbage"),
    ("", "Sun, 06 Nov 1994 08:49:37 GMT"),
  ])
  func `an Expires that nobody can read does no harm but is stale`(expires: String, date: String) {
    #expect(decide(facts(["Expires": expires, "Date": date])) == stale)
  }

  @Test func `giant times are fresh without overflow, negative ones are stale`() {
    #expect(decide(facts(["Cache-Control": "max-age=99999999999999999999"]), after: 1e9) == .fresh)
    #expect(decide(facts(["Expires": "Fri, 31 Dec 9999 23:59:59 GMT"]), after: 1e9) == .fresh)
    #expect(decide(facts(["Cache-Control": "max-age=-5"])) == stale)
  }

  @Test func `validators become conditions`() {
    let both = facts(["ETag": "\"v1\"", "Last-Modified": "Sun, 06 Nov 1994 08:00:00 GMT", "Cache-Control": "max-age=0"])
    #expect(
      decide(both)
        == .stale(conditions: ["If-None-Match": "\"v1\"", "If-Modified-Since": "Sun, 06 Nov 1994 08:00:00 GMT"]))
    #expect(decide(facts(["ETag": "W/\"v1\""])) == .stale(conditions: ["If-None-Match": "W/\"v1\""]))
    #expect(decide(facts(["ETag": "", "Last-Modified": ""])) == stale)
    #expect(decide(facts(["ETag": "\"v1\""], status: 404)) == stale)
  }

  @Test func `no-cache and a suspicion ask the server though fresh`() {
    #expect(decide(facts(["Cache-Control": "max-age=60, no-cache"])) == stale)
    #expect(decide(facts(["Cache-Control": "max-age=60, no-cache=\"Set-Cookie\""])) == .fresh)
    #expect(decide(facts(["Cache-Control": "max-age=60"]), isSuspect: true) == stale)
    #expect(decide(facts(), freshness: .immutable, isSuspect: true) == stale)
  }

  @Test func `the modes of fetch decide as they are defined`() {
    let fresh = facts(["Cache-Control": "max-age=60"])
    let old = facts(["Cache-Control": "max-age=0, no-cache"])
    for stored in [fresh, old] {
      #expect(decide(stored, mode: .noStore) == .unusable)
      #expect(decide(stored, mode: .reload) == .unusable)
      #expect(decide(stored, mode: .noCache) == stale)
      #expect(decide(stored, mode: .forceCache, after: 1e9) == .fresh)
      #expect(decide(stored, mode: .onlyIfCached, after: 1e9) == .fresh)
    }
    #expect(decide(fresh) == .fresh)
    #expect(decide(old) == stale)
    #expect(decide(fresh, mode: .noCache, freshness: .immutable) == stale)
    #expect(decide(fresh, mode: .noCache, freshness: .ttl(.seconds(60))) == stale)
    #expect(decide(fresh, mode: .forceCache, isSuspect: true) == stale)
    #expect(decide(fresh, mode: .onlyIfCached, isSuspect: true) == .fresh)
  }

  @Test func `immutable saves a question while fresh, and no longer`() {
    let stored = facts(["Cache-Control": "max-age=60, immutable"])
    #expect(decide(stored, mode: .noCache, after: 59) == .fresh)
    #expect(decide(stored, mode: .noCache, after: 60) == stale)
    #expect(decide(stored, after: 60) == stale)
    #expect(decide(facts(["Cache-Control": "immutable"])) == stale)
  }

  @Test func `the caller's freshness overrules the response`() {
    let stored = facts(["Cache-Control": "no-store, no-cache, max-age=0"])
    #expect(decide(stored, freshness: .immutable, after: 1e10) == .fresh)
    #expect(decide(stored, freshness: .ttl(.seconds(10)), after: 9.999) == .fresh)
    #expect(decide(stored, freshness: .ttl(.seconds(10)), after: 10) == stale)
    #expect(decide(stored, freshness: .ttl(.seconds(-1))) == stale)
    #expect(decide(facts(["Cache-Control": "max-age=60"]), freshness: .ttl(.zero)) == stale)
  }

  @Test func `a clock that was ahead and is put right does not make an entry fresh for ever`() {
    let ahead = facts(["Cache-Control": "max-age=60"], responseTime: received + .seconds(30 * 86_400))
    #expect(decide(ahead, after: 61) == stale)
    #expect(decide(ahead, freshness: .ttl(.seconds(60)), after: 61) == stale)
    #expect(decide(ahead, freshness: .immutable, after: 61) == .fresh)
    #expect(decide(ahead, after: 30 * 86_400 + 59) == .fresh)
  }

  @Test func `a stored answer is given only to requests that match what it varies on`() {
    let fields: HeaderFields = ["Vary": "Accept-Language, X-Kind", "Cache-Control": "max-age=600"]
    let stored = facts(fields, varying: ["accept-language": "en"])
    #expect(decide(stored, fields: ["ACCEPT-language": "en"]) == .fresh)
    #expect(decide(stored, fields: ["Accept-Language": "de"]) == .unusable)
    #expect(decide(stored, fields: ["Accept-Language": "en", "X-Kind": "a"]) == .unusable)
    #expect(decide(stored) == .unusable)
    for mode in CacheMode.allCases {
      #expect(decide(facts(["Vary": "*", "Cache-Control": "max-age=600"]), mode: mode) == .unusable)
      #expect(decide(facts(["Vary": "Accept-Language)"]), mode: mode) == .unusable)
    }
  }

  @Test func `what never changes has variants all the same, but no doubt about them`() {
    let stored = facts(["Vary": "Accept"], varying: ["accept": "a"])
    for freshness in [Freshness.immutable, .ttl(.seconds(9))] {
      #expect(decide(stored, fields: ["Accept": "a"], freshness: freshness) == .fresh)
      #expect(decide(stored, fields: ["Accept": "b"], freshness: freshness) == .unusable)
      for vary in ["*", "Accept)"] { #expect(decide(facts(["Vary": vary]), freshness: freshness) == .fresh) }
    }
  }

  // MARK: Reasons

  @Test func `each decision says why`() {
    let stored = facts(["Cache-Control": "max-age=60"])
    #expect(reason(stored) == .fresh)
    #expect(reason(stored, after: 60) == .expired)
    #expect(reason(stored, isSuspect: true) == .undecodable)
    #expect(reason(stored, after: -1) == .clock)
    #expect(reason(stored, freshness: .ttl(.seconds(9)), after: -1) == .clock)
    #expect(reason(stored, freshness: .ttl(.seconds(9)), after: 9) == .expired)
    #expect(reason(stored.invalidated, freshness: .immutable) == .invalidated)
    #expect(reason(facts(["Cache-Control": "no-cache"])) == .noCache)
    #expect(reason(facts(["Vary": "A"], varying: ["a": "1"])) == .varies)
    #expect(reason(facts(["Vary": "*"])) == .varies)
  }

  @Test func `so does each mode, and each directive of the request`() {
    let stored = facts(["Cache-Control": "max-age=60"])
    #expect(reason(stored, mode: .reload) == .reload)
    #expect(reason(stored, mode: .noStore) == .noStore)
    #expect(reason(stored, mode: .noCache) == .noCache)
    for mode in [CacheMode.forceCache, .onlyIfCached] {
      #expect(reason(stored, mode: mode) == .fresh)
      #expect(reason(stored, mode: mode, after: 61) == .staleAllowed)
    }
    func asking(_ directive: String, after seconds: Double) -> AnswerReason {
      reason(stored, fields: ["Cache-Control": directive], after: seconds)
    }
    #expect(asking("no-cache", after: 1) == .noCache && asking("max-age=0", after: 1) == .noCache)
    #expect(asking("max-age=5", after: 6) == .expired && asking("min-fresh=5", after: 56) == .expired)
    #expect(asking("max-stale", after: 61) == .staleAllowed && asking("max-stale", after: 1) == .fresh)
  }

  @Test(arguments: [
    ("max-age=0", 0, false), ("max-age=10", 10, true), ("max-age=10", 11, false), ("max-age=1000", 60, false),
    ("min-fresh=10", 49, true), ("min-fresh=10", 50, false), ("no-cache", 0, false),
    ("max-stale", 1e6, true), ("max-stale=10", 70, true), ("max-stale=10", 71, false), ("max-stale=x", 61, false),
    ("max-stale=10, min-fresh=1", 61, false), ("only-if-cached", 59, true), ("", 59, true), ("x", 60, false),
  ])
  func `the request's own directives count`(directive: String, age: Double, isFresh: Bool) {
    let verdict = decide(
      facts(["Cache-Control": "max-age=60"]), fields: ["Cache-Control": directive], after: age)
    #expect((verdict == .fresh) == isFresh)
  }

  @Test func `max-stale never overrules the server`() {
    for control in ["max-age=60, must-revalidate", "max-age=60, no-cache"] {
      let verdict = decide(facts(["Cache-Control": control]), fields: ["Cache-Control": "max-stale"], after: 61)
      #expect(verdict == stale)
    }
  }
}
