import Testing

@testable import mobj

struct ProgressLineTests {
  private let reading = ProgressMeter.Reading(
    finished: 512, failed: 0, total: 1234, bytes: 34_500_000, bytesPerSecond: 12_300_000, fraction: 0.42,
    left: .seconds(42))

  @Test func `a wide terminal shows everything`() {
    #expect(
      ProgressLine.bar(reading, width: 99, isUnicode: true)
        == " 42 % ━━━━━━━━━━━━━━━━────────────────────────  512 of 1,234 objects  34.5 MB  12.3 MB/s  0:42 left")
    #expect(
      ProgressLine.bar(reading, width: 79, isUnicode: false)
        == " 42 % ########------------  512 of 1,234 objects  34.5 MB  12.3 MB/s  0:42 left")
  }

  @Test(arguments: 0...120)
  func `no line is wider than the terminal`(width: Int) {
    var reading = reading
    #expect(ProgressLine.bar(reading, width: width, isUnicode: true).count <= width)
    reading.failed = 1_000_000
    reading.finished = 123_456_789
    reading.fraction = nil
    #expect(ProgressLine.bar(reading, width: width, isUnicode: false).count <= width)
  }

  @Test func `a narrow terminal keeps what matters most`() {
    #expect(ProgressLine.bar(reading, width: 30, isUnicode: true) == " 42 %  512 of 1,234 objects")
    #expect(ProgressLine.bar(reading, width: 40, isUnicode: true) == " 42 %  512 of 1,234 objects  34.5 MB")
  }

  @Test func `the percentage stays in its column and is 100 only at the end`() {
    for (fraction, text) in [(0.0, "  0 %"), (0.0999, "  9 %"), (0.999, " 99 %"), (1.0, "100 %")] {
      let reading = ProgressMeter.Reading(finished: 0, total: 1, bytes: 0, fraction: fraction)
      #expect(ProgressLine.bar(reading, width: 79, isUnicode: false).hasPrefix(text))
    }
  }

  @Test(arguments: [-1.0, 2.0, 1e18])
  func `even a fraction that cannot be draws a sane bar`(fraction: Double) {
    let reading = ProgressMeter.Reading(finished: 0, total: 1, bytes: 0, fraction: fraction)
    let line = ProgressLine.bar(reading, width: 79, isUnicode: false)
    #expect(line.hasPrefix(fraction < 0 ? "  0 % ---" : "100 % ###"))
    #expect(!line.contains("-1 %") && line.count <= 79)
  }

  @Test func `where the total is unknown only counts are shown`() {
    let reading = ProgressMeter.Reading(finished: 3, failed: 1, total: nil, bytes: 10_000)
    #expect(ProgressLine.bar(reading, width: 79, isUnicode: true) == "3 objects  10.0 kB  1 failed")
    #expect(ProgressLine.plain(reading) == "mobj: 3 objects, 10.0 kB, 1 failed")
  }

  @Test func `a log gets a sentence`() {
    #expect(ProgressLine.plain(reading) == "mobj: 512 of 1,234 objects, 34.5 MB, 12.3 MB/s, 0:42 left, 42 %")
  }
}
