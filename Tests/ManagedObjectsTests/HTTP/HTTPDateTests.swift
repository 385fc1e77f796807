import Foundation
import Testing

@testable import ManagedObjects

/// 2026-11-30 00:00:00
private let now = WallTime(seconds: 1_795_996_800)

private func seconds(_ text: String, at now: WallTime = now) -> Int64? { HTTPDate.parse(text, now: now)?.seconds }

@Suite struct HTTPDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "sun, 06 nov 1994 08:49:37 gmt", "SUNDAY, 06-NOV-94 08:49:37 GMT", "SUN NOV  6 08:49:37 1994",
    "Mon, 06 Nov 1994 08:49:37 GMT",
  ])
  func `the three forms of RFC 9110 are read, in any letter case`(text: String) {
    #expect(seconds(text) == 784_111_777)
  }

  @Test(
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
      ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
      ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400), ("Sat Nov 16 08:49:37 1994", 784_975_777),
      ("Sun Nov 06 08:49:37 1994", 784_111_777),
    ] as [(String, Int64)])
  func `dates at the edges of the calendar are right`(text: String, expected: Int64) {
    #expect(seconds(text) == expected)
  }

  @Test(arguments: [
    "", "0", "-1", "garbage", "Thu, 99 Foo 2099", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT",
    "Sun 06 Nov 1994 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994",
    "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 AEST", "Sun, 06 Nov 1994 08:49:37 +0000",
    "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT, x",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT", "Thu, 29 Feb 1900 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 32 Dec 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
    "Sun, 06 November 1994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06 Nov 10000 08:49:37 GMT",
    "Sun Nov 6 08:49:37 1994", "Sun Nov  16 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT", "Sun Nov  6 08:49:37 94",
    "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994  08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    "Sunday, 29-Feb-23 08:49:37 GMT", "784111777",
  ])
  func `nothing looser is a date`(text: String) {
    #expect(HTTPDate.parse(text, now: now) == nil)
  }

  @Test(arguments: [
    (94, 1994), (26, 2026), (27, 2027), (75, 2075), (76, 2076), (77, 1977), (99, 1999), (0, 2000),
  ])
  func `a two-digit year is at most 50 years ahead`(short: Int, year: Int) {
    let digits = short < 10 ? "0\(short)" : "\(short)"
    #expect(seconds("Sunday, 06-Nov-\(digits) 08:49:37 GMT") == seconds("Sun, 06 Nov \(padded(year)) 08:49:37 GMT"))
  }

  @Test func `the 50 years are counted to the second`() {
    #expect(seconds("Monday, 30-Nov-76 00:00:00 GMT") == seconds("Mon, 30 Nov 2076 00:00:00 GMT"))
    #expect(seconds("Monday, 30-Nov-76 00:00:01 GMT") == seconds("Mon, 30 Nov 1976 00:00:01 GMT"))
  }

  @Test func `a clock near the end of a century, or far off, decides without overflow`() throws {
    let late = try #require(HTTPDate.parse("Fri, 01 Jan 2090 00:00:00 GMT", now: now))
    #expect(seconds("Monday, 01-Jan-10 00:00:00 GMT", at: late) == seconds("Mon, 01 Jan 2110 00:00:00 GMT"))
    #expect(seconds("Monday, 01-Jan-45 00:00:00 GMT", at: late) == seconds("Mon, 01 Jan 2045 00:00:00 GMT"))
    for milliseconds in [Int64.min, Int64.max] {
      #expect(seconds("Monday, 01-Jan-45 00:00:00 GMT", at: WallTime(milliseconds: milliseconds)) != nil)
    }
  }

  @Test func `the form that is written is the form that is read`() {
    #expect(HTTPDate.format(WallTime(seconds: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.format(WallTime(milliseconds: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
    #expect(HTTPDate.format(WallTime(milliseconds: .max)) == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(HTTPDate.format(WallTime(milliseconds: .min)) == "Sat, 01 Jan 0000 00:00:00 GMT")
    for _ in 0..<5000 {
      let second = Int64.random(in: CivilDate.firstSecond...CivilDate.lastSecond)
      #expect(seconds(HTTPDate.format(WallTime(seconds: second))) == second)
    }
  }

  @Test func `written dates agree with the system's calendar`() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    // From 1600: before that the system's calendar is the Julian one.
    for second in stride(from: Int64(-11_676_096_000), to: CivilDate.lastSecond, by: 86_400 * 365 + 12_345) {
      let date = Date(timeIntervalSince1970: Double(second))
      #expect(HTTPDate.format(WallTime(seconds: second)) == formatter.string(from: date))
    }
  }

  private func padded(_ year: Int) -> String { String(repeating: "0", count: 4 - "\(year)".count) + "\(year)" }
}
