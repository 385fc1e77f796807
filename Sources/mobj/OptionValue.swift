internal import ManagedObjects

/// Reads the values of options. What cannot be read is a `UsageError` that names the option and shows the right form.
enum OptionValue {
  /// A whole decimal number in the range.
  static func number(_ text: String, of option: Option, in range: ClosedRange<Int>) throws(UsageError) -> Int {
    guard let number = digits(text[...]), range.contains(number) else {
      throw UsageError(
        "\(option.rawValue) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
    }
    return number
  }

  /// Seconds, with a fraction if wanted: "30", "0.25". More than nought, at most some thirty years.
  static func seconds(_ text: String, of option: Option) throws(UsageError) -> Duration {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let fraction = parts.count == 2 ? parts[1] : "0"
    guard let whole = digits(parts[0]), whole <= 1_000_000_000, digits(fraction.prefix(9)) != nil,
      fraction.allSatisfy(isDigit)
    else { throw secondsExpected(text, of: option) }
    // Nine digits are nanoseconds; further ones are too fine to matter.
    let nine = fraction.prefix(9) + String(repeating: "0", count: max(0, 9 - fraction.count))
    let duration = Duration.seconds(whole) + .nanoseconds(digits(nine[...]) ?? 0)
    guard duration > .zero else { throw secondsExpected(text, of: option) }
    return duration
  }

  private static func secondsExpected(_ text: String, of option: Option) -> UsageError {
    UsageError("\(option.rawValue) takes seconds above 0, such as 30 or 0.5, not '\(text)'")
  }

  /// Bytes, or with K, M or G units of 1024, 1024² or 1024³ bytes: "1000000", "64K", "10M".
  static func size(_ text: String, of option: Option) throws(UsageError) -> Int {
    let shift =
      switch text.last {
      case "k", "K": 10
      case "m", "M": 20
      case "g", "G": 30
      default: 0
      }
    guard let number = digits(shift == 0 ? text[...] : text.dropLast()), number <= Int.max >> shift else {
      throw UsageError("\(option.rawValue) takes bytes, such as 1000000, 64K, 10M or 1G, not '\(text)'")
    }
    return number << shift
  }

  /// One of a few words.
  static func choice<Choice>(_ text: String, of option: Option) throws(UsageError) -> Choice
  where Choice: RawRepresentable<String>, Choice: CaseIterable {
    if let choice = Choice(rawValue: text) { return choice }
    let words = Choice.allCases.map(\.rawValue)
    let nearest = Spelling.nearest(to: text, among: words).map { "; did you mean \($0)?" }
    throw UsageError(
      "\(option.rawValue) takes \(words.dropLast().joined(separator: ", ")) or \(words.last ?? ""), not '\(text)'"
        + (nearest ?? ""))
  }

  /// Adds a field given as "Name: value".
  static func addField(_ text: String, to fields: inout HeaderFields) throws(UsageError) {
    guard let colon = text.firstIndex(of: ":") else {
      throw UsageError("--header takes 'Name: value', not '\(text)'")
    }
    fields.append(String(text[..<colon]), trimmed(text[text.index(after: colon)...]))
    guard fields.refusedName == nil else {
      throw UsageError("--header '\(text[..<colon])' has a name or a value that cannot stand in a header")
    }
  }

  // MARK: Characters

  private static func isDigit(_ character: Character) -> Bool { character.isASCII && character.isWholeNumber }

  /// ASCII digits only, so no signs, blanks or other scripts' digits; nil also for what does not fit.
  private static func digits(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.allSatisfy(isDigit) else { return nil }
    return Int(text)
  }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0 == " " || $0 == "\t" }
    let end = start.reversed().drop { $0 == " " || $0 == "\t" }
    return String(end.reversed())
  }
}
