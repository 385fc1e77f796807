internal import ManagedObjects

/// Reads the words behind `mobj get`.
struct GetArguments {
  private var options = GetOptions()
  private var outputFile: String?
  private var outputFolder: String?

  static func parse(_ words: ArraySlice<String>) throws(UsageError) -> Command {
    var arguments = GetArguments()
    var reader = OptionReader<GetOption>(words)
    while let word = try reader.next() {
      switch word {
      case .operand(let url): arguments.options.urls.append(url)
      case .option(.help, _): return .help(.get)
      case .option(.version, _): return .version
      case .option(let option, let value): try arguments.set(option, to: value)
      }
    }
    return .get(try arguments.checked())
  }

  private mutating func set(_ option: GetOption, to value: String) throws(UsageError) {
    switch option {
    case .force: options.force = true
    case .json: options.json = true
    case .quiet: options.quiet = true
    case .output: outputFile = value
    case .outputFolder: outputFolder = value
    case .input: options.input = value
    case .failed: options.failed = value
    case .cache: options.cacheFolder = value
    case .backend: options.backend = try OptionValue.choice(value, of: option)
    case .mode: options.mode = try OptionValue.choice(value, of: option)
    case .header: try OptionValue.addField(value, to: &options.fields)
    case .jobs: options.jobs = try OptionValue.number(value, of: option, in: 1...1024)
    case .perHost: options.jobsPerHost = try OptionValue.number(value, of: option, in: 1...1024)
    case .tries: options.tries = try OptionValue.number(value, of: option, in: 1...100)
    case .timeout: options.timeout = try OptionValue.seconds(value, of: option)
    case .limit: options.limitBytes = try OptionValue.size(value, of: option)
    case .help, .version: break
    }
  }

  /// Whole and free of contradictions.
  private consuming func checked() throws(UsageError) -> GetOptions {
    options.output = try output()
    if options.failed == "-", options.json || options.output == .standardOutput {
      let other = options.json ? "JSON" : "body"
      throw UsageError("--failed - wants standard output, where the \(other) goes; give --failed FILE")
    }
    return options
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
}
