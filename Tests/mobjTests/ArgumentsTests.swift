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
    ([], HelpText.Topic.all), (["help"], .all), (["--help"], .all), (["-h"], .all), (["help", "help"], .all),
    (["help", "get"], .get), (["get", "--help"], .get), (["get", "-h"], .get),
    (["get", "http://a/", "--help", "--nonsense"], .get), (["help", "cache"], .cache), (["cache"], .cache),
    (["cache", "--help"], .cache), (["cache", "list", "--help"], .cache), (["cache", "trim", "d", "-h"], .cache),
  ])
  func `help is asked for in many ways, of each command its own`(words: [String], topic: HelpText.Topic) throws {
    #expect(try Arguments.parse(words) == .help(topic))
  }

  @Test(arguments: [["--version"], ["get", "--version"], ["cache", "--version"]])
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
    #expect(options.jobsPerHost == 8)
    #expect(options.tries == nil && options.failed == nil)
    #expect(options.backend == .file)
    #expect(options.mode == .standard)
  }

  @Test func `every option is read`() throws {
    let options = try options(
      "--output-dir", "d", "--force", "--input", "list", "--json", "--quiet", "--cache", "c", "--backend", "big",
      "--mode", "no-cache", "--header", "Accept: text/html", "--header", "X-A:1", "--jobs", "8", "--timeout", "1.5",
      "--max-size", "10M", "--per-host", "3", "--retry", "5", "--failed", "f", "http://a/", "http://b/")
    #expect(options.output == .folder("d"))
    #expect(options.force && options.json && options.quiet)
    #expect(options.input == "list")
    #expect(options.cacheFolder == "c")
    #expect(options.backend == .big)
    #expect(options.mode == .noCache)
    #expect(options.fields.map { [$0.name, $0.value] } == [["Accept", "text/html"], ["X-A", "1"]])
    #expect(options.jobs == 8)
    #expect(options.jobsPerHost == 3)
    #expect(options.tries == 5)
    #expect(options.failed == "f")
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
    (["get", "-o", "-", "--json", "u"], "standard output"), (["get", "--failed", "-", "u"], "--failed"),
    (["get", "--failed", "-", "--json", "--output-dir", "d", "u"], "JSON"),
  ])
  func `what contradicts itself is refused`(words: [String], named: String) throws {
    #expect(try #require(message(words)).contains(named))
  }

  // MARK: Mistakes

  @Test(arguments: [
    (["get", "--jbos", "4", "u"], "--jbos is not an option; did you mean --jobs?"),
    (["get", "--outputdir=d", "u"], "--outputdir is not an option; did you mean --output-dir?"),
    (["get", "-x", "u"], "-x is not an option"), (["gte", "u"], "gte is not a command; did you mean get?"),
    (["fetch"], "fetch is not a command"), (["cahce"], "cahce is not a command; did you mean cache?"),
    (["stat", "d"], "stat is not a command; did you mean mobj cache stat?"),
    (["help", "chace"], "chace is not a command; did you mean cache?"),
    (["--max-age", "3d", "cache", "trim"], "--max-age stands after the command: mobj cache VERB --max-age …"),
    (["--json", "cache", "list"], "--json stands after the command: mobj cache VERB --json …"),
    (["get", "--perhost", "3", "u"], "--perhost is not an option; did you mean --per-host?"),
    (["get", "--per-host", "0", "u"], "--per-host takes a number from 1 to 1024, not '0'"),
    (["get", "--retry", "-1", "u"], "--retry takes a number from 1 to 100, not '-1'"),
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

  @Test func `what failed may go to standard output where that is free`() throws {
    #expect(try options("--failed", "-", "--output-dir", "d", "u").failed == "-")
    #expect(try options("--failed", "-", "-o", "f", "u").failed == "-")
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
