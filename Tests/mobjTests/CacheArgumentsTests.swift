import Testing

@testable import mobj

struct CacheArgumentsTests {
  private func options(_ words: String...) throws -> CacheOptions {
    guard case .cache(let options) = try Arguments.parse(["cache"] + words) else { throw UsageError("is not cache") }
    return options
  }

  private func message(_ words: [String]) -> String? {
    do throws(UsageError) {
      _ = try Arguments.parse(["cache"] + words)
      return nil
    } catch {
      return error.message
    }
  }

  @Test(arguments: ["stat", "list", "verify", "clear"])
  func `most verbs take a folder and no more`(verb: String) throws {
    let options = try options(verb, "d")
    #expect(options == CacheOptions(verb: try #require(CacheOptions.Verb(rawValue: verb)), folder: "d"))
    #expect(try self.options("--json", verb, "--quiet", "d").json)
  }

  @Test func `every option is read`() throws {
    let trim = try options("trim", "d", "--max-size", "1G", "--max-files=10", "--max-age", "2d", "--json", "--quiet")
    #expect(trim.limitBytes == 1 << 30)
    #expect(trim.limitEntries == 10)
    #expect(trim.limitAge == .seconds(172_800))
    #expect(trim.json && trim.quiet && !trim.repairs)
    #expect(try options("verify", "--repair", "d").repairs)
    #expect(try options("trim", "d", "--to", "64K").limitBytes == 64 << 10)
    #expect(try options("trim", "d", "--to=80%").limitPercent == 80)
  }

  @Test func `remove takes any number of names, after two dashes odd ones too`() throws {
    let options = try options("remove", "d", "http://a/", "--", "--x")
    #expect(options.folder == "d")
    #expect(options.names == ["http://a/", "--x"])
  }

  @Test(arguments: [
    (["lst", "d"], "cache lst is not a command; did you mean cache list?"),
    (["ls", "d"], "cache ls is not a command; did you mean cache list?"),
    (["rm", "d", "u"], "did you mean cache remove?"), (["vreify", "d"], "did you mean cache verify?"),
    (["frobnicate", "d"], "cache frobnicate is not a command; it takes stat, list, verify, trim, clear, remove"),
    (["--json"], "cache needs a verb: stat, list, verify, trim, clear, remove"),
    (["stat"], "cache stat needs the folder of a cache: mobj cache stat DIR"),
    (["list", "d", "e"], "cache list takes one folder; 'e' is too much"),
    (["remove", "d"], "cache remove needs what to remove: mobj cache remove DIR URL…"),
    (["trim", "d"], "cache trim needs a limit: --to N, --max-files N or --max-age D"),
    (["trim", "d", "--to", "101%"], "--to takes bytes, such as 10M or 1G, or a part, such as 80%, not '101%'"),
    (["trim", "d", "--to", "-1%"], "or a part, such as 80%, not '-1%'"),
    (["trim", "d", "--to", "x"], "--to takes bytes, such as 1000000, 64K, 10M or 1G, not 'x'"),
    (["trim", "d", "--to", "1G", "--max-size", "2G"], "--to and --max-size say the same; give one of them"),
    (["stat", "d", "--to", "1G"], "--to is an option of cache trim, not of cache stat"),
    (["list", "d", "--max-files", "3"], "--max-files is an option of cache trim, not of cache list"),
    (["clear", "--repair", "d"], "--repair is an option of cache verify, not of cache clear"),
    (["trim", "d", "--max-szie", "3"], "--max-szie is not an option; did you mean --max-size?"),
    (["trim", "d", "--max-size"], "--max-size needs a value"), (["list", "d", "--json=1"], "--json takes no value"),
    (["trim", "d", "--max-files", "many"], "--max-files takes a number from 0 to 1000000000000, not 'many'"),
    (["trim", "d", "--max-age", "3y"], "--max-age takes an age, such as 90s, 45m, 12h, 30d or 4w, not '3y'"),
    (["trim", "d", "--max-age", "1h", "--max-age", "2h"], "--max-age is given twice"),
  ])
  func `a mistake names the word at fault and the right one`(words: [String], ending: String) throws {
    #expect(try #require(message(words)).hasSuffix(ending))
  }

  @Test func `no words of any kind make it trap`() {
    let words = ["-", "--", "trim", "--=", "--max-age=", "=", "", "-é", "--\u{0}", "remove", "\u{FFFD}", "--max-files"]
    for first in words {
      for second in words { for third in words { _ = message([first, second, third]) } }
    }
  }
}
