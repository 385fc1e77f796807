import ManagedObjects
import Testing

@testable import mobj

struct OptionValueTests {
  @Test(arguments: [("1", 1), ("1024", 1024), ("007", 7)])
  func `numbers in the range are read`(text: String, expected: Int) throws {
    #expect(try OptionValue.number(text, of: GetOption.jobs, in: 1...1024) == expected)
  }

  @Test(arguments: ["0", "1025", "-1", "+1", "1.0", "", " 1", "1e2", "٣", "99999999999999999999"])
  func `other numbers are refused with the range`(text: String) {
    #expect(throws: UsageError("--jobs takes a number from 1 to 1024, not '\(text)'")) {
      try OptionValue.number(text, of: GetOption.jobs, in: 1...1024)
    }
  }

  @Test(arguments: [
    ("30", Duration.seconds(30)), ("0.25", .milliseconds(250)), ("1.5", .milliseconds(1500)),
    ("0.000000001", .nanoseconds(1)), ("2.0000000019", .seconds(2) + .nanoseconds(1)),
    ("1000000000", .seconds(1_000_000_000)),
  ])
  func `seconds may have a fraction`(text: String, expected: Duration) throws {
    #expect(try OptionValue.seconds(text, of: GetOption.timeout) == expected)
  }

  @Test(arguments: ["0", "0.0", "-1", "1e3", "", ".5", "1.", "1.2.3", "1,5", "1.5s", "1000000001", "0.-5", "nan"])
  func `other seconds are refused`(text: String) {
    #expect(throws: UsageError.self) { try OptionValue.seconds(text, of: GetOption.timeout) }
  }

  @Test(arguments: [
    ("0", 0), ("1000000", 1_000_000), ("64K", 65_536), ("64k", 65_536), ("10M", 10_485_760), ("1G", 1 << 30),
    ("8589934591G", 8_589_934_591 << 30),
  ])
  func `sizes are bytes, or powers of 1024`(text: String, expected: Int) throws {
    #expect(try OptionValue.size(text, of: GetOption.limit) == expected)
  }

  @Test(arguments: ["", "K", "-1", "1.5M", "10 M", "10MB", "10T", "8589934592G", "9223372036854775808"])
  func `other sizes are refused`(text: String) {
    #expect(throws: UsageError.self) { try OptionValue.size(text, of: GetOption.limit) }
  }

  @Test(arguments: [
    ("0", Duration.zero), ("90", .seconds(90)), ("90s", .seconds(90)), ("45m", .seconds(2700)),
    ("12h", .seconds(43_200)), ("30d", .seconds(2_592_000)), ("4w", .seconds(2_419_200)),
  ])
  func `ages are seconds, or larger units`(text: String, expected: Duration) throws {
    #expect(try OptionValue.age(text, of: CacheOption.limitAge) == expected)
  }

  @Test(arguments: ["", "d", "-1d", "1.5h", "1 d", "3y", "1D", "9223372036854775807w", "31557600001"])
  func `other ages are refused`(text: String) {
    #expect(throws: UsageError.self) { try OptionValue.age(text, of: CacheOption.limitAge) }
  }

  @Test func `all cache modes of fetch are known by their names`() throws {
    for name in ["default", "reload", "no-cache", "force-cache", "only-if-cached", "no-store"] {
      let mode: CacheMode = try OptionValue.choice(name, of: GetOption.mode)
      #expect(mode.rawValue == name)
    }
  }

  @Test(arguments: [
    ("Accept: text/html", "Accept", "text/html"), ("X:", "X", ""), ("X: \t a: b \t", "X", "a: b"), ("x:y", "x", "y"),
  ])
  func `a field is split at its first colon`(text: String, name: String, value: String) throws {
    var fields = HeaderFields()
    try OptionValue.addField(text, to: &fields)
    #expect(fields[name] == value)
  }

  @Test(arguments: ["Accept", "", ": x", "A B: x", "A: x\r\nB: y", "A: x\ny", "A: \u{0}", "Ä: x", "A: 漢"])
  func `what cannot stand in a header is refused`(text: String) {
    var fields = HeaderFields()
    #expect(throws: UsageError.self) { try OptionValue.addField(text, to: &fields) }
  }
}
