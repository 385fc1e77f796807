/// A figure that we promise to keep below a bound, or above one.
struct CacheGoal: Codable {
  var name: String
  var candidate: String
  var value: Double
  var bound: Double
  var unit: String
  /// Whether more is better.
  var isFloor = false

  /// As good as the figures that are shown: what rounds to the bound keeps it.
  var isMet: Bool {
    let (shown, wanted) = ((value * 1000).rounded(), (bound * 1000).rounded())
    return isFloor ? shown >= wanted : shown <= wanted
  }
}

/// What is promised of our caches, as far as these figures tell.
struct CacheGoals {
  private static let ours = ["FileCache", "BigFileCache"]
  private let figures: [CacheFigure]

  init(_ figures: [CacheFigure]) { self.figures = figures }

  var all: [CacheGoal] {
    let kinds = [ratios, besideHeads, startUp, trims, latencies, growth, hitRatio]
    return Self.ours.flatMap { name in kinds.flatMap { kind in kind(name) } }
  }

  private func ratios(_ name: String) -> [CacheGoal] {
    let bounds = [("put", 1.4), ("get, hit", 1.3), ("get, miss", 1.3), ("contains", 1.3)]
    return bounds.compactMap { operation, bound in
      sized(operation, name).map {
        CacheGoal(name: "\(operation), median", candidate: name, value: $0.ratio, bound: bound, unit: "x floor")
      }
    }
  }

  /// The same bounds beside system calls that have as much to write, to read and to check.
  private func besideHeads(_ name: String) -> [CacheGoal] {
    [("put", 1.4), ("get, hit", 1.3)].compactMap { operation, bound in
      guard let own = sized(operation, name), let fair = sized(operation, FloorCandidate.nameWithHeads), fair.median > 0
      else { return nil }
      return CacheGoal(
        name: "\(operation), median, beside the floor with heads", candidate: name, value: own.median / fair.median,
        bound: bound, unit: "x")
    }
  }

  /// Of the size that was measured most, 4 KiB where that is among them.
  private func sized(_ operation: String, _ candidate: String) -> CacheFigure? {
    let bytes = figures.contains { $0.part == "sizes" && $0.bytes == 4096 } ? 4096 : figures.first?.bytes ?? 0
    return figure("sizes", operation, candidate) { $0.bytes == bytes }
  }

  private func startUp(_ name: String) -> [CacheGoal] {
    [("open", ""), ("open, after a kill", ", after kill -9")].flatMap { operation, addition in
      figures.filter { $0.operation == operation && $0.candidate == name }.suffix(1).map {
        CacheGoal(
          name: "open and first get at \(grouped($0.entries))\(addition)", candidate: name, value: $0.median / 1000,
          bound: 1, unit: "ms")
      }
    }
  }

  private func trims(_ name: String) -> [CacheGoal] {
    let each = figures.filter { $0.operation == "trim, per entry" && $0.candidate == name }.suffix(1).map {
      CacheGoal(
        name: "a fifth out of \(grouped($0.entries))", candidate: name, value: $0.ratio, bound: 1.5, unit: "x floor")
    }
    return name == "BigFileCache" ? each + steps(name) : each
  }

  /// How long a step takes, and how long one goes on without letting others run.
  private func steps(_ name: String) -> [CacheGoal] {
    func longest(_ operation: String) -> CacheFigure? {
      figures.last { $0.operation == operation && $0.candidate == name }
    }
    let step = longest("trim, a step").map {
      // A million takes at most 1.2 s a tenth.
      CacheGoal(
        name: "the longest of ten steps at \(grouped($0.entries))", candidate: name, value: $0.p99 / 1e6,
        bound: max(0.1, 1.2 * Double($0.entries) / 1e6), unit: "s")
    }
    // A step in which the journal is committed, or another program takes the processor, has one that is not ours: the median
    // tells what is.
    let pieces = longest("trim, a piece").map { row in
      [("the longest piece of a step", row.median), ("the longest piece of all steps", row.p99)].map { name, longest in
        CacheGoal(
          name: "\(name) at \(grouped(row.entries))", candidate: row.candidate, value: longest / 1000, bound: 10,
          unit: "ms")
      }
    }
    return [step].compactMap(\.self) + (pieces ?? [])
  }

  private func latencies(_ name: String) -> [CacheGoal] {
    ["get", "put"].compactMap { operation in
      guard let alone = figure("trimming", "\(operation), alone", name), alone.p99 > 0,
        let during = figure("trimming", "\(operation), while trimming", name)
      else { return nil }
      return CacheGoal(
        name: "\(operation) p99 while trimming", candidate: name, value: during.p99 / alone.p99, bound: 2,
        unit: "x alone")
    }
  }

  /// What an entry costs to look at in a trim, at the most entries beside a tenth of them.
  private func growth(_ name: String) -> [CacheGoal] {
    let trims = figures.filter { $0.operation == "trim, per entry" && $0.candidate == name }
    guard let last = trims.last, let tenth = trims.last(where: { $0.entries * 10 <= last.entries }), tenth.median > 0
    else { return [] }
    return [
      CacheGoal(
        name: "an entry in a trim, \(grouped(last.entries)) beside \(grouped(tenth.entries))", candidate: name,
        value: last.median / tenth.median, bound: 1.2, unit: "x")
    ]
  }

  private func hitRatio(_ name: String) -> [CacheGoal] {
    guard name == "BigFileCache", let own = figure("mixed", "hit ratio", name)?.value,
      let exact = figure("mixed", "hit ratio", "exact LRU, simulated")?.value
    else { return [] }
    return [
      CacheGoal(
        name: "hit ratio, points above exact LRU", candidate: name, value: (own - exact) * 100, bound: -0.3,
        unit: "points", isFloor: true)
    ]
  }

  private func figure(
    _ part: String, _ operation: String, _ candidate: String, where isRight: (CacheFigure) -> Bool = { _ in true }
  ) -> CacheFigure? {
    figures.first { $0.part == part && $0.operation == operation && $0.candidate == candidate && isRight($0) }
  }
}

/// "100,000".
func grouped(_ number: Int) -> String {
  var digits = String(number)
  var parts: [Substring] = []
  while digits.count > 3 {
    parts.insert(digits.suffix(3), at: 0)
    digits = String(digits.dropLast(3))
  }
  return ([digits[...]] + parts).joined(separator: ",")
}
