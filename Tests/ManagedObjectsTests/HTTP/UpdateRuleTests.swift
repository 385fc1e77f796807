import Testing

@testable import ManagedObjects

private let stored = EntryFacts(
  head: LoadHead(
    status: 200, reason: "OK",
    fields: [
      "Date": "old", "Age": "5", "ETag": "\"v1\"", "Content-Length": "10", "Content-Type": "text/plain",
      "Content-Encoding": "gzip", "X-Kept": "1", "X-Many": "a", "x-many": "b", "Cache-Control": "max-age=2",
    ]), requestTime: WallTime(seconds: 1), responseTime: WallTime(seconds: 2), varying: ["accept": "a/b"],
  generation: 7,
  checksum: 9)

private func updated(_ fields: HeaderFields) -> EntryFacts {
  UpdateRule.updated(
    stored, by: LoadHead(status: 304, fields: fields), requestTime: WallTime(seconds: 11),
    responseTime: WallTime(seconds: 12))
}

@Suite struct UpdateRuleTests {
  @Test func `new fields replace the old ones of their name, the others stay`() {
    let fields = updated(["x-MANY": "c", "Cache-Control": "max-age=100", "X-New": "1", "Date": "new"]).head.fields
    #expect(fields.values(of: "X-Many") == ["c"])
    #expect(fields["Cache-Control"] == "max-age=100")
    #expect(fields["X-New"] == "1")
    #expect(fields["X-Kept"] == "1")
    #expect(fields["Date"] == "new")
    #expect(updated(["X-Many": "c", "x-many": "d"]).head.fields.values(of: "X-Many") == ["c", "d"])
  }

  @Test func `as many fields as a head may have take no time`() {
    var fields = HeaderFields()
    for number in 0..<20_000 { fields.append("x-\(number)", "1") }
    var many = stored
    many.head.fields = fields
    let start = ContinuousClock.now
    let updated = UpdateRule.updated(
      many, by: LoadHead(status: 304, fields: fields), requestTime: WallTime(seconds: 11),
      responseTime: WallTime(seconds: 12))
    #expect(updated.head.fields == fields)
    // One pass takes a fraction of a second; one for each field takes close to a minute.
    #expect(ContinuousClock.now - start < .seconds(20))
  }

  @Test(
    arguments: [
      ([:], ["max-age=2", "max-age=0, redirected"], 0), ([:], ["max-age=2", "redirected"], 60),
      ([:], ["max-age=2", "redirected"], nil),
      (["Cache-Control": "max-age=100, private"], ["max-age=100, private", "max-age=60, redirected"], 60),
      (["Cache-Control": "max-age=100"], ["max-age=100", "redirected"], 100),
    ] as [(HeaderFields, [String], Int?)])
  func `redirects to a 304 hold the answer to their time, and take nothing else from it`(
    fields: HeaderFields, control: [String], lifetime: Int?
  ) {
    let head = RedirectRule.answer(
      LoadHead(status: 304, fields: fields), afterRedirectsFor: lifetime.map { .seconds($0) },
      now: WallTime(seconds: 12))
    let facts = UpdateRule.updated(
      stored, by: head, requestTime: WallTime(seconds: 12), responseTime: WallTime(seconds: 12))
    #expect(facts.head.fields.values(of: "Cache-Control") == control)
  }

  @Test func `an answer that redirects lead to no more is held to nothing by them`() {
    var redirected = stored
    redirected.head = RedirectRule.answer(stored.head, afterRedirectsFor: .zero, now: WallTime(seconds: 2))
    let facts = UpdateRule.updated(
      redirected, by: LoadHead(status: 304), requestTime: WallTime(seconds: 12), responseTime: WallTime(seconds: 12))
    #expect(facts.head.fields.values(of: "Cache-Control") == ["max-age=2"])
    #expect(
      RedirectRule.mayAnswer(.manual, with: facts.head) && !RedirectRule.mayAnswer(.manual, with: redirected.head))
  }

  @Test func `a strong tag that is another than the stored one is about other bytes`() {
    func confirms(_ new: String?, _ old: String?) -> Bool {
      func head(_ tag: String?) -> LoadHead {
        var head = LoadHead()
        head.fields["ETag"] = tag
        return head
      }
      let facts = EntryFacts(head: head(old), requestTime: WallTime(seconds: 1), responseTime: WallTime(seconds: 1))
      return UpdateRule.confirms(head(new), facts)
    }
    #expect(!confirms("\"2\"", "\"1\""))
    #expect(confirms("\"1\"", "\"1\""))
    #expect(confirms(nil, "\"1\"") && confirms("\"1\"", nil))
    #expect(confirms("\"1\"", "W/\"1\"") && confirms("W/\"2\"", "\"1\""))
  }

  @Test func `the body, its name and its status are the old ones`() {
    let facts = updated(["ETag": "\"v1\""])
    #expect(facts.head.status == 200)
    #expect(facts.head.reason == "OK")
    #expect(facts.generation == 7)
    #expect(facts.checksum == 9)
    #expect(facts.varying == stored.varying)
    #expect(facts.requestTime == WallTime(seconds: 11))
    #expect(facts.responseTime == WallTime(seconds: 12))
  }

  @Test func `what describes the stored bytes or the connection is not taken over`() {
    let fields = updated([
      "Content-Length": "0", "content-encoding": "br", "Content-Range": "bytes 0-1/2", "Content-Type": "text/html",
      "Transfer-Encoding": "chunked", "Connection": "X-Hop", "X-Hop": "1", "Keep-Alive": "1",
    ]).head.fields
    #expect(fields["Content-Length"] == "10")
    #expect(fields["Content-Encoding"] == "gzip")
    #expect(fields["Content-Type"] == "text/plain")
    for name in ["Content-Range", "Transfer-Encoding", "Connection", "X-Hop", "Keep-Alive"] {
      #expect(!fields.contains(name))
    }
  }

  @Test func `the old age and date do not make the new answer old`() {
    let facts = updated(["Cache-Control": "max-age=100"])
    #expect(!facts.head.fields.contains("Age"))
    #expect(!facts.head.fields.contains("Date"))
    #expect(FreshnessRule.age(of: facts, at: WallTime(seconds: 12)) == .seconds(1))
    #expect(updated(["Age": "3"]).head.fields.values(of: "Age") == ["3"])
  }

  @Test func `after a 304 with a new lifetime the entry is fresh again`() {
    let decision = ReuseRule.decide(
      updated(["Cache-Control": "max-age=100"]), fields: [:], mode: .standard, freshness: .http,
      now: WallTime(seconds: 100))
    #expect(decision.verdict == .fresh && decision.reason == .fresh)
  }
}
