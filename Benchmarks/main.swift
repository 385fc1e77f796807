// Measurements of this package, each beside the floor that the machine sets.
//
//   name     what it measures
//   -------  --------------------------------------------------------------------------------------------------
//   cache    FileCache, BigFileCache and what one would take instead beside bare system calls: put, get, contains,
//            start-up, trim, at several sizes and numbers of entries; hit ratio; latency while trimming
//   memory   a hit in the memory cache beside a dictionary without a lock, and a whole `manage` that is answered
//            from memory, callback included; and a fresh hit under HTTP's rules beside the same hit of what never
//            changes, from memory and from file
//   network  loads from a real nginx on this machine beside a bare C loop on libcurl, and beside what one would take
//            instead, curl and URLSession; processor time, wall time, latency and memory. The sets:
//              S   20,000 bodies of 16 KiB      L   one of 2 GiB
//              M    2,000 of 256 KiB            J   2,000 of JSON, 30 KiB, sent as gzip
//
// Candidates run interleaved in rounds, so that what disturbs one disturbs all. Ratios, not times, are to be compared
// between machines. Each network candidate runs in a process of its own, and each checks every byte that came.
// Build with `-c release`.

import CacheBenchmark
import Dispatch
import Foundation
import ManagedObjects

let usage = """
  usage: Benchmarks cache   [--quick] [--json FILE] [--chart FILE] [--dir DIR] [more: see Benchmarks cache --help]
         Benchmarks memory  [--quick] [--only NAME] [--json FILE] [--chart FILE]
         Benchmarks network [--quick] [--only NAME] [--json FILE] [--chart FILE] [--dir DIR]

    --quick       smaller sets, fewer and shorter rounds, well under a minute
    --only NAME   only the contests whose names contain this: the first column of the table's lower part
    --json FILE   also writes the figures as JSON; - is standard output, the table then goes to standard error
    --chart FILE  also draws the ratios with gnuplot, as SVG or, where the name ends in .png, as PNG
    --dir DIR     where to make a folder of our own for the files, removed at the end; default: the temporary folder,
                  for network /dev/shm, so that no disk hides the client

  """

/// What was asked for on the command line; nil: wrong usage.
struct BenchmarkArguments {
  var isQuick = false
  var only: String?
  var json: String?
  var chart: String?
  var directory: String?

  init?(_ arguments: ArraySlice<String>, allowed: Set<String>) {
    var rest = arguments
    while let option = rest.popFirst() {
      guard allowed.contains(option) else { return nil }
      if option == "--quick" {
        isQuick = true
        continue
      }
      guard let value = rest.popFirst() else { return nil }
      switch option {
      case "--only": only = value
      case "--json": json = value
      case "--chart": chart = value
      default: directory = value
      }
    }
  }

  func wants(_ contest: Contest) -> Bool { wants(contest.name) }

  func wants(_ name: String) -> Bool { only.map { name.contains($0) } ?? true }
}

let arguments = CommandLine.arguments.dropFirst()
let options = arguments.dropFirst()
do {
  switch arguments.first {
  case "cache":
    try CacheBenchmark.main(arguments: Array(options))
  case "memory":
    guard let options = BenchmarkArguments(options, allowed: ["--quick", "--only", "--json", "--chart"]) else {
      exitWithUsage()
    }
    try wait { try await MemoryBenchmark(options).run() }
  case "network":
    guard let options = BenchmarkArguments(options, allowed: ["--quick", "--only", "--json", "--chart", "--dir"])
    else { exitWithUsage() }
    try NetworkBenchmark(options).run()
  // A process that `network` starts: does one job, and tells on standard output how it went.
  case "candidate":
    let job = options.first ?? ""
    try wait { try await CandidateProcess.run(job) }
  case "--help", "-h": print(usage, terminator: "")
  default: exitWithUsage()
  }
} catch {
  FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
  exit(1)
}

/// Blocks the main thread meanwhile: that of an asynchronous `main` ends, which tools that count instructions do not survive.
func wait(_ work: @escaping @Sendable () async throws -> Void) throws {
  let outcome = Lock<Result<Void, any Error>>(.success(()))
  let done = DispatchGroup()
  done.enter()
  Task.detached {
    do { try await work() } catch { outcome.withLock { $0 = .failure(error) } }
    done.leave()
  }
  done.wait()
  try outcome.withLock { $0 }.get()
}

func exitWithUsage() -> Never {
  FileHandle.standardError.write(Data(usage.utf8))
  exit(2)
}
