import Foundation

/// What the rounds of one measurement took, in nanoseconds per operation.
struct Samples {
  private var all: [UInt32] = []

  mutating func add(_ duration: Duration, operations: Int = 1) {
    let nanoseconds = duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
    all.append(UInt32(clamping: nanoseconds / Int64(max(1, operations))))
  }

  /// Microseconds below which this part of the samples lies.
  func quantile(_ part: Double) -> Double {
    let sorted = all.sorted()
    guard !sorted.isEmpty else { return 0 }
    return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]) / 1000
  }

  var median: Double { quantile(0.5) }
}

/// One row: an operation of a candidate.
struct Figure: Codable {
  var operation: String
  var candidate: String
  var medianMicroseconds: Double
  var p99Microseconds: Double
  /// Median by the floor's.
  var ratio: Double
}

/// Where figures were made.
struct Machine: Codable {
  var processor: String
  var cores: Int
  var kernel: String
  var fileSystem: String

  init(directory: String) {
    let info = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line = info.split(separator: "\n").first { $0.hasPrefix("model name") }
    processor = line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    cores = ProcessInfo.processInfo.activeProcessorCount
    kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? "unknown"
    kernel = kernel.trimmingCharacters(in: .whitespacesAndNewlines)
    fileSystem = Self.fileSystem(of: directory)
  }

  /// Type and options of the mount with the longest path above the directory.
  private static func fileSystem(of directory: String) -> String {
    let path = URL(filePath: directory).resolvingSymlinksInPath().path
    let mounts = ((try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? "").split(separator: "\n")
    let fields = mounts.map { $0.split(separator: " ").map(String.init) }.filter { $0.count >= 4 }
    let above = fields.filter { path == $0[1] || $0[1] == "/" || path.hasPrefix($0[1] + "/") }
    guard let mount = above.max(by: { $0[1].count <= $1[1].count }) else { return "unknown" }
    return "\(mount[2]) (\(mount[3]))"
  }
}

struct Report: Codable {
  var machine: Machine
  var bytes: Int
  var entries: Int
  var rounds: Int
  var figures: [Figure]

  var table: String {
    var lines = [
      "\(machine.processor), \(machine.cores) cores, Linux \(machine.kernel), \(machine.fileSystem)",
      "\(entries) entries of \(bytes) bytes, \(rounds) rounds; microseconds; ratio of medians to the floor", "",
      row("operation", "candidate", "median", "p99", "ratio"),
    ]
    for figure in figures {
      lines.append(
        row(
          figure.operation, figure.candidate, text(figure.medianMicroseconds), text(figure.p99Microseconds),
          text(figure.ratio) + "x"))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func text(_ number: Double) -> String {
    let hundredths = Int((number * 100).rounded())
    return "\(hundredths / 100).\(String(hundredths % 100 + 100).dropFirst())"
  }

  private func row(_ first: String, _ second: String, _ others: String...) -> String {
    let left = [first, second].map { $0.padding(toLength: 22, withPad: " ", startingAt: 0) }
    return (left + others.map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }).joined()
  }
}
