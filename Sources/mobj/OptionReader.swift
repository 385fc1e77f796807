/// Reads the words of a command line one by one, an option with its value.
///
///     --jobs 8   --jobs=8   -o page.html   -opage.html   https://example.com/   -- --a-word-with-dashes
struct OptionReader<Option: SpelledOption> {
  enum Word: Equatable {
    case operand(String)
    /// The value is "" where the option takes none.
    case option(Option, String)
  }

  private var words: ArraySlice<String>
  private var seen: Set<Option> = []
  private var hasOptionsEnded = false

  init(_ words: ArraySlice<String>) { self.words = words }

  /// nil: that was all.
  mutating func next() throws(UsageError) -> Word? {
    guard let word = words.popFirst() else { return nil }
    if hasOptionsEnded || word == "-" || !word.hasPrefix("-") { return .operand(word) }
    if word == "--" {
      hasOptionsEnded = true
      return try next()
    }
    return try option(word)
  }

  private mutating func option(_ word: String) throws(UsageError) -> Word {
    let (name, attached) = Self.split(word)
    guard let option = Option(spelled: name) else { throw Self.unknown(name) }
    guard seen.insert(option).inserted || option.mayRepeat else {
      throw UsageError("\(option.rawValue) is given twice")
    }
    if option.takesValue { return .option(option, try value(of: option, attached: attached)) }
    guard attached == nil else { throw UsageError("\(option.rawValue) takes no value") }
    return .option(option, "")
  }

  /// `--jobs=8` is "--jobs" and "8", `-opage` is "-o" and "page".
  static func split(_ word: String) -> (name: Substring, attached: String?) {
    if word.hasPrefix("--") {
      guard let equals = word.firstIndex(of: "=") else { return (word[...], nil) }
      return (word[..<equals], String(word[word.index(after: equals)...]))
    }
    let name = word.prefix(2)
    return (name, word.count > 2 ? String(word.dropFirst(2)) : nil)
  }

  private mutating func value(of option: Option, attached: String?) throws(UsageError) -> String {
    // `--cache --json URL`: the value was forgotten. A value that begins with two dashes can be attached.
    guard let value = attached ?? words.first, !value.isEmpty, attached != nil || !value.hasPrefix("--") else {
      throw UsageError("\(option.rawValue) needs a value")
    }
    if attached == nil { words.removeFirst() }
    return value
  }

  static func unknown(_ name: Substring) -> UsageError {
    let nearest = Spelling.nearest(to: String(name), among: Option.allCases.map(\.rawValue))
    return UsageError("\(name) is not an option" + (nearest.map { "; did you mean \($0)?" } ?? ""))
  }
}
