/// Times of single operations, in nanoseconds.
struct Samples {
  private(set) var all: [Int] = []
  /// Of a mixed job: gets that missed, and so became puts.
  private(set) var misses: [Int] = []

  init(_ times: [Int] = []) { add(times) }

  mutating func add(_ times: [Int]) {
    for time in times { if time < 0 { misses.append(-time) } else { all.append(time) } }
  }

  /// Microseconds below which this part of the samples lies.
  func quantile(_ part: Double) -> Double { Self.quantile(part, all) }
  func quantileOfMisses(_ part: Double) -> Double { Self.quantile(part, misses) }

  private static func quantile(_ part: Double, _ times: [Int]) -> Double {
    let sorted = times.sorted()
    guard !sorted.isEmpty else { return 0 }
    return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]) / 1000
  }

  var median: Double { quantile(0.5) }
  var p99: Double { quantile(0.99) }
  var sum: Int { all.reduce(0, +) }
  var hitRatio: Double { Double(all.count) / Double(max(1, all.count + misses.count)) }
}

/// One measured row.
struct CacheFigure: Codable {
  var part: String
  var operation: String
  var candidate: String
  /// Length of each body.
  var bytes: Int
  /// So many were stored.
  var entries: Int
  /// Microseconds.
  var median: Double
  var p99: Double
  /// Median by the floor's in the same run; 0: the floor does not do that.
  var ratio = 0.0
  /// What is counted and not timed: a hit ratio.
  var value: Double?
}
