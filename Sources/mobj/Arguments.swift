/// Reads the command line: the command first, the rest is the command's.
///
///     mobj get --jobs 8 --header 'Accept: text/html' -o page.html https://example.com/
///     mobj cache trim --to 1G ~/.cache/mobj
///     mobj explain https://example.com/
enum Arguments {
  private static let commands = ["get", "cache", "explain", "help"]

  /// - Parameter words: the command line without the program's name.
  static func parse(_ words: [String]) throws(UsageError) -> Command {
    guard let first = words.first else { return .help(.all) }
    switch first {
    case "get": return try GetArguments.parse(words.dropFirst())
    case "cache": return try CacheArguments.parse(words.dropFirst())
    case "explain": return try ExplainArguments.parse(words.dropFirst())
    case "help": return .help(try topic(words.dropFirst().first))
    case "--help", "-h": return .help(.all)
    case "--version": return .version
    default: throw unknownCommand(words)
    }
  }

  private static func topic(_ word: String?) throws(UsageError) -> HelpText.Topic {
    switch word {
    case nil, "help": .all
    case "get": .get
    case "cache": .cache
    case "explain": .explain
    case .some(let word): throw unknownCommand([word])
    }
  }

  // MARK: Mistakes

  private static func unknownCommand(_ words: [String]) -> UsageError {
    let word = words.first ?? ""
    if word.contains("://") { return UsageError("\(word) is not a command; did you mean mobj get \(word)?") }
    if word.hasPrefix("-") { return misplacedOption(word, command: words.first { commands.contains($0) }) }
    if CacheOptions.Verb(rawValue: word) != nil {
      return UsageError("\(word) is not a command; did you mean mobj cache \(word)?")
    }
    let nearest = Spelling.nearest(to: word, among: commands)
    return UsageError("\(word) is not a command" + (nearest.map { "; did you mean \($0)?" } ?? ""))
  }

  /// An option before the command, or without one.
  private static func misplacedOption(_ word: String, command: String?) -> UsageError {
    let name = OptionReader<GetOption>.split(word).name
    let ofGet = GetOption(spelled: name) != nil
    let ofCache = CacheOption(spelled: name) != nil
    guard ofGet || ofCache else { return OptionReader<GetOption>.unknown(name) }
    if command == "explain", ExplainOption(spelled: name) != nil {
      return UsageError("\(name) stands after the command: mobj explain \(name) …")
    }
    let isOfCache = ofCache && (command == "cache" || !ofGet)
    return UsageError("\(name) stands after the command: mobj \(isOfCache ? "cache VERB" : "get") \(name) …")
  }
}
