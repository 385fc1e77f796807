/// The options of a command, as they are spelled.
protocol SpelledOption: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
  var takesValue: Bool { get }
  /// Whether it may be given more than once. Of most a second value would silently undo the first.
  var mayRepeat: Bool { get }

  static var help: Self { get }
}

extension SpelledOption {
  init?(spelled word: some StringProtocol) {
    if word == "-h" { self = .help } else { self.init(rawValue: String(word)) }
  }
}

/// The options of `mobj get`.
enum GetOption: String, SpelledOption {
  case output = "-o"
  case outputFolder = "--output-dir"
  case force = "--force"
  case input = "--input"
  case failed = "--failed"
  case json = "--json"
  case quiet = "--quiet"
  case cache = "--cache"
  case backend = "--backend"
  case mode = "--mode"
  case header = "--header"
  case jobs = "--jobs"
  case perHost = "--per-host"
  case tries = "--retry"
  case timeout = "--timeout"
  case limit = "--max-size"
  case help = "--help"
  case version = "--version"

  var takesValue: Bool {
    switch self {
    case .force, .json, .quiet, .help, .version: false
    default: true
    }
  }

  var mayRepeat: Bool { self == .header || !takesValue }
}

/// The options of `mobj cache`.
enum CacheOption: String, SpelledOption {
  case goal = "--to"
  case limitBytes = "--max-size"
  case limitEntries = "--max-files"
  case limitAge = "--max-age"
  case repair = "--repair"
  case json = "--json"
  case quiet = "--quiet"
  case help = "--help"
  case version = "--version"

  var takesValue: Bool {
    switch self {
    case .goal, .limitBytes, .limitEntries, .limitAge: true
    default: false
    }
  }

  var mayRepeat: Bool { !takesValue }

  /// The only verb that takes it; nil: all do.
  var verb: CacheOptions.Verb? {
    switch self {
    case .goal, .limitBytes, .limitEntries, .limitAge: .trim
    case .repair: .verify
    case .json, .quiet, .help, .version: nil
    }
  }
}

/// The options of `mobj explain`.
enum ExplainOption: String, SpelledOption {
  case cache = "--cache"
  case backend = "--backend"
  case mode = "--mode"
  case header = "--header"
  case json = "--json"
  case help = "--help"
  case version = "--version"

  var takesValue: Bool {
    switch self {
    case .json, .help, .version: false
    default: true
    }
  }

  var mayRepeat: Bool { self == .header || !takesValue }
}
