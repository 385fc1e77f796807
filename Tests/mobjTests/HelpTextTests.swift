import Testing

@testable import mobj

struct HelpTextTests {
  @Test func `help fits on one screen`() {
    let lines = HelpText.screen.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 23, "the prompt wants the 24th")
    for line in lines { #expect(line.count <= 80, "\(line)") }
  }

  @Test func `help names every option, every exit status and shows examples`() {
    for option in Option.allCases { #expect(HelpText.screen.contains(option.rawValue)) }
    for part in ["mobj get https://", "0 all good", "1 something failed", "2 wrong usage", "130"] {
      #expect(HelpText.screen.contains(part))
    }
    for mode in ["default", "reload", "no-cache", "force-cache", "only-if-cached", "no-store"] {
      #expect(HelpText.screen.contains(mode))
    }
  }
}
