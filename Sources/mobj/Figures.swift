internal import ManagedObjects

/// Numbers as people read them.
enum Figures {
  /// "1,234,567".
  static func count(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// "1 object", "2 objects".
  static func objects(_ number: Int) -> String { "\(count(number)) object\(number == 1 ? "" : "s")" }

  /// "1 entry", "2 entries".
  static func entries(_ number: Int) -> String { "\(count(number)) entr\(number == 1 ? "y" : "ies")" }

  /// "999 B", "1.5 kB", "34.5 MB": powers of 1000.
  static func bytes(_ number: Int) -> String {
    guard number >= 1000 else { return "\(number) B" }
    var value = Double(number) / 1000
    var units = ["kB", "MB", "GB", "TB", "PB", "EB"][...]
    // 999.95 would be rounded to "1000.0".
    while value >= 999.95, units.count > 1 {
      value /= 1000
      units.removeFirst()
    }
    return "\(tenths(value)) \(units.first ?? "")"
  }

  /// "12.3 MB/s". What is no sensible rate is none.
  static func rate(_ bytesPerSecond: Double) -> String {
    guard bytesPerSecond > 0, bytesPerSecond < 1e15 else { return "0 B/s" }
    return bytes(Int(bytesPerSecond)) + "/s"
  }

  /// Of something still to come: "0:42", "1:02:03", "3 days".
  static func timeLeft(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    if seconds >= 48 * 3600 { return "\(seconds / 86400) days" }
    let minutes = seconds / 60 % 60
    let tail = twoDigits(seconds % 60)
    return seconds < 3600 ? "\(minutes):\(tail)" : "\(seconds / 3600):\(twoDigits(minutes)):\(tail)"
  }

  /// Of something that took it: "45 ms", "3.2 s", "2 min 5 s", "1 h 0 min".
  static func timeTaken(_ duration: Duration) -> String {
    let milliseconds = max(0, duration.wholeMilliseconds)
    let seconds = milliseconds / 1000
    return switch seconds {
    case 0: "\(milliseconds) ms"
    case ..<60: "\(tenths(Double(milliseconds / 100) / 10)) s"
    case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
    default: "\(seconds / 3600) h \(seconds / 60 % 60) min"
    }
  }

  /// In the largest whole unit: "45 s", "12 min", "3 h", "30 d".
  static func age(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    return switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min"
    case ..<86_400: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) d"
    }
  }

  /// One digit after the point.
  private static func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
