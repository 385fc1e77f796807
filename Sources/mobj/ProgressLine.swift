/// The text of one moment of progress.
///
///      42 % ━━━━━━━━━━━━────────────────  512 of 1,234 objects  34.5 MB  12.3 MB/s  0:42 left
///     mobj: 512 objects, 34.5 MB, 12.3 MB/s
enum ProgressLine {
  /// For a terminal; fits in `width` columns, the less important figures going first.
  static func bar(_ reading: ProgressMeter.Reading, width: Int, isUnicode: Bool) -> String {
    var figures = self.figures(reading)
    let percent = reading.fraction.map { percentText($0) }
    func length() -> Int {
      (percent.map { $0.count + 1 } ?? 0) + figures.reduce(0) { $0 + $1.count + 2 }
    }
    while figures.count > 1, length() > width { figures.removeLast() }
    var parts: [String] = figures
    if let percent, let fraction = reading.fraction {
      let room = min(40, width - length())
      parts.insert(room >= 8 ? percent + " " + gauge(fraction, width: room, isUnicode: isUnicode) : percent, at: 0)
    }
    return String(parts.joined(separator: "  ").prefix(max(0, width)))
  }

  /// For a log.
  static func plain(_ reading: ProgressMeter.Reading) -> String {
    let percent = reading.fraction.map { [percentText($0).trimmingBlanks] } ?? []
    return "mobj: " + (figures(reading) + percent).joined(separator: ", ")
  }

  /// In the order of their worth.
  private static func figures(_ reading: ProgressMeter.Reading) -> [String] {
    var figures = [objects(reading), Figures.bytes(reading.bytes)]
    if reading.failed > 0 { figures.append("\(Figures.count(reading.failed)) failed") }
    if let left = reading.left, reading.fraction ?? 0 < 1 { figures.append(Figures.timeLeft(left) + " left") }
    if let rate = reading.bytesPerSecond { figures.insert(Figures.rate(rate), at: 2) }
    return figures
  }

  private static func objects(_ reading: ProgressMeter.Reading) -> String {
    guard let total = reading.total else { return Figures.objects(reading.finished) }
    return "\(Figures.count(reading.finished)) of \(Figures.objects(total))"
  }

  /// Four columns wide; 100 only when all is done.
  private static func percentText(_ fraction: Double) -> String {
    let percent = share(fraction, of: 100)
    return String(repeating: " ", count: percent < 10 ? 2 : percent < 100 ? 1 : 0) + "\(percent) %"
  }

  /// A fraction of a whole, never less than nothing or more than all.
  private static func share(_ fraction: Double, of whole: Int) -> Int {
    fraction > 0 ? Int(min(fraction, 1) * Double(whole)) : 0
  }

  private static func gauge(_ fraction: Double, width: Int, isUnicode: Bool) -> String {
    let full = share(fraction, of: width)
    return String(repeating: isUnicode ? "━" : "#", count: full)
      + String(repeating: isUnicode ? "─" : "-", count: width - full)
  }
}

extension String {
  fileprivate var trimmingBlanks: String { String(drop { $0 == " " }) }
}
