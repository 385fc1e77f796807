import CacheBenchmark
import Dispatch
import Foundation

/// `Benchmarks network`: see the table in `main.swift`.
///
/// Makes the sets, starts the server, has each contest run, and reports. The contests are in `Contests.swift`.
struct NetworkBenchmark {
  private let options: BenchmarkArguments
  private let parent: String
  private let isRoomy: Bool

  init(_ options: BenchmarkArguments) {
    self.options = options
    let inMemory = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil
    parent = options.directory ?? inMemory ?? FileManager.default.temporaryDirectory.path
    let free = try? FileManager.default.attributesOfFileSystem(forPath: parent)[.systemFreeSize] as? NSNumber
    isRoomy = (free?.int64Value ?? 0) > 12 << 30
  }

  func run() throws {
    let folder = parent + "/mo-benchmark-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let interruptions = Self.removing(folder)
    defer { for source in interruptions { source.cancel() } }
    let sizes = options.isQuick ? SetSizes.quick : isRoomy ? .full : .cramped
    tell("making the sets in \(folder)")
    let bench = try TestBench(folder: folder, sizes: sizes)
    defer { bench.server.stop() }
    let report = try measure(Contests(bench: bench, rounds: 3), sizes)
    try options.write(report.table, report)
    if let chart = options.chart { try Chart(title: report.title, scores: report.scores).draw(to: chart) }
  }

  /// Gigabytes of memory are not left behind where somebody has seen enough.
  private static func removing(_ folder: String) -> [any DispatchSourceSignal] {
    [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        try? FileManager.default.removeItem(atPath: folder)
        exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  private func measure(_ contests: Contests, _ sizes: SetSizes) throws -> ScoreReport {
    var report = ScoreReport(
      title: "Network loads beside their floors", machine: Machine(directory: parent),
      conditions: conditions(sizes), scores: [], candidates: [])
    for contest in try contests.all where options.wants(contest) {
      let (scores, figures) = try contest.run(tell)
      report.scores += scores
      report.candidates += figures
    }
    return report
  }

  private func conditions(_ sizes: SetSizes) -> [String] {
    let small =
      sizes == .full
      ? "" : options.isQuick ? " (the quick sets)" : " (smaller sets: there is no room for the full ones here)"
    return [
      "S: \(sizes.small) bodies of 16 KiB, M: \(sizes.medium) of 256 KiB, L: one of \(sizes.large >> 20) MiB, "
        + "J: \(sizes.json) of JSON, about 30 KiB, sent as gzip\(small).",
      "One nginx of two workers on the same machine, by loopback; plain HTTP/1.1 unless said, 64 connections.",
      "The manager: no backend unless said, decoder `data`, 64 transfers per host, 4 MiB of ready objects kept.",
      "mobj: --backend none, 64 jobs, 64 per host.",
      "Every candidate is a process of its own and checks length and checksum of every body, as does the floor.",
      "CPU is user and system time: of curl and mobj all of the process, of others from the first request to the last.",
      "Bare tasks wait for nothing but their being cancelled. C asked by another thread: two threads wake each other for each"
        + " body, as those of any library with a thread of its own for libcurl do.",
      "Ratios are medians of the rounds' ratios. C loop: curl_multi_socket_action, epoll, pooled handles, 16 KiB buffer.",
    ]
  }

  /// On standard error, over the line before.
  private func tell(_ text: String) {
    guard isatty(2) == 1 else { return }
    FileHandle.standardError.write(Data("\r\u{1B}[K\(text)\r".utf8))
  }
}

/// How large the sets are; bytes for L, for the body in memory and for the one that memory must not grow by.
struct SetSizes: Equatable {
  var small: Int
  var medium: Int
  var json: Int
  var large: Int
  var inMemory = 256 << 20
  var growing: Int
  var waiting = 20_000

  static let full = SetSizes(small: 20_000, medium: 2_000, json: 2_000, large: 2 << 30, growing: 4 << 30)
  static let cramped = SetSizes(small: 20_000, medium: 500, json: 2_000, large: 256 << 20, growing: 512 << 20)
  static let quick = SetSizes(small: 5_000, medium: 500, json: 1_000, large: 512 << 20, growing: 1 << 30)
}

/// The sets, their server, and a folder for what comes of them.
struct TestBench {
  let folder: String
  let server: BenchmarkServer
  let sizes: SetSizes
  let small, medium, json, large, first, inMemory: BodySet

  /// Some of the small ones, for what takes long.
  let few: BodySet

  var root: String { folder + "/www" }

  init(folder: String, sizes: SetSizes) throws {
    self.folder = folder
    self.sizes = sizes
    let root = folder + "/www"
    small = try .random("s", count: sizes.small, size: 16 << 10, in: root)
    medium = try .random("m", count: sizes.medium, size: 256 << 10, in: root)
    json = try .json("j", count: sizes.json, in: root)
    large = try .large("l", size: sizes.large, in: root)
    inMemory = try .large("n", size: sizes.inMemory, in: root)
    first = try small.prefix(1, in: root)
    few = try small.prefix(2_000, in: root)
    server = try BenchmarkServer(root: root)
  }

  /// A file with the set's URLs, a line each.
  func list(_ paths: [String], _ name: String, isSecure: Bool = false) throws -> String {
    let file = folder + "/" + name
    let lines = paths.map { server.url($0, isSecure: isSecure) + "\n" }.joined()
    try Data(lines.utf8).write(to: URL(filePath: file))
    return file
  }

  /// A new, empty folder for the time of the call.
  func withOutput<Result>(_ body: (String) throws -> Result) throws -> Result {
    let output = folder + "/output"
    try FileManager.default.createDirectory(
      atPath: output, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: output) }
    return try body(output)
  }
}
