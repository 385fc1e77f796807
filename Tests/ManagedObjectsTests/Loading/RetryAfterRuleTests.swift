import Testing

@testable import ManagedObjects

@Suite struct RetryAfterRuleTests {
  private let now = WallTime(seconds: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

  @Test(arguments: [
    ("2", Duration.seconds(2)), ("0", .zero), (" 120\t", .seconds(120)), ("86400", .seconds(86_400)),
    ("Sun, 06 Nov 1994 08:49:39 GMT", .seconds(2)), ("Sunday, 06-Nov-94 08:50:37 GMT", .seconds(60)),
    ("Sun, 06 Nov 1994 08:49:36 GMT", .zero), ("Thu, 01 Jan 1970 00:00:00 GMT", .zero),
    ("9223372036854775807", .seconds(1 << 31)), ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(1 << 31)),
  ])
  func `seconds and dates are understood`(value: String, delay: Duration) {
    #expect(RetryAfterRule.delay(value, now: now) == delay)
  }

  @Test(arguments: ["", "-5", "+5", "abc", "1.5", "2 s", "99999999999999999999", "soon", "1994-11-06", "٥"])
  func `what cannot be read leaves the ordinary delay`(value: String) {
    #expect(RetryAfterRule.delay(value, now: now) == nil)
  }

  @Test func `no field, and a clock far off, do no harm`() {
    #expect(RetryAfterRule.delay(nil, now: now) == nil)
    #expect(
      RetryAfterRule.delay("Sun, 06 Nov 1994 08:49:39 GMT", now: WallTime(milliseconds: .min)) == .seconds(1 << 31))
    #expect(RetryAfterRule.delay("Sun, 06 Nov 1994 08:49:39 GMT", now: WallTime(milliseconds: .max)) == .zero)
  }
}
