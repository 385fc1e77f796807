import Testing

@testable import ManagedObjects

private let received = WallTime(seconds: 784_111_777)

private func facts(_ fields: HeaderFields, status: Int = 200, at seconds: Double = 0) -> EntryFacts {
  let time = received + .seconds(seconds)
  return EntryFacts(head: LoadHead(status: status, fields: fields), requestTime: time, responseTime: time)
}

private func plan(
  _ stored: [EntryFacts], missing: AnswerReason = .absent, method: String = "GET", _ request: HeaderFields = [:],
  mode: CacheMode = .standard,
  after seconds: Double
) -> ExchangeRule.Plan {
  ExchangeRule.plan(
    stored, missing: missing, method: method, request: request, mode: mode, freshness: .http,
    now: received + .seconds(seconds))
}

private let tagged: HeaderFields = ["Cache-Control": "max-age=10", "ETag": "\"a\""]
private let condition: HeaderFields = ["If-None-Match": "\"a\""]

struct ExchangeRuleTests {
  @Test func `what is fresh is served, what is stale is asked about`() {
    #expect(plan([facts(tagged)], after: 5) == .serve(0, .fresh))
    #expect(plan([facts(tagged)], after: 10) == .ask(base: 0, conditions: condition, .expired))
    #expect(plan([], after: 0) == .ask(base: nil, conditions: [:], .absent))
    #expect(plan([], missing: .varies, after: 0) == .ask(base: nil, conditions: [:], .varies))
  }

  @Test func `the newest answer decides, an error as well as a success`() {
    let good = facts(tagged)
    let gone = facts(["Cache-Control": "max-age=3"], status: 404, at: 1)
    #expect(plan([good, gone], after: 2) == .serve(1, .fresh))
    // The error is over its time: the older success is not what the server said last, but may be confirmed.
    #expect(plan([good, gone], after: 5) == .ask(base: 0, conditions: condition, .expired))
    #expect(plan([gone], after: 5) == .ask(base: nil, conditions: [:], .expired))
  }

  @Test func `an error that came in the millisecond of the good answer beside it came after that`() {
    let good = facts(["Cache-Control": "max-age=0"])
    let gone = facts(["Cache-Control": "max-age=60"], status: 404)
    #expect(plan([good, gone], after: 1) == .serve(1, .fresh))
  }

  @Test func `stale-while-revalidate is served at once, unless the request wants better`() {
    let stored = facts(["Cache-Control": "max-age=10, stale-while-revalidate=20"])
    #expect(plan([stored], after: 15) == .serveAndRefresh(0))
    #expect(plan([stored], after: 31) == .ask(base: 0, conditions: [:], .expired))
    for (asked, why) in [("no-cache", AnswerReason.noCache), ("max-age=12", .expired), ("min-fresh=1", .expired)] {
      #expect(plan([stored], ["Cache-Control": asked], after: 15) == .ask(base: 0, conditions: [:], why))
    }
    #expect(plan([stored.invalidated], after: 15) == .ask(base: 0, conditions: [:], .invalidated))
  }

  @Test func `only-if-cached never asks, and the directive never gives what is stale`() {
    #expect(plan([], ["Cache-Control": "only-if-cached"], after: 0) == .gatewayTimeout(.absent))
    #expect(plan([facts(tagged)], ["Cache-Control": "only-if-cached"], after: 11) == .gatewayTimeout(.expired))
    #expect(plan([facts(tagged)], ["Cache-Control": "only-if-cached"], after: 1) == .serve(0, .fresh))
    #expect(plan([facts(tagged)], mode: .onlyIfCached, after: 11) == .serve(0, .staleAllowed))
    #expect(plan([], mode: .onlyIfCached, after: 0) == .gatewayTimeout(.absent))
    let asked: HeaderFields = ["Cache-Control": "only-if-cached"]
    #expect(plan([], asked, mode: .forceCache, after: 0) == .gatewayTimeout(.absent))
    #expect(plan([facts(tagged)], asked, mode: .forceCache, after: 11) == .serve(0, .staleAllowed))
    for mode in [CacheMode.reload, .noStore, .noCache] {
      guard case .gatewayTimeout = plan([facts(tagged)], asked, mode: mode, after: 1) else {
        Issue.record("\(mode) asks the server")
        continue
      }
    }
    #expect(plan([], ["Cache-Control": "only-if-cached, no-store"], after: 0) == .gatewayTimeout(.noStore))
  }

