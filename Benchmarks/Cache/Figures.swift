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
