import Testing

@testable import ManagedObjects

private let received = WallTime(seconds: 784_111_777)
private let week = 7 * 86_400.0

private func may(
  _ control: String, on occasion: StaleRule.Occasion, after seconds: Double, freshness: Freshness = .http
) -> Bool {
  let facts = EntryFacts(
    head: LoadHead(fields: ["Cache-Control": control]), requestTime: received, responseTime: received)
  return StaleRule.mayAnswer(with: facts, on: occasion, freshness: freshness, now: received + .seconds(seconds))
}

@Suite struct StaleRuleTests {
  @Test func `an answer while asking needs the server's word, and ends with its window`() {
    #expect(may("max-age=10, stale-while-revalidate=5", on: .revalidating, after: 15))
    #expect(!may("max-age=10, stale-while-revalidate=5", on: .revalidating, after: 15.5))
    #expect(!may("max-age=10", on: .revalidating, after: 11))
    #expect(!may("max-age=10, stale-while-revalidate=x", on: .revalidating, after: 11))
  }

  @Test func `an outage is bridged for a week, or as long as the server says`() {
    #expect(may("max-age=10", on: .unreachable, after: 10 + week))
    #expect(!may("max-age=10", on: .unreachable, after: 11 + week))
    #expect(may("max-age=10, stale-if-error=60", on: .unreachable, after: 70))
    #expect(!may("max-age=10, stale-if-error=60", on: .unreachable, after: 71))
  }

  @Test func `an error status is bridged only where the server says so`() {
    for status in [500, 502, 503, 504] {
      #expect(may("max-age=10, stale-if-error=60", on: .status(status), after: 70))
      #expect(!may("max-age=10, stale-if-error=60", on: .status(status), after: 71))
      #expect(!may("max-age=10", on: .status(status), after: 11))
    }
    for status in [404, 410, 429, 501] {
      #expect(!may("max-age=10, stale-if-error=60", on: .status(status), after: 11))
    }
  }

  @Test(arguments: ["must-revalidate", "no-cache"])
  func `never against the server's word`(word: String) {
    let control = "max-age=10, stale-while-revalidate=99, stale-if-error=99, \(word)"
    for occasion in [StaleRule.Occasion.revalidating, .unreachable, .status(503)] {
      #expect(!may(control, on: occasion, after: 11))
    }
  }

  @Test func `never where the clock was ahead`() {
    #expect(!may("max-age=10, stale-if-error=99", on: .unreachable, after: -1))
  }

  @Test func `the caller's freshness sets where the week begins`() {
    #expect(may("no-cache", on: .unreachable, after: 60 + week, freshness: .ttl(.seconds(60))))
    #expect(!may("no-cache", on: .unreachable, after: 61 + week, freshness: .ttl(.seconds(60))))
    #expect(!may("", on: .unreachable, after: -1, freshness: .ttl(.seconds(60))))
    #expect(may("no-cache", on: .unreachable, after: 1e9, freshness: .immutable))
  }
}
