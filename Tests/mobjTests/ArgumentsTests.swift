import ManagedObjects
import Testing

@testable import mobj

struct ArgumentsTests {
  private func options(_ words: String...) throws -> GetOptions {
    guard case .get(let options) = try Arguments.parse(["get"] + words) else {
      throw UsageError("is not get")
    }
    return options
  }

  private func message(_ words: [String]) -> String? {
    do throws(UsageError) {
      _ = try Arguments.parse(words)
      return nil
    } catch {
      return error.message
    }
  }

  // MARK: Commands

  @Test(arguments: [
    [], ["help"], ["--help"], ["-h"], ["help", "get"], ["get", "--help"], ["get", "-h"],
    ["get", "http://a/", "--help", "--nonsense"],
  ])
  func `help is asked for in many ways`(words: [String]) throws {
    #expect(try Arguments.parse(words) == .help)
  }

  @Test(arguments: [["--version"], ["get", "--version"]])
  func `the version is asked for before or after the command`(words: [String]) throws {
    #expect(try Arguments.parse(words) == .version)
  }

  @Test func `one URL goes to standard output by default`() throws {
    let options = try options("http://a/")
    var expected = GetOptions()
    expected.urls = ["http://a/"]
    #expect(options == expected)
    #expect(options.output == .standardOutput)
    #expect(options.jobs == 64)
    #expect(options.backend == .file)
    #expect(options.mode == .standard)
  }

  @Test func `every option is read`() throws {
    let options = try options(
      "--output-dir", "d", "--force", "--input", "list", "--json", "--quiet", "--cache", "c", "--backend", "big",
      "--mode", "no-cache", "--header", "Accept: text/html", "--header", "X-A:1", "--jobs", "8", "--timeout", "1.5",
      "--max-size", "10M", "http://a/", "http://b/")
    #expect(options.output == .folder("d"))
    #expect(options.force && options.json && options.quiet)
    #expect(options.input == "list")
    #expect(options.cacheFolder == "c")
    #expect(options.backend == .big)
    #expect(options.mode == .noCache)
    #expect(options.fields.map { [$0.name, $0.value] } == [["Accept", "text/html"], ["X-A", "1"]])
    #expect(options.jobs == 8)
    #expect(options.timeout == .milliseconds(1500))
    #expect(options.limitBytes == 10 << 20)
    #expect(options.urls == ["http://a/", "http://b/"])
  }

  @Test func `values may be attached`() throws {
    let options = try options("--jobs=3", "-opage.html", "--cache=--odd", "http://a/?x=1")
    #expect(options.jobs == 3)
    #expect(options.output == .file("page.html"))
    #expect(options.cacheFolder == "--odd")
    #expect(options.urls == ["http://a/?x=1"])
  }

  @Test func `after two dashes all words are URLs`() throws {
    #expect(try options("--json", "--", "--jobs", "-o").urls == ["--jobs", "-o"])
  }

  // MARK: Where bodies go

  @Test(arguments: [
    (["u"], GetOptions.Output.standardOutput), (["-o", "-", "u"], .standardOutput), (["-o", "f", "u"], .file("f")),
    (["-o", "f", "--json", "u"], .file("f")), (["--json", "u"], .cacheOnly), (["--json", "u", "v"], .cacheOnly),
    (["--json", "--input", "l"], .cacheOnly), (["--output-dir", "d", "u"], .folder("d")),
    (["--output-dir", "d", "--json", "u", "v"], .folder("d")), (["--output-dir", "d", "--input", "-"], .folder("d")),
  ])
  func `the options say where bodies go`(words: [String], expected: GetOptions.Output) throws {
    guard case .get(let options) = try Arguments.parse(["get"] + words) else { throw UsageError("is not get") }
    #expect(options.output == expected)
  }

  @Test(arguments: [
    (["get"], "--input"), (["get", "--json"], "URL"), (["get", "u", "v"], "--output-dir"),
    (["get", "--input", "l"], "--output-dir"), (["get", "-o", "f", "u", "v"], "-o"),
    (["get", "-o", "f", "--input", "l"], "-o"), (["get", "-o", "f", "--output-dir", "d", "u"], "exclude"),
    (["get", "-o", "-", "--json", "u"], "standard output"),
  ])
  func `what contradicts itself is refused`(words: [String], named: String) throws {
    #expect(try #require(message(words)).contains(named))
  }

  // MARK: Mistakes

  @Test(arguments: [
    (["get", "--jbos", "4", "u"], "--jbos is not an option; did you mean --jobs?"),
    (["get", "--outputdir=d", "u"], "--outputdir is not an option; did you mean --output-dir?"),
    (["get", "-x", "u"], "-x is not an option"), (["gte", "u"], "gte is not a command; did you mean get?"),
    (["fetch"], "fetch is not a command"),
    (["http://a/"], "http://a/ is not a command; did you mean mobj get http://a/?"),
    (["--json", "u"], "--json stands after the command: mobj get --json …"),
    (["--jsno", "u"], "--jsno is not an option; did you mean --json?"),
    (["get", "u", "--jobs"], "--jobs needs a value"), (["get", "--cache", "--json", "u"], "--cache needs a value"),
    (["get", "--cache=", "u"], "--cache needs a value"), (["get", "--json=yes", "u"], "--json takes no value"),
    (["get", "--jobs", "2", "--jobs", "3", "u"], "--jobs is given twice"),
    (["get", "--mode", "relaod", "u"], "did you mean reload?"),
    (["get", "--backend", "fiel", "u"], "--backend takes file, big or none, not 'fiel'; did you mean file?"),
  ])
  func `a mistake names the word at fault and the right one`(words: [String], part: String) throws {
    #expect(try #require(message(words)).hasSuffix(part))
  }

  @Test func `flags may be repeated`() throws {
    #expect(try options("--quiet", "--quiet", "u").quiet)
  }

  @Test func `no words of any kind make it trap`() {
    let words = ["-", "--", "-o", "--=", "--jobs=", "=", "", "-é", "--\u{0}", "get", "\u{FFFD}", "--header", ":"]
    for first in words {
      for second in words { for third in words { _ = message(["get", first, second, third]) } }
      _ = message([first])
    }
  }
}
