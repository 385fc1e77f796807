/// Decides what progress writes, and when: on a terminal a line that is written over at most ten times a second, elsewhere
/// a whole line now and then. A value: it gives the text, the caller writes it.
///
/// The width is given with each drawing, so no signal need tell of a new one. Only the cursor's own line is ever cleared:
/// what a terminal has wrapped of an older, wider bar stays above it, since whoever moves up may clear lines of others.
struct ProgressBar {
  enum Place: Equatable {
    /// Columns, and whether it shows more than ASCII.
    case terminal(width: Int, isUnicode: Bool)
    case log
  }

  /// A run that is over sooner shows no bar.
  static let firstAfter = Duration.milliseconds(250)
  static let barEvery = Duration.milliseconds(100)
  static let lineEvery = Duration.seconds(5)

  /// Goes to the line's start and clears it (ECMA-48, EL).
  private static let clearLine = "\r\u{1B}[K"

  private var next: ContinuousClock.Instant
  private var drawn = ""

  init(startedAt start: ContinuousClock.Instant, in place: Place) {
    next = start + (place == .log ? Self.lineEvery : Self.firstAfter)
  }

  /// What to write now; nil: nothing yet.
  mutating func draw(
    _ reading: ProgressMeter.Reading, in place: Place, at now: ContinuousClock.Instant
  ) -> String? {
    guard now >= next else { return nil }
    switch place {
    case .log:
      next = now + Self.lineEvery
      return ProgressLine.plain(reading) + "\n"
    case .terminal(let width, let isUnicode):
      next = now + Self.barEvery
      // The last column stays free: some terminals would begin a new line.
      let line = ProgressLine.bar(reading, width: width - 1, isUnicode: isUnicode)
      guard line != drawn else { return nil }
      drawn = line
      return Self.clearLine + line
    }
  }

  /// What to write before anything else is written; the bar comes back with the next `draw`.
  mutating func clear() -> String? {
    guard !drawn.isEmpty else { return nil }
    drawn = ""
    return Self.clearLine
  }
}