  @Test func `a request that says no-store looks at nothing`() {
    #expect(
      plan([facts(tagged)], ["Cache-Control": "no-store"], after: 1) == .ask(base: nil, conditions: [:], .noStore))
  }

  @Test func `max-stale takes what is stale, and says so`() {
    #expect(plan([facts(tagged)], ["Cache-Control": "max-stale=5"], after: 12) == .serve(0, .staleAllowed))
  }

  @Test func `a part and a HEAD are asked for without our condition`() {
    #expect(plan([facts(tagged)], ["Range": "bytes=0-1"], after: 20) == .ask(base: 0, conditions: [:], .expired))
    #expect(plan([facts(tagged)], method: "HEAD", after: 20) == .ask(base: 0, conditions: [:], .expired))
    #expect(plan([facts(tagged)], method: "HEAD", after: 2) == .serve(0, .fresh))
  }

  @Test(
    arguments: [
      (.standard, nil), (.forceCache, nil), (.onlyIfCached, nil), (.noCache, "max-age=0"), (.reload, "no-cache"),
      (.noStore, "no-cache"),
    ] as [(CacheMode, String?)])
  func `who asks anew says so to caches on the way, unless the caller says something else`(
    mode: CacheMode, directive: String?
  ) {
    #expect(ExchangeRule.sent([:], [:], mode: mode)["Cache-Control"] == directive)
    #expect(ExchangeRule.sent([:], ["If-None-Match": "\"a\""], mode: mode)["Cache-Control"] == directive)
    #expect(ExchangeRule.sent(["cache-control": "max-age=5"], [:], mode: mode)["Cache-Control"] == "max-age=5")
    #expect(ExchangeRule.sent([:], [:], mode: mode)["Accept-Encoding"] == "gzip, deflate")
  }

  @Test func `our condition takes the place of the caller's`() {
    let fields: HeaderFields = ["If-None-Match": "\"mine\"", "If-Modified-Since": "x", "A": "1"]
    #expect(ExchangeRule.conditional(fields, [:]) == fields)
    #expect(ExchangeRule.conditional(fields, condition) == ["A": "1", "If-None-Match": "\"a\""])
  }

  @Test func `a HEAD confirms what has its validators and length`() {
    let stored = facts(["ETag": "\"a\"", "Content-Length": "3"])
    func confirms(_ fields: HeaderFields) -> Bool {
      ExchangeRule.confirms(LoadHead(fields: fields), stored, count: 3)
    }
    #expect(confirms(["ETag": "\"a\"", "Content-Length": "3"]) && confirms([:]))
    #expect(!confirms(["ETag": "\"b\""]) && !confirms(["Content-Length": "4"]) && !confirms(["Last-Modified": "x"]))
  }

  @Test func `an unsafe method that succeeds makes its URL and those it names of its origin stale`() throws {
    let here = try URLRule.parse("http://a.example/x").get()
    func keys(_ method: String, _ status: Int, _ fields: HeaderFields = [:]) -> [String] {
      ExchangeRule.invalidated(by: LoadHead(status: status, fields: fields), method: method, location: here).map(\.key)
    }
    #expect(keys("POST", 200) == ["http://a.example/x"])
    #expect(keys("M-SEARCH", 302).count == 1)
    #expect(keys("DELETE", 404).isEmpty && keys("PUT", 500).isEmpty)
    for method in ["GET", "HEAD", "OPTIONS", "TRACE"] { #expect(keys(method, 200).isEmpty) }
    #expect(
      keys("PUT", 201, ["Location": "/y", "Content-Location": "http://b.example/z"])
        == ["http://a.example/x", "http://a.example/y"])
    #expect(keys("PUT", 201, ["Location": "http://a.example:81/y"]).count == 1)
  }

  @Test func `a POST answers later GETs only where it says so and for how long`() throws {
    let here = try URLRule.parse("http://a.example/x").get()
    func answers(_ fields: HeaderFields, status: Int = 200) -> Bool {
      ExchangeRule.answersGET(LoadHead(status: status, fields: fields), location: here)
    }
    #expect(answers(["Cache-Control": "max-age=9", "Content-Location": "/x"]))
    #expect(!answers(["Content-Location": "/x"]) && !answers(["Cache-Control": "max-age=9"]))
    #expect(!answers(["Cache-Control": "max-age=9", "Content-Location": "/y"]))
    #expect(!answers(["Cache-Control": "max-age=9", "Content-Location": "/x"], status: 404))
  }
}
