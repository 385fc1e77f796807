/// Reads the words behind `mobj explain`.
struct ExplainArguments {
  private var options = ExplainOptions()
  private var urls: [String] = []

  static func parse(_ words: ArraySlice<String>) throws(UsageError) -> Command {
    guard !words.isEmpty else { return .help(.explain) }
    var arguments = ExplainArguments()
    var reader = OptionReader<ExplainOption>(words)
    while let word = try reader.next() {
      switch word {
      case .operand(let url): arguments.urls.append(url)
      case .option(.help, _): return .help(.explain)
      case .option(.version, _): return .version
      case .option(let option, let value): try arguments.set(option, to: value)
      }
    }
    return .explain(try arguments.checked())
  }

  private mutating func set(_ option: ExplainOption, to value: String) throws(UsageError) {
    switch option {
    case .cache: options.cacheFolder = value
    case .backend: options.backend = try OptionValue.choice(value, of: option)
    case .mode: options.mode = try OptionValue.choice(value, of: option)
    case .header: try OptionValue.addField(value, to: &options.fields)
    case .json: options.json = true
    case .help, .version: break
    }
  }

  private consuming func checked() throws(UsageError) -> ExplainOptions {
    guard let url = urls.first else { throw UsageError("explain needs a URL: mobj explain URL --cache DIR") }
    guard urls.count == 1 else { throw UsageError("explain takes one URL; '\(urls[1])' is too much") }
    options.url = url
    return options
  }
}
