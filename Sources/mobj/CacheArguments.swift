/// Reads the words behind `mobj cache`. The verb is the first word that is no option, the folder the second.
struct CacheArguments {
  private var options = CacheOptions()
  private var operands: [String] = []
  private var given: [CacheOption] = []

  static func parse(_ words: ArraySlice<String>) throws(UsageError) -> Command {
    guard !words.isEmpty else { return .help(.cache) }
    var arguments = CacheArguments()
    var reader = OptionReader<CacheOption>(words)
    while let word = try reader.next() {
      switch word {
      case .operand(let word): arguments.operands.append(word)
      case .option(.help, _): return .help(.cache)
      case .option(.version, _): return .version
      case .option(let option, let value): try arguments.set(option, to: value)
      }
    }
    return .cache(try arguments.checked())
  }

  private mutating func set(_ option: CacheOption, to value: String) throws(UsageError) {
    given.append(option)
    switch option {
    case .json: options.json = true
    case .quiet: options.quiet = true
    case .repair: options.repairs = true
    case .goal:
      switch try OptionValue.sizeOrPart(value, of: option) {
      case .bytes(let bytes): options.limitBytes = bytes
      case .percent(let percent): options.limitPercent = percent
      }
    case .limitBytes: options.limitBytes = try OptionValue.size(value, of: option)
    case .limitEntries: options.limitEntries = try OptionValue.number(value, of: option, in: 0...1_000_000_000_000)
    case .limitAge: options.limitAge = try OptionValue.age(value, of: option)
    case .help, .version: break
    }
  }

  /// Whole and free of contradictions.
  private consuming func checked() throws(UsageError) -> CacheOptions {
    let verb = try Self.verb(operands.first)
    options.verb = verb
    for option in given {
      if let only = option.verb, only != verb {
        throw UsageError("\(option.rawValue) is an option of cache \(only.rawValue), not of cache \(verb.rawValue)")
      }
    }
    guard operands.count > 1 else {
      throw UsageError("cache \(verb.rawValue) needs the folder of a cache: mobj cache \(verb.rawValue) DIR")
    }
    options.folder = operands[1]
    options.names = Array(operands.dropFirst(2))
    try checkRest(verb)
    return options
  }

  private borrowing func checkRest(_ verb: CacheOptions.Verb) throws(UsageError) {
    guard verb == .remove || options.names.isEmpty else {
      throw UsageError("cache \(verb.rawValue) takes one folder; '\(options.names[0])' is too much")
    }
    guard verb != .remove || !options.names.isEmpty else {
      throw UsageError("cache remove needs what to remove: mobj cache remove DIR URL…")
    }
    let hasLimit = options.limitBytes != nil || options.limitEntries != nil || options.limitAge != nil
    guard verb != .trim || hasLimit || options.limitPercent != nil else {
      throw UsageError("cache trim needs a limit: --to N, --max-files N or --max-age D")
    }
    guard !given.contains(.goal) || !given.contains(.limitBytes) else {
      throw UsageError("--to and --max-size say the same; give one of them")
    }
  }

  private static func verb(_ word: String?) throws(UsageError) -> CacheOptions.Verb {
    let verbs = CacheOptions.Verb.allCases.map(\.rawValue)
    guard let word else { throw UsageError("cache needs a verb: \(verbs.joined(separator: ", "))") }
    if let verb = CacheOptions.Verb(rawValue: word) { return verb }
    let synonyms = ["ls": "list", "rm": "remove", "check": "verify", "delete": "remove", "status": "stat"]
    let nearest = synonyms[word] ?? Spelling.nearest(to: word, among: verbs)
    let advice = nearest.map { "did you mean cache \($0)?" } ?? "it takes \(verbs.joined(separator: ", "))"
    throw UsageError("cache \(word) is not a command; \(advice)")
  }
}
