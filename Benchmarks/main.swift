// Measurements of this package, each beside the floor that the machine sets.
//
//   name    what it measures
//   ------  ---------------------------------------------------------------------------------------------------
//   cache   FileCache and BigFileCache beside bare system calls: put, get that hits, get that misses, contains,
//           a step of trimming; microseconds per operation, median and 99th of a hundred, and ratio to the floor
//
// Candidates run interleaved in rounds, so that what disturbs one disturbs all. Ratios, not times, are to be compared
// between machines. Build with `-c release`.

import Foundation

let usage = """
  usage: Benchmarks cache [--quick] [--json FILE] [--dir DIR]

    --quick      fewer and shorter rounds, well under a minute
    --json FILE  also writes the figures as JSON; - is standard output, the table then goes to standard error
    --dir DIR    where to make a folder of our own for the files, removed at the end; default: the temporary folder

  """

/// What was asked for on the command line; nil: wrong usage.
struct BenchmarkArguments {
  var isQuick = false
  var json: String?
  var directory = FileManager.default.temporaryDirectory.path

  init?(_ arguments: ArraySlice<String>) {
    var rest = arguments
    while let option = rest.popFirst() {
      switch option {
      case "--quick": isQuick = true
      case "--json":
        guard let file = rest.popFirst() else { return nil }
        json = file
      case "--dir":
        guard let directory = rest.popFirst() else { return nil }
        self.directory = directory
      default: return nil
      }
    }
  }
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "cache":
  guard let options = BenchmarkArguments(arguments.dropFirst()) else { exitWithUsage() }
  do { try CacheBenchmark(options).run() } catch {
    FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
    exit(1)
  }
case "--help", "-h": print(usage, terminator: "")
default: exitWithUsage()
}

func exitWithUsage() -> Never {
  FileHandle.standardError.write(Data(usage.utf8))
  exit(2)
}
