import Testing

@testable import TestSupport

@Suite struct RepliesTests {
  private func reply(_ reply: Reply, _ fields: String...) -> (status: Int, body: String, fields: [String: String]) {
    let head = "GET /a HTTP/1.1\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    let request = Request(
      method: "GET", target: "/a", path: "/a", version: "HTTP/1.1", head: Array(head.utf8), body: [], connection: 1)
    let decided = reply.decided(for: request)
    var body = ""
    if case .bytes(let bytes) = decided.body { body = latin(bytes) }
    let pairs = decided.fields.map { ($0.name, latin($0.value)) }
    return (decided.status, body, Dictionary(pairs, uniquingKeysWith: { $1 }))
  }

  private let tagged = Reply.revalidating(
    "body", etag: "\"a\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", cacheControl: "max-age=1")

  @Test func `without a condition the whole body comes, with its validators`() {
    let whole = reply(tagged)
    #expect(whole.status == 200)
    #expect(whole.body == "body")
    #expect(
      whole.fields == [
        "ETag": "\"a\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Cache-Control": "max-age=1",
      ])
  }

  @Test(arguments: ["\"a\"", "W/\"a\"", "\"x\", \"a\"", "*"]) func `a tag that fits gets 304`(tag: String) {
    let answer = reply(tagged, "If-None-Match: \(tag)")
    #expect(answer.status == 304)
    #expect(answer.body == "")
    #expect(answer.fields["ETag"] == "\"a\"")
  }

  @Test func `a tag that does not fit wins over a date that does`() {
    let date = "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(reply(tagged, date).status == 304)
    #expect(reply(tagged, date, "If-None-Match: \"b\"").status == 200)
    #expect(reply(tagged, "If-Modified-Since: Sun, 06 Nov 1994 08:49:38 GMT").status == 200)
    #expect(reply(.revalidating("body"), "If-None-Match: *").status == 200)
  }

  @Test(arguments: [
    ("0-3", "0123", "0-3"), ("4-", "456789", "4-9"), ("-2", "89", "8-9"), ("8-100", "89", "8-9"),
    ("-100", "0123456789", "0-9"),
  ]) func `a range gets its part`(range: String, body: String, place: String) {
    let answer = reply(.ranged(Array("0123456789".utf8), etag: "\"a\""), "Range: bytes=\(range)", "If-Range: \"a\"")
    #expect(answer.status == 206)
    #expect(answer.body == body)
    #expect(answer.fields["Content-Range"] == "bytes \(place)/10")
    #expect(answer.fields["ETag"] == "\"a\"")
  }

  @Test func `a range beyond the end gets 416, one of another version the whole`() {
    let ranged = Reply.ranged(Array("0123456789".utf8), etag: "\"a\"", cacheControl: "no-cache")
    let beyond = reply(ranged, "Range: bytes=10-")
    #expect(beyond.status == 416)
    #expect(beyond.fields["Content-Range"] == "bytes */10")
    #expect(reply(ranged, "Range: bytes=1-", "If-Range: \"b\"").body == "0123456789")
    for nonsense in ["bytes=a-b", "bytes=3-1", "bytes=1-2,4-5", "lines=1-2", "bytes=-"] {
      #expect(reply(ranged, "Range: \(nonsense)").status == 200)
    }
  }

  @Test func `a redirect names its target`() {
    #expect(reply(.redirect(to: "/b", status: 308)).fields["Location"] == "/b")
    #expect(reply(.redirect(to: "/b", status: 308)).status == 308)
  }

  @Test func `a reply that decides may decide on another that decides`() {
    #expect(reply(Reply { request in Reply { Reply("\(request.path)\($0.path)") } }).body == "/a/a")
  }
}
