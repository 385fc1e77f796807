/// Dates in header fields: the three forms of RFC 9110 section 5.6.7 and nothing looser.
///
///     Sun, 06 Nov 1994 08:49:37 GMT      the one form that is written (IMF-fixdate)
///     Sunday, 06-Nov-94 08:49:37 GMT     obsolete (RFC 850)
///     Sun Nov  6 08:49:37 1994           obsolete (asctime)
///
/// Names and zone are read without case (RFC 9111 section 4.2), the zone is GMT, and the date must exist; the weekday
/// is not checked against it. What is looser would be read differently by other caches.
package enum HTTPDate {
  /// - Parameter now: decides the century of a two-digit year: never more than 50 years ahead.
  package static func parse(_ text: String, now: WallTime) -> WallTime? { parse(Array(text.utf8)[...], now: now) }

  /// The same of a field's bytes.
  static func parse(_ bytes: ArraySlice<UInt8>, now: WallTime) -> WallTime? {
    var reader = Reader(bytes)
    let weekday = reader.word()
    let isShort = weekdays.contains { $0 ~= weekday }
    if reader.skip(", ") {
      return isShort ? fixdate(&reader) : longWeekdays.contains { $0 ~= weekday } ? rfc850(&reader, now) : nil
    }
    return isShort && reader.skip(" ") ? asctime(&reader) : nil
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`. Years outside 0...9999 come out as the nearest.
  package static func format(_ time: WallTime) -> String {
    let seconds = min(max(time.seconds, CivilDate.firstSecond), CivilDate.lastSecond)
    let days = CivilDate.floorDivide(seconds, 86_400)
    let clock = seconds - days * 86_400
    let date = CivilDate(days: days)
    func padded(_ value: Int64, _ width: Int = 2) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    // 1970-01-01 was a Thursday.
    let weekday = title(weekdays[Int((days % 7 + 10) % 7)])
    return "\(weekday), \(padded(date.day)) \(title(months[Int(date.month) - 1])) \(padded(date.year, 4)) "
      + "\(padded(clock / 3600)):\(padded(clock / 60 % 60)):\(padded(clock % 60)) GMT"
  }

  private static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  private static let longWeekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  private static func title(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

  // MARK: The three forms, after the weekday

  private static func fixdate(_ reader: inout Reader) -> WallTime? {
    guard let day = reader.number(2), reader.skip(" "), let month = reader.month(), reader.skip(" "),
      let year = reader.number(4), reader.skip(" "), let clock = reader.clock(), reader.skip(" "), reader.endsInGMT()
    else { return nil }
    return CivilDate(year: year, month: month, day: day)?.time(clock)
  }

  private static func rfc850(_ reader: inout Reader, _ now: WallTime) -> WallTime? {
    guard let day = reader.number(2), reader.skip("-"), let month = reader.month(), reader.skip("-"),
      let short = reader.number(2), reader.skip(" "), let clock = reader.clock(), reader.skip(" "), reader.endsInGMT()
    else { return nil }
    let seconds = min(max(now.seconds, CivilDate.firstSecond), CivilDate.lastSecond)
    let today = CivilDate(days: CivilDate.floorDivide(seconds, 86_400))
    // The latest year with these digits that is at most 50 years ahead, to the second.
    let limit = WallTime(seconds: today.shifted(years: 50).seconds + (seconds % 86_400 + 86_400) % 86_400)
    let century = today.year / 100 * 100
    for year in [century + 100, century, century - 100] {
      guard let time = CivilDate(year: year + short, month: month, day: day)?.time(clock) else { continue }
      if time <= limit { return time }
    }
    return nil
  }

  private static func asctime(_ reader: inout Reader) -> WallTime? {
    guard let month = reader.month(), reader.skip(" "),
      let day = reader.skip(" ") ? reader.number(1) : reader.number(2),
      reader.skip(" "), let clock = reader.clock(), reader.skip(" "), let year = reader.number(4), reader.isAtEnd
    else { return nil }
    return CivilDate(year: year, month: month, day: day)?.time(clock)
  }

  /// Takes a date apart from the left.
  private struct Reader {
    private let bytes: ArraySlice<UInt8>
    private var at: Int

    init(_ bytes: ArraySlice<UInt8>) {
      self.bytes = bytes
      at = bytes.startIndex
    }

    var isAtEnd: Bool { at == bytes.endIndex }

    mutating func skip(_ text: String) -> Bool {
      let text = text.utf8.span
      guard bytes.endIndex - at >= text.count else { return false }
      for place in text.indices where bytes[at + place] != text[place] { return false }
      at += text.count
      return true
    }

    /// Letters, in any case.
    mutating func word() -> ArraySlice<UInt8> {
      let start = at
      while at < bytes.endIndex, isLetter(bytes[at]) { at += 1 }
      return bytes[start..<at]
    }

    /// Exactly so many digits.
    mutating func number(_ digits: Int) -> Int64? {
      guard bytes.endIndex - at >= digits else { return nil }
      var number: Int64 = 0
      for place in at..<(at + digits) {
        guard isDigit(bytes[place]) else { return nil }
        number = number * 10 + Int64(bytes[place] - 0x30)
      }
      at += digits
      return number
    }

    /// 1...12
    mutating func month() -> Int64? {
      let name = word()
      return months.firstIndex { $0 ~= name }.map { Int64($0 + 1) }
    }

    /// Seconds since midnight. A leap second counts as the next second.
    mutating func clock() -> Int64? {
      guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
        hour < 24, minute < 60, second < 61
      else { return nil }
      return hour * 3600 + minute * 60 + second
    }

    mutating func endsInGMT() -> Bool { "gmt" ~= word() && isAtEnd }
  }
}

/// A day of the proleptic Gregorian calendar, years 0 to 9999 and a century around them.
struct CivilDate {
  let year: Int64
  let month: Int64
  let day: Int64

  /// 0000-01-01 00:00:00 and 9999-12-31 23:59:59.
  static let firstSecond: Int64 = -62_167_219_200
  static let lastSecond: Int64 = 253_402_300_799

  /// nil: no such day.
  init?(year: Int64, month: Int64, day: Int64) {
    let lengths: [Int64] = [31, Self.isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...12).contains(month), (1...lengths[Int(month) - 1]).contains(day), (-100...10_099).contains(year) else {
      return nil
    }
    self.init(unchecked: year, month, day)
  }

  private init(unchecked year: Int64, _ month: Int64, _ day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// From days since 1970-01-01. Counts in eras of 400 years that begin in March, so that a leap day is the last of its
  /// year (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
  init(days: Int64) {
    let shifted = days + 719_468
    let era = Self.floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// The first second of the day, since 1970. A day past the end of its month runs on into the next.
  var seconds: Int64 {
    let marchYear = month <= 2 ? year - 1 : year
    let era = Self.floorDivide(marchYear, 400)
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return (era * 146_097 + dayOfEra - 719_468) * 86_400
  }

  func time(_ secondsOfDay: Int64) -> WallTime { WallTime(seconds: seconds + secondsOfDay) }

  func shifted(years: Int64) -> CivilDate { CivilDate(unchecked: year + years, month, day) }

  static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    value / divisor - (value % divisor < 0 ? 1 : 0)
  }
}
