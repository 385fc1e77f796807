import Testing

@testable import mobj

struct HelpTextTests {
  @Test(arguments: HelpText.Topic.allCases)
  func `help fits on one screen`(topic: HelpText.Topic) {
    let lines = HelpText.screen(topic).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 23, "the prompt wants the 24th")
    for line in lines { #expect(line.count <= 80, "\(line)") }
  }

  @Test(arguments: HelpText.Topic.allCases)
  func `help names the exit statuses and shows examples`(topic: HelpText.Topic) {
    let screen = HelpText.screen(topic)
    for part in ["exit status: 0 all good, 1 ", "2 wrong usage", "\nmobj "] { #expect(screen.contains(part)) }
  }

  @Test func `help names every option and every verb`() {
    for option in GetOption.allCases where option != .help && option != .version {
      #expect(HelpText.screen(.get).contains(option.rawValue))
    }
    for option in CacheOption.allCases where option != .help && option != .version {
      #expect(HelpText.screen(.cache).contains(option.rawValue))
    }
    for option in ExplainOption.allCases where option != .help && option != .version {
      #expect(HelpText.screen(.explain).contains(option.rawValue))
    }
    for verb in CacheOptions.Verb.allCases { #expect(HelpText.screen(.cache).contains("  \(verb.rawValue) DIR")) }
    for part in ["get --help", "cache --help", "explain --help", "--version", "130"] {
      #expect(HelpText.screen(.all).contains(part))
    }
    for mode in ["default", "reload", "no-cache", "force-cache", "only-if-cached", "no-store"] {
      #expect(HelpText.screen(.get).contains(mode))
    }
  }

  @Test(arguments: HelpText.Topic.allCases)
  func `the examples are commands that can be obeyed`(topic: HelpText.Topic) throws {
    for line in HelpText.screen(topic).split(separator: "\n") where line.hasPrefix("mobj ") {
      let command = line.prefix { $0 != "|" }.split(separator: " ").dropFirst().map(String.init)
      #expect(throws: Never.self) { _ = try Arguments.parse(command) }
    }
  }
}
