import Glibc
import TestSupport

/// Requests whose keys are as popular as Zipf's law has it: the n-th in proportion to 1 / n^exponent.
package struct ZipfTrace {
  /// The sum of the popularity of each key and of all before it.
  private var sums: [Double] = []
  private var random: SeededRandom

  package init(keys: Int, exponent: Double, seed: UInt64) {
    random = SeededRandom(seed: seed)
    var sum = 0.0
    for rank in 1...max(1, keys) {
      sum += pow(Double(rank), -exponent)
      sums.append(sum)
    }
  }

  package mutating func next() -> Int {
    let wanted = Double.random(in: 0..<(sums.last ?? 1), using: &random)
    var (low, high) = (0, sums.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] <= wanted { low = middle + 1 } else { high = middle }
    }
    return low
  }

  package func requests(_ count: Int) -> [Int] {
    var trace = self
    return (0..<count).map { _ in trace.next() }
  }
}

/// What a cache would hit that always drops what was used longest ago.
enum LeastRecentlyUsed {
  static func hitRatio(of trace: [Int], limit: Int) -> Double {
    var last: [Int: Int] = [:]
    // Uses in order; those that a later use of the same key made void are passed over.
    var order: [Int] = []
    var oldest = 0
    var hits = 0
    for key in trace {
      if last[key] != nil { hits += 1 }
      last[key] = order.count
      order.append(key)
      while last.count > limit {
        if last[order[oldest]] == oldest { last[order[oldest]] = nil }
        oldest += 1
      }
    }
    return Double(hits) / Double(max(1, trace.count))
  }
}
