import ManagedObjects
import Testing

@testable import mobj

struct ExplainArgumentsTests {
  private func options(_ words: String...) throws(UsageError) -> ExplainOptions? {
    if case .explain(let options) = try Arguments.parse(["explain"] + words) { options } else { nil }
  }

  private func message(_ words: String...) -> String? {
    do throws(UsageError) {
      _ = try Arguments.parse(words)
      return nil
    } catch { return error.message }
  }

  @Test func `a URL and all options, in any order`() throws {
    let read = try #require(
      try options(
        "--cache", "c", "http://h/", "--backend=big", "--mode", "no-cache", "--header", "A: 1", "--header", "b:2",
        "--json"))
    #expect(read.url == "http://h/" && read.cacheFolder == "c" && read.backend == .big && read.json)
    #expect(read.mode == .noCache && read.fields == ["A": "1", "b": "2"])
    #expect(try options("http://h/")?.cacheFolder == nil)
  }

  @Test func `without words, and where it is asked for, there is help`() throws {
    #expect(try Arguments.parse(["explain"]) == .help(.explain))
    #expect(try Arguments.parse(["explain", "x", "--help"]) == .help(.explain))
    #expect(try Arguments.parse(["help", "explain"]) == .help(.explain))
    #expect(try Arguments.parse(["explain", "--version"]) == .version)
  }

  @Test func `what is wrong is named`() {
    #expect(message("explain", "--json") == "explain needs a URL: mobj explain URL --cache DIR")
    #expect(message("explain", "a", "b") == "explain takes one URL; 'b' is too much")
    #expect(message("explain", "a", "--backend", "none") == "--backend takes file or big, not 'none'")
    #expect(message("explain", "a", "--chache", "c")?.hasSuffix("did you mean --cache?") == true)
    #expect(message("--cache", "c", "explain", "u") == "--cache stands after the command: mobj explain --cache …")
    #expect(message("explian", "u") == "explian is not a command; did you mean explain?")
  }
}
