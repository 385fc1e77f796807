internal import ManagedObjects

/// Reads the command line, a word at a time.
///
///     mobj get --jobs 8 --header 'Accept: text/html' -o page.html https://example.com/
///     mobj get --jobs=8 -opage.html -- https://example.com/
struct Arguments {
  private var words: ArraySlice<String>
  private var options = GetOptions()
  private var seen: Set<Option> = []
  private var outputFile: String?
  private var outputFolder: String?

  /// - Parameter words: the command line without the program's name.
  static func parse(_ words: [String]) throws(UsageError) -> Command {
    guard let first = words.first else { return .help }
    switch first {
    case "get":
      var arguments = Arguments(words: words.dropFirst())
      return try arguments.parseGet()
    case "help", "--help", "-h": return .help
    case "--version": return .version
    default: throw unknownCommand(first)
    }
  }

  private init(words: ArraySlice<String>) { self.words = words }

  private mutating func parseGet() throws(UsageError) -> Command {
    while let word = words.popFirst() {
      if word == "--" {
        options.urls += words
        words = []
      } else if word.hasPrefix("-"), word != "-" {
        switch try take(word) {
        case .help: return .help
        case .version: return .version
        default: continue
        }
      } else {
        options.urls.append(word)
      }
    }
    options.output = try output()
    return .get(options)
  }

  // MARK: Options

  /// Takes one option, with its value if it has one.
  private mutating func take(_ word: String) throws(UsageError) -> Option {
    let (name, attached) = Self.split(word)
    guard let option = Option(spelled: name) else { throw Self.unknownOption(name) }
    guard seen.insert(option).inserted || option.mayRepeat else {
      throw UsageError("\(option.rawValue) is given twice")
    }
    if option.takesValue {
      try set(option, to: value(of: option, attached: attached))
    } else {
      guard attached == nil else { throw UsageError("\(option.rawValue) takes no value") }
      set(option)
    }
    return option
  }

  /// `--jobs=8` is "--jobs" and "8", `-opage` is "-o" and "page".
  private static func split(_ word: String) -> (name: Substring, attached: String?) {
    if word.hasPrefix("--") {
      guard let equals = word.firstIndex(of: "=") else { return (word[...], nil) }
      return (word[..<equals], String(word[word.index(after: equals)...]))
    }
    let name = word.prefix(2)
    return (name, word.count > 2 ? String(word.dropFirst(2)) : nil)
  }

  private mutating func value(of option: Option, attached: String?) throws(UsageError) -> String {
    if let attached { return attached }
    // `--cache --json URL`: the value was forgotten. A value that begins with two dashes can be attached.
    guard let next = words.first, !next.hasPrefix("--") else {
      throw UsageError("\(option.rawValue) needs a value")
    }
    words.removeFirst()
    return next
  }

  private mutating func set(_ option: Option) {
    switch option {
    case .force: options.force = true
    case .json: options.json = true
    case .quiet: options.quiet = true
    default: break
    }
  }

  private mutating func set(_ option: Option, to value: String) throws(UsageError) {
    guard !value.isEmpty else { throw UsageError("\(option.rawValue) needs a value") }
    switch option {
    case .output: outputFile = value
    case .outputFolder: outputFolder = value
    case .input: options.input = value
    case .cache: options.cacheFolder = value
    case .backend: options.backend = try OptionValue.choice(value, of: option)
    case .mode: options.mode = try OptionValue.choice(value, of: option)
    case .header: try OptionValue.addField(value, to: &options.fields)
    case .jobs: options.jobs = try OptionValue.number(value, of: option, in: 1...1024)
    case .timeout: options.timeout = try OptionValue.seconds(value, of: option)
    case .limit: options.limitBytes = try OptionValue.size(value, of: option)
    default: break
    }
  }

  // MARK: Where bodies go

  private func output() throws(UsageError) -> GetOptions.Output {
    let isOne = options.urls.count == 1 && options.input == nil
    guard !options.urls.isEmpty || options.input != nil else {
      throw UsageError("get needs a URL, or --input FILE with a URL a line")
    }
    if let outputFile {
      guard outputFolder == nil else { throw UsageError("-o and --output-dir exclude each other") }
      guard isOne else { throw UsageError("-o takes one URL; for several give --output-dir DIR") }
      guard outputFile == "-" else { return .file(outputFile) }
      guard !options.json else { throw UsageError("-o - and --json both want standard output; give -o FILE") }
      return .standardOutput
    }
    if let outputFolder { return .folder(outputFolder) }
    if options.json { return .cacheOnly }
    guard isOne else {
      throw UsageError("several URLs need --output-dir DIR, or --json to fill the cache only")
    }
    return .standardOutput
  }

  // MARK: Mistakes

  private static func unknownOption(_ name: Substring) -> UsageError {
    let nearest = Spelling.nearest(to: String(name), among: Option.allCases.map(\.rawValue))
    return UsageError("\(name) is not an option" + (nearest.map { "; did you mean \($0)?" } ?? ""))
  }

  private static func unknownCommand(_ word: String) -> UsageError {
    if word.contains("://") { return UsageError("\(word) is not a command; did you mean mobj get \(word)?") }
    if word.hasPrefix("-") {
      let isOption = Option(spelled: split(word).name) != nil
      return isOption ? UsageError("\(word) stands after the command: mobj get \(word) …") : unknownOption(word[...])
    }
    let nearest = Spelling.nearest(to: word, among: ["get", "help"])
    return UsageError("\(word) is not a command" + (nearest.map { "; did you mean \($0)?" } ?? ""))
  }
}
