import Testing

@testable import ManagedObjects

private func may(
  _ status: Int = 200, _ fields: HeaderFields = [:], request: HeaderFields = [:], freshness: Freshness = .http,
  mode: CacheMode = .standard
) -> Bool {
  StoreRule.mayStore(
    head: LoadHead(status: status, fields: fields), requestFields: request, freshness: freshness, mode: mode)
}

private func mayFailure(
  _ status: Int, _ fields: HeaderFields, freshness: Freshness = .http, mode: CacheMode = .standard
) -> Bool {
  StoreRule.mayStoreFailure(
    head: LoadHead(status: status, fields: fields), requestFields: [:], freshness: freshness, mode: mode,
    now: WallTime(seconds: 784_111_777))
}

@Suite struct StoreRuleTests {
  @Test func `a success is stored, a part or anything else is not`() {
    for status in [200, 201, 203, 204, 226, 299] { #expect(may(status)) }
    for status in [103, 206, 300, 302, 304, 404, 416, 503] {
      #expect(!may(status))
      #expect(!may(status, freshness: .immutable))
    }
  }

  @Test func `no-store forbids it, in response and request, unless the caller has decided`() {
    for freshness in [Freshness.immutable, .ttl(.seconds(1))] {
      #expect(may(200, ["Cache-Control": "no-store"], freshness: freshness))
      #expect(may(200, request: ["Cache-Control": "no-store"], freshness: freshness))
      #expect(may(200, ["Vary": "*"], freshness: freshness))
      #expect(!may(200, freshness: freshness, mode: .noStore))
    }
    #expect(!may(200, ["Cache-Control": "max-age=60, NO-STORE"]))
    #expect(!may(200, request: ["cache-control": "no-store"]))
    #expect(!may(200, ["Vary": "a, *"]))
    #expect(may(200, ["Cache-Control": "private, no-cache"]))
  }

  @Test func `a whole that came coded in place of a part is not kept, since nobody undoes it`() {
    let coded: HeaderFields = ["Content-Encoding": "gzip", "Cache-Control": "max-age=60"]
    let range: HeaderFields = ["Range": "bytes=0-1"]
    for freshness in [Freshness.http, .immutable] { #expect(!may(200, coded, request: range, freshness: freshness)) }
    #expect(may(200, coded) && may(200, request: range))
    #expect(may(200, coded, request: ["Range": "bytes=0-1", "Accept-Encoding": "gzip"]))
  }

  @Test func `each mode but noStore stores`() {
    for mode in CacheMode.allCases { #expect(may(mode: mode) == (mode != .noStore)) }
  }

  @Test func `must-understand passes over no-store where the status is understood`() {
    #expect(may(200, ["Cache-Control": "no-store, must-understand"]))
    #expect(!may(299, ["Cache-Control": "no-store, must-understand"]))
    #expect(!may(299, ["Cache-Control": "max-age=60, must-understand"]))
  }

  @Test func `a failure is stored where the server says for how long`() {
    for status in [301, 302, 404, 410, 500, 503, 599] {
      #expect(mayFailure(status, ["Cache-Control": "max-age=60"]))
      #expect(mayFailure(status, ["Expires": "Sun, 06 Nov 1994 09:49:37 GMT"]))
      #expect(!mayFailure(status, [:]))
      #expect(!mayFailure(status, ["Cache-Control": "max-age=0"]))
      #expect(!mayFailure(status, ["Cache-Control": "max-age=60, no-store"]))
      #expect(!mayFailure(status, ["Cache-Control": "max-age=60"], freshness: .immutable))
      #expect(!mayFailure(status, ["Cache-Control": "max-age=60"], mode: .noStore))
    }
    for status in [200, 206, 304, 412, 416, 429] { #expect(!mayFailure(status, ["Cache-Control": "max-age=60"])) }
  }

  @Test func `no-store is why, where nothing was there and nothing is kept`() {
    func reason(_ why: AnswerReason, _ control: String, _ freshness: Freshness = .http) -> AnswerReason {
      let head = LoadHead(fields: ["Cache-Control": control])
      return StoreRule.reason(why, head: head, requestFields: [:], freshness: freshness)
    }
    #expect(reason(.absent, "no-store") == .noStore)
    #expect(reason(.absent, "max-age=9") == .absent && reason(.absent, "no-store", .immutable) == .absent)
    #expect(reason(.expired, "no-store") == .expired && reason(.reload, "no-store") == .reload)
    #expect(
      StoreRule.reason(
        .absent, head: LoadHead(), requestFields: ["Cache-Control": "no-store"], freshness: .http) == .noStore)
  }

  @Test func `public is for all scopes, unless something else is said too`() {
    func isPublic(_ control: String) -> Bool { StoreRule.isPublic(LoadHead(fields: ["Cache-Control": control])) }
    #expect(isPublic("Public, max-age=60"))
    for control in ["", "max-age=60", "public, private", "public, no-store", "public, no-cache", "x=\"public\""] {
      #expect(!isPublic(control))
    }
  }

  @Test func `what is about the connection, or withheld, is not kept`() {
    let head = LoadHead(
      fields: [
        "Connection": "close, X-Hop", "Keep-Alive": "timeout=5", "X-Hop": "1", "Transfer-Encoding": "chunked",
        "TE": "x",
        "Upgrade": "h2c", "Set-Cookie": "a=1", "set-cookie": "b=2", "X-Own": "2", "Cache-Control": "no-cache=\"x-own\"",
        "Content-Encoding": "gzip",
      ])
    #expect(
      StoreRule.stored(head).fields.map(\.name) == ["Set-Cookie", "set-cookie", "Cache-Control", "Content-Encoding"])
  }
}
