import Testing

@testable import mobj

struct FiguresTests {
  @Test(arguments: [
    (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-1234, "-1,234"),
    (Int.max, "9,223,372,036,854,775,807"), (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func `counts are grouped`(number: Int, expected: String) { #expect(Figures.count(number) == expected) }

  @Test func `one object is no objects`() {
    #expect(Figures.objects(1) == "1 object")
    #expect(Figures.objects(0) == "0 objects")
    #expect(Figures.objects(1200) == "1,200 objects")
  }

  @Test func `one entry is no entries`() {
    #expect(Figures.entries(1) == "1 entry")
    #expect(Figures.entries(1200) == "1,200 entries")
  }

  @Test(arguments: [
    (-5, "0 s"), (0, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (86_399, "23 h"),
    (86_400, "1 d"), (31_536_000, "365 d"), (Int64.max, "106751991167300 d"),
  ])
  func `an age is told in its largest unit`(seconds: Int64, expected: String) {
    #expect(Figures.age(.seconds(seconds)) == expected)
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1549, "1.5 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
    (34_500_000, "34.5 MB"), (2_000_000_000, "2.0 GB"), (Int.max, "9.2 EB"),
  ])
  func `bytes have one digit after the point`(number: Int, expected: String) {
    #expect(Figures.bytes(number) == expected)
  }

  @Test(arguments: [
    (0.0, "0 B/s"), (-5, "0 B/s"), (.nan, "0 B/s"), (.infinity, "0 B/s"), (0.4, "0 B/s"), (12_300_000, "12.3 MB/s"),
  ])
  func `a rate is never nonsense`(rate: Double, expected: String) { #expect(Figures.rate(rate) == expected) }

  @Test(arguments: [
    (-3, "0:00"), (0, "0:00"), (42, "0:42"), (62, "1:02"), (3599, "59:59"), (3723, "1:02:03"), (172_800, "2 days"),
  ])
  func `time left reads like a clock`(seconds: Int, expected: String) {
    #expect(Figures.timeLeft(.seconds(seconds)) == expected)
  }

  @Test(arguments: [
    (-1, "0 ms"), (45, "45 ms"), (999, "999 ms"), (1000, "1.0 s"), (3290, "3.2 s"), (59_990, "59.9 s"),
    (125_000, "2 min 5 s"), (3_660_000, "1 h 1 min"),
  ])
  func `time taken reads like speech`(milliseconds: Int, expected: String) {
    #expect(Figures.timeTaken(.milliseconds(milliseconds)) == expected)
  }
}
