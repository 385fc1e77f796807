import Testing

@testable import ManagedObjects

/// Sun, 06 Nov 1994 08:49:37 GMT
private let received = WallTime(seconds: 784_111_777)
private let date = "Sun, 06 Nov 1994 08:49:37 GMT"

private func facts(
  _ fields: HeaderFields, status: Int = 200, requestTime: WallTime? = nil, responseTime: WallTime = received
) -> EntryFacts {
  EntryFacts(
    head: LoadHead(status: status, fields: fields), requestTime: requestTime ?? responseTime, responseTime: responseTime
  )
}

private func after(_ seconds: Double) -> WallTime { received + .seconds(seconds) }

@Suite struct FreshnessRuleTests {
  @Test func `age is the time since it came, without a word from the server`() {
    #expect(FreshnessRule.age(of: facts([:]), at: received) == .zero)
    #expect(FreshnessRule.age(of: facts([:]), at: after(2.5)) == .seconds(2.5))
  }

  @Test(arguments: [
    ("7", 7), (" 7 , 9", 7), ("07", 7), ("-7", 0), ("7.5", 0), ("abc", 0), ("", 0), ("7s", 0), ("+7", 0), ("\"7\"", 0),
    ("2147483648", 2_147_483_648), ("99999999999999999999", 2_147_483_648),
  ])
  func `the Age field counts where it is digits only`(value: String, age: Int) {
    #expect(FreshnessRule.age(of: facts(["Age": value]), at: received) == .seconds(age))
  }

  @Test func `the first Age field counts`() {
    #expect(FreshnessRule.age(of: facts(["Age": "7", "age": "9"]), at: received) == .seconds(7))
  }

  @Test func `the time that the answer took is age`() {
    let slow = facts(["Age": "7"], requestTime: after(-3))
    #expect(FreshnessRule.age(of: slow, at: after(1)) == .seconds(11))
    // The clock was put back meanwhile.
    #expect(FreshnessRule.age(of: facts(["Age": "7"], requestTime: after(3)), at: received) == .seconds(7))
  }

