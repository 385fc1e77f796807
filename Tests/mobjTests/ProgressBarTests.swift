import Testing

@testable import mobj

struct ProgressBarTests {
  /// The bar in a class, since expectations cannot call what mutates.
  private final class Bar {
    private var bar: ProgressBar
    init(_ bar: ProgressBar) { self.bar = bar }
    func clear() -> String? { bar.clear() }
    func draw(
      _ reading: ProgressMeter.Reading, in place: ProgressBar.Place, at now: ContinuousClock.Instant
    ) -> String? { bar.draw(reading, in: place, at: now) }
  }

  private let start = ContinuousClock.now
  private let terminal = ProgressBar.Place.terminal(width: 80, isUnicode: false)

  private func reading(_ finished: Int) -> ProgressMeter.Reading {
    ProgressMeter.Reading(finished: finished, total: 1000, bytes: finished, fraction: Double(finished) / 1000)
  }

  @Test func `a run that is soon over shows no bar`() {
    let bar = Bar(ProgressBar(startedAt: start, in: terminal))
    #expect(bar.draw(reading(1), in: terminal, at: start + .milliseconds(200)) == nil)
    #expect(bar.clear() == nil)
  }

  @Test func `a terminal sees at most ten bars a second`() {
    let bar = Bar(ProgressBar(startedAt: start, in: terminal))
    let drawn = (0..<1000).filter { bar.draw(reading($0), in: terminal, at: start + .milliseconds(2 * $0)) != nil }
    #expect((15...20).contains(drawn.count))
  }

  @Test func `a bar is written over, and cleared once`() throws {
    let bar = Bar(ProgressBar(startedAt: start, in: terminal))
    let text = try #require(bar.draw(reading(1), in: terminal, at: start + .seconds(1)))
    #expect(text.hasPrefix("\r\u{1B}[K  0 % ---"))
    #expect(!text.contains("\n"))
    #expect(bar.clear() == "\r\u{1B}[K")
    #expect(bar.clear() == nil)
    #expect(bar.draw(reading(1), in: terminal, at: start + .seconds(2)) != nil, "it comes back")
  }

  @Test func `what has not changed is not drawn again`() {
    let bar = Bar(ProgressBar(startedAt: start, in: terminal))
    #expect(bar.draw(reading(1), in: terminal, at: start + .seconds(1)) != nil)
    #expect(bar.draw(reading(1), in: terminal, at: start + .seconds(2)) == nil)
  }

  @Test func `a log gets a whole line every few seconds and no escapes`() {
    let bar = Bar(ProgressBar(startedAt: start, in: .log))
    let lines = (0..<100).compactMap { bar.draw(reading($0), in: .log, at: start + .milliseconds(200 * $0)) }
    #expect(lines.count == 3)
    for line in lines { #expect(line.hasSuffix("\n") && line.hasPrefix("mobj: ") && !line.contains("\u{1B}")) }
    #expect(bar.clear() == nil)
  }
}
