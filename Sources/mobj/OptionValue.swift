internal import ManagedObjects

/// Reads the values of options. What cannot be read is a `UsageError` that names the option and shows the right form.
enum OptionValue {
  /// A whole decimal number in the range.
  static func number(
    _ text: String, of option: some SpelledOption, in range: ClosedRange<Int>
  ) throws(UsageError) -> Int {
    guard let number = digits(text[...]), range.contains(number) else {
      throw UsageError(
        "\(option.rawValue) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
    }
    return number
  }

  /// Seconds, with a fraction if wanted: "30", "0.25". More than nought, at most some thirty years.
  static func seconds(_ text: String, of option: some SpelledOption) throws(UsageError) -> Duration {
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

  private static func secondsExpected(_ text: String, of option: some SpelledOption) -> UsageError {
    UsageError("\(option.rawValue) takes seconds above 0, such as 30 or 0.5, not '\(text)'")
  }

  /// Bytes, or with K, M or G units of 1024, 1024² or 1024³ bytes: "1000000", "64K", "10M".
  static func size(_ text: String, of option: some SpelledOption) throws(UsageError) -> Int {
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

  enum SizeOrPart: Equatable {
    case bytes(Int)
    case percent(Int)
  }

  /// A size as above, or a part of what there is: "80%".
  static func sizeOrPart(_ text: String, of option: some SpelledOption) throws(UsageError) -> SizeOrPart {
    guard text.last == "%" else { return .bytes(try size(text, of: option)) }
    guard let percent = digits(text.dropLast()), percent <= 100 else {
      throw UsageError("\(option.rawValue) takes bytes, such as 10M or 1G, or a part, such as 80%, not '\(text)'")
    }
    return .percent(percent)
  }

  /// A whole number of seconds, or with m, h, d or w of minutes, hours, days or weeks: "90", "45m", "12h", "30d".
  static func age(_ text: String, of option: some SpelledOption) throws(UsageError) -> Duration {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    let unit = text.last.flatMap { units[$0] }
    // A thousand years are enough.
    guard let number = digits(unit == nil ? text[...] : text.dropLast()), number <= 31_557_600_000 / (unit ?? 1) else {
      throw UsageError("\(option.rawValue) takes an age, such as 90s, 45m, 12h, 30d or 4w, not '\(text)'")
    }
    return .seconds(number * (unit ?? 1))
  }

  /// One of a few words.
  static func choice<Choice>(_ text: String, of option: some SpelledOption) throws(UsageError) -> Choice
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