  @Test func `Date counts where it says more, and its lost fraction of a second does not`() {
    let fields: HeaderFields = ["Date": date]
    #expect(FreshnessRule.age(of: facts(fields, responseTime: after(0.999)), at: after(0.999)) == .zero)
    #expect(FreshnessRule.age(of: facts(fields, responseTime: after(100)), at: after(100)) == .milliseconds(99_001))
    #expect(
      FreshnessRule.age(of: facts(["Date": date, "Age": "200"], responseTime: after(100)), at: after(100))
        == .seconds(200))
    #expect(FreshnessRule.age(of: facts(fields, responseTime: after(-50)), at: after(-50)) == .zero)
    #expect(FreshnessRule.age(of: facts(["Date": "garbage"]), at: after(1)) == .seconds(1))
  }

  @Test func `a response from the future has no age`() {
    #expect(FreshnessRule.age(of: facts([:], responseTime: after(86_400 * 30)), at: received) == nil)
    #expect(FreshnessRule.age(of: facts([:], responseTime: after(0.001)), at: received) == nil)
  }

  @Test(
    arguments: [
      ["Cache-Control": "max-age=60"], ["Cache-Control": "max-age=60", "Age": "59"],
      ["Expires": "Sun, 06 Nov 1994 09:00:00 GMT"],
      ["Date": date, "Last-Modified": "Sat, 05 Nov 1994 08:49:37 GMT"], ["Cache-Control": "max-age=60", "Date": date],
    ] as [HeaderFields])
  func `it is fresh until its end, and not then`(fields: HeaderFields) throws {
    let facts = facts(fields, requestTime: after(-0.25), responseTime: after(0.5))
    func decision(_ now: WallTime) -> ReuseRule.Decision {
      ReuseRule.decide(facts, fields: [:], mode: .standard, freshness: .http, now: now)
    }
    let end = try #require(decision(facts.responseTime).freshUntil)
    #expect(end > facts.responseTime)
    #expect(decision(end + .milliseconds(-1)).freshUntil == end)
    #expect(decision(end + .milliseconds(-1)).verdict == .fresh)
    #expect(decision(end).verdict != .fresh)
    #expect(decision(end).freshUntil == nil)
  }

  @Test func `max-age is the lifetime, before Expires, and s-maxage is for others`() {
    let fields: HeaderFields = ["Cache-Control": "s-maxage=5, max-age=60", "Expires": "0", "Date": date]
    #expect(FreshnessRule.lifetime(of: facts(fields)) == .seconds(60))
  }

  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("-1", 0), ("0", 0), ("", 0),
      ("Thu, 99 Foo 2099", 0), ("Sun, 06 Nov 1994 08:50:37 UTC", 0), ("60", 0),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 252_618_189_022),
    ] as [(String, Int64)])
  func `Expires counts from Date, and what cannot be read has expired`(value: String, lifetime: Int64) {
    #expect(FreshnessRule.lifetime(of: facts(["Expires": value, "Date": date])) == .seconds(lifetime))
    #expect(FreshnessRule.lifetime(of: facts(["Expires": value, "Date": "garbage"])) == .seconds(lifetime))
    #expect(FreshnessRule.lifetime(of: facts(["Expires": value, "Expires": value, "Date": date])) == .zero)
  }

  @Test func `a tenth of the time since the last change is guessed, at most a day`() {
    func lifetime(_ modified: String, _ status: Int = 200, _ control: String = "") -> Duration {
      FreshnessRule.lifetime(
        of: facts(["Date": date, "Last-Modified": modified, "Cache-Control": control], status: status))
    }
    #expect(lifetime("Sun, 06 Nov 1994 08:48:37 GMT") == .seconds(6))
    #expect(lifetime("Sat, 06 Nov 1993 08:48:37 GMT") == .seconds(86_400))
    #expect(lifetime("Sun, 06 Nov 1994 08:50:37 GMT") == .zero)
    #expect(lifetime("garbage") == .zero)
    for status in [203, 204, 300, 301, 308, 404, 405, 410, 414, 501] {
      #expect(lifetime("Sun, 06 Nov 1994 08:48:37 GMT", status) == .seconds(6))
    }
    for status in [201, 202, 302, 303, 307, 403, 500, 503, 599] {
      #expect(lifetime("Sun, 06 Nov 1994 08:48:37 GMT", status) == .zero)
      #expect(lifetime("Sun, 06 Nov 1994 08:48:37 GMT", status, "public") == .seconds(6))
    }
    #expect(lifetime("Sun, 06 Nov 1994 08:48:37 GMT", 200, "max-age=-1") == .zero)
  }

  @Test func `without any word there is no lifetime`() {
    #expect(FreshnessRule.lifetime(of: facts([:])) == .zero)
  }

  @Test(arguments: [
    ("Cache-Control", "max-age=0", true), ("Cache-Control", "no-store", true), ("cache-control", "no-cache", true),
    ("Expires", "0", true), ("Cache-Control", "public", false), ("Cache-Control", "s-maxage=5", false),
    ("Age", "5", false),
  ])
  func `explicit is what says how long`(name: String, value: String, isExplicit: Bool) {
    #expect(FreshnessRule.isExplicit(HeaderFields(dictionaryLiteral: (name, value))) == isExplicit)
  }

  @Test func `no times make it trap`() {
    let times = [Int64.min, Int64.min + 1, -1, 0, 1, Int64.max].map(WallTime.init(milliseconds:))
    for request in times {
      for response in times {
        for now in times {
          let facts = facts(
            ["Date": date, "Age": "99999999999", "Expires": date, "Last-Modified": date], requestTime: request,
            responseTime: response)
          _ = FreshnessRule.lifetime(of: facts)
          #expect(FreshnessRule.age(of: facts, at: now).map { $0 >= .zero } ?? (response > now))
        }
      }
    }
  }
}
