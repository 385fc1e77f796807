/// The options of `mobj get`, as they are spelled.
enum Option: String, CaseIterable {
  case output = "-o"
  case outputFolder = "--output-dir"
  case force = "--force"
  case input = "--input"
  case json = "--json"
  case quiet = "--quiet"
  case cache = "--cache"
  case backend = "--backend"
  case mode = "--mode"
  case header = "--header"
  case jobs = "--jobs"
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

  /// Whether it may be given more than once. Of all others a second value would silently undo the first.
  var mayRepeat: Bool { self == .header || !takesValue }

  init?(spelled word: some StringProtocol) {
    if word == "-h" { self = .help } else { self.init(rawValue: String(word)) }
  }
}
