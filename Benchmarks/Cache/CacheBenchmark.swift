import Foundation
import ManagedObjects

/// `Benchmarks cache`: file caches, and what one would take instead, on the same work in one run.
///
/// Candidates take their turns in pieces of a few hundred operations, in an order that changes, so that what disturbs
/// one disturbs all. Every body that comes back is checked. In parts:
///
///     sizes     put, get that hits, get that misses, contains, at bodies of 1, 4, 16 and 256 KiB
///     numbers   the same, start-up (also behind a process that was killed) and trim, at growing numbers of entries: what
///               grows with their number?
///     mixed     gets by Zipf's law at a limit, a put after each miss: hit ratio and latency
///     trimming  gets and puts while another thread or process trims, beside the same load alone
public struct CacheBenchmark {
  let options: CacheBenchmarkOptions
  let arena: Arena

  /// The whole of a program: reads its arguments, measures, prints.
  /// - Parameter adding: what takes part beside ours.
  /// - Throws: where something cannot be measured; a wrong argument ends the program with status 2.
  public static func main(
    adding: [CacheContender] = [], arguments: [String] = Array(CommandLine.arguments.dropFirst())
  ) throws {
    guard let options = CacheBenchmarkOptions(arguments) else {
      FileHandle.standardError.write(Data(CacheBenchmarkOptions.usage.utf8))
      exit(2)
    }
    let contenders = ours(options) + adding
    try DoomedWriter.live(contenders)
    let arena = try Arena(options, contenders: contenders)
    defer { arena.clear() }
    try CacheBenchmark(options: options, arena: arena).run()
  }

  /// With the floor's number of folders, or where there are more entries than those are good for with 4,096, as
  /// `BigFileCache` chooses itself.
  private static func ours(_ options: CacheBenchmarkOptions) -> [CacheContender] {
    let shards = (options.entries.last ?? 0) > 250_000 ? 4096 : 256
    return [
      CacheContender("FileCache") { try FileCache(folder: $0, limits: $1) },
      CacheContender("BigFileCache") { try BigFileCache(folder: $0, limits: $1, shards: shards) },
    ]
  }

  private func run() throws {
    var report = CacheReport(machine: Machine(directory: arena.folder.path), quick: options.isQuick)
    report.warnings += Mount(above: arena.folder.path)?.warnings ?? []
    report.warnings += arena.warnings
    report.candidates = arena.introductions
    let parts: [(String, () throws -> [CacheFigure])] = [
      ("sizes", SizesPart(options, arena).measure), ("numbers", NumbersPart(options, arena).measure),
      ("mixed", MixedPart(options, arena).measure), ("trimming", TrimmingPart(options, arena).measure),
    ]
    for (name, measure) in parts where options.parts.contains(name) { report.figures += try measure() }
    report.goals = CacheGoals(report.figures).all
    try write(report)
  }

  private func write(_ report: CacheReport) throws {
    let isJSONOut = options.json == "-"
    (isJSONOut ? FileHandle.standardError : .standardOutput).write(Data(report.table.utf8))
    if let json = options.json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      let data = try encoder.encode(report) + Data("\n".utf8)
      if isJSONOut { FileHandle.standardOutput.write(data) } else { try data.write(to: URL(filePath: json)) }
    }
    if let chart = options.chart { try CacheChart(report).draw(to: chart) }
  }
}

/// What was asked for on the command line.
struct CacheBenchmarkOptions {
  var isQuick = false
  var json: String?
  var chart: String?
  var directory: String?
  /// The folder's file system goes with this process: nothing has to be removed.
  var isDisposable = false
  /// Numbers of entries.
  var entries = [1000, 10_000, 100_000]
  var bytes = [1 << 10, 4 << 10, 16 << 10, 256 << 10]
  var parts = ["sizes", "numbers", "mixed", "trimming"]
  /// Candidates; nil: all.
  var only: [String]?
  /// Programs that take part.
  var peers: [[String]] = []

  static let usage = """
    usage: Benchmarks cache [options]
      --quick          smaller sets, well under a minute
      --entries N,N    numbers of entries, 1,000 to 1,000,000 (default 1000,10000,100000)
      --bytes N,N      lengths of bodies (default 1024,4096,16384,262144)
      --parts P,P      of sizes, numbers, mixed, trimming (default: all)
      --only NAME,…    these candidates beside the floor
      --peer COMMAND   a program that takes part; the protocol: Benchmarks/Peers/Sources/cache-peer/main.swift
      --json FILE      the figures as JSON too; - is standard output, the table then goes to standard error
      --chart FILE     cost against number of entries and latency while trimming, drawn by gnuplot (.svg or .png)
      --dir DIR        where to make a folder for the files; default: the temporary folder
      --disposable     leave the files there, since their file system goes as well

    """

  init?(_ arguments: [String]) {
    var rest = arguments[...]
    var wasGiven: Set<String> = []
    while let option = rest.popFirst() {
      wasGiven.insert(option)
      switch option {
      case "--quick": isQuick = true
      case "--disposable": isDisposable = true
      default:
        guard let value = rest.popFirst(), set(option, to: value) else { return nil }
      }
    }
    guard isQuick else { return }
    if !wasGiven.contains("--entries") { entries = [1000, 10_000] }
    if !wasGiven.contains("--bytes") { bytes = [4 << 10, 256 << 10] }
  }

  private mutating func set(_ option: String, to value: String) -> Bool {
    let words = value.split(separator: ",").map(String.init)
    let numbers = words.compactMap { Int($0) }.filter { $0 > 0 }
    switch option {
    case "--json": json = value
    case "--chart": chart = value
    case "--dir": directory = value
    case "--only": only = words
    case "--peer": peers.append(value.split(separator: " ").map(String.init))
    case "--entries":
      entries = numbers.sorted()
      return numbers.count == words.count && numbers.allSatisfy { (100...1_000_000).contains($0) }
    case "--bytes":
      bytes = numbers
      return numbers.count == words.count && numbers.allSatisfy { (8...1 << 26).contains($0) }
    case "--parts":
      parts = words
      return words.allSatisfy(["sizes", "numbers", "mixed", "trimming"].contains)
    default: return false
    }
    return true
  }
}
