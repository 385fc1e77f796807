import Testing

@testable import ManagedObjects

private func decide(
  _ range: String?, count: Int = 10, _ stored: HeaderFields = [:], ifRange: String? = nil, status: Int = 200
)
  -> RangeRule.Verdict
{
  var request = HeaderFields()
  request["Range"] = range
  request["If-Range"] = ifRange
  return RangeRule.decide(LoadHead(status: status, fields: stored), count: count, request: request)
}

struct RangeRuleTests {
  @Test(arguments: [
    ("bytes=2-5", 2..<6), ("bytes=0-0", 0..<1), ("bytes=4-", 4..<10), ("bytes=9-99999999999999999999", 9..<10),
    ("bytes=-5", 5..<10), ("bytes=-99999999999999999999999", 0..<10), ("BYTES= 1-2 ", 1..<3),
  ])
  func `the three forms are parts of what is there`(range: String, part: Range<Int>) {
    #expect(decide(range) == .part(part))
  }

  @Test(arguments: ["bytes=10-", "bytes=10-12", "bytes=99999999999999999999-", "bytes=-0"])
  func `what lies beyond the end is nowhere`(range: String) { #expect(decide(range) == .unsatisfiable) }

  @Test func `of nothing there is no part`() {
    #expect(decide("bytes=0-", count: 0) == .unsatisfiable)
    #expect(decide("bytes=-1", count: 0) == .unsatisfiable)
  }

  @Test(arguments: [
    nil, "", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "bytes=1-2,4-5", "lines=1-2", "bytes=+1-2",
    "bytes=1--2",
  ])
  func `what is not understood is answered by the whole`(range: String?) { #expect(decide(range) == .whole) }

  @Test func `a condition must hold strongly`() {
    let stored: HeaderFields = ["ETag": "\"a\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]
    #expect(decide("bytes=0-1", stored, ifRange: "\"a\"") == .part(0..<2))
    #expect(decide("bytes=0-1", stored, ifRange: "Sun, 06 Nov 1994 08:49:37 GMT") == .part(0..<2))
    for refused in ["\"b\"", "W/\"a\"", "Sun, 06 Nov 1994 08:49:38 GMT", "garbage"] {
      #expect(decide("bytes=0-1", stored, ifRange: refused) == .whole)
    }
    #expect(decide("bytes=0-1", ["ETag": "W/\"a\""], ifRange: "W/\"a\"") == .whole)
  }

  @Test func `only of a 200 there are parts`() { #expect(decide("bytes=0-1", status: 404) == .whole) }

  @Test func `the heads say which part it is`() {
    let head = RangeRule.head(of: LoadHead(fields: ["Content-Length": "10", "A": "1"]), 2..<6, count: 10)
    #expect(head.status == 206 && head.fields["Content-Range"] == "bytes 2-5/10")
    #expect(head.fields["Content-Length"] == "4" && head.fields["A"] == "1")
    #expect(RangeRule.unsatisfiable(count: 10).fields["Content-Range"] == "bytes */10")
  }
}
