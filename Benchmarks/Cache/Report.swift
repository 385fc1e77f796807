/// All that was measured, for people and as JSON.
struct CacheReport: Codable {
  var machine: Machine
  var quick: Bool
  var compiler = compilerVersion
  /// With their versions.
  var candidates: [String] = []
  var warnings: [String] = []
  var figures: [CacheFigure] = []
  var goals: [CacheGoal] = []

  init(machine: Machine, quick: Bool) { (self.machine, self.quick) = (machine, quick) }

  var table: String {
    var lines = [
      "\(machine.processor), \(machine.cores) cores, Linux \(machine.kernel), Swift \(compiler)",
      "files on \(machine.fileSystem)", "candidates: \(candidates.joined(separator: ", "))",
    ]
    lines += warnings.map { "WARNING: \($0)" }
    lines += [
      "", "Microseconds; x is the median by the floor's. Ratios, not times, are to be compared between machines.",
    ]
    for bytes in distinct(figures.filter { $0.part == "sizes" }.map(\.bytes)) { lines += sizes(bytes) }
    for entries in distinct(figures.filter { $0.part == "numbers" }.map(\.entries)) { lines += numbers(entries) }
    lines += mixed() + trimming() + goalLines()
    return lines.joined(separator: "\n") + "\n"
  }

  // MARK: Parts

  private func sizes(_ bytes: Int) -> [String] {
    let rows = figures.filter { $0.part == "sizes" && $0.bytes == bytes }
    let title = "\(grouped(rows.first?.entries ?? 0)) bodies of \(grouped(bytes)) bytes"
    return table(title, rows, ["put", "get, hit", "get, miss", "contains"])
  }

  private func numbers(_ entries: Int) -> [String] {
    let rows = figures.filter { $0.part == "numbers" && $0.entries == entries }
    return table(
      "\(grouped(entries)) entries of \(grouped(rows.first?.bytes ?? 0)) bytes", rows,
      ["put", "get, hit", "open", "trim, per entry"])
  }

  /// A line for each candidate: median, p99 and ratio of each operation.
  private func table(_ title: String, _ rows: [CacheFigure], _ operations: [String]) -> [String] {
    var lines = ["", title]
    lines.append(
      padded("", 22) + operations.map { padded($0 == "open" ? "open, first get" : $0, left: 26) }.joined())
    lines.append(padded("", 22) + operations.map { _ in columns("median", "p99", "x") }.joined())
    for candidate in distinct(rows.map(\.candidate)) {
      let cells = operations.map { operation in
        guard let row = rows.first(where: { $0.operation == operation && $0.candidate == candidate }) else {
          return columns("", "-", "")
        }
        return columns(text(row.median), text(row.p99), row.ratio > 0 ? text(row.ratio) : "")
      }
      lines.append(padded(candidate, 22) + cells.joined())
    }
    return lines
  }

  private func mixed() -> [String] {
    let rows = figures.filter { $0.part == "mixed" }
    guard let limit = rows.first?.entries else { return [] }
    var lines = ["", "Zipf's law, a limit of \(grouped(limit)) entries of \(grouped(rows[0].bytes)) bytes"]
    lines.append(
      padded("", 22) + padded("hit ratio", left: 12) + padded("hit: median", left: 14) + padded("p99", left: 10)
        + padded("miss and put", left: 14) + padded("p99", left: 10))
    for candidate in distinct(rows.map(\.candidate)) {
      let own = rows.filter { $0.candidate == candidate }
      let ratio = own.first { $0.operation == "hit ratio" }?.value ?? 0
      var line = padded(candidate, 22) + padded(text(ratio * 100) + " %", left: 12)
      for operation in ["hit", "miss and put"] {
        guard let row = own.first(where: { $0.operation == operation }) else { continue }
        line += padded(text(row.median), left: 14) + padded(text(row.p99), left: 10)
      }
      lines.append(line)
    }
    return lines
  }

  private func trimming() -> [String] {
    let rows = figures.filter { $0.part == "trimming" }
    guard let entries = rows.first?.entries else { return [] }
    return [
      "", "While another thread or process trims a fifth of \(grouped(entries)) entries away, and the same load alone",
    ]
      + table("", rows, ["get, alone", "get, while trimming", "put, alone", "put, while trimming"]).dropFirst(2)
  }

  private func goalLines() -> [String] {
    guard !goals.isEmpty else { return [] }
    let rows = goals.map { goal in
      padded(goal.candidate, 14) + padded(goal.name, 50)
        + padded("\(text(goal.value)) \(goal.unit)", left: 18)
        + padded("\(goal.isFloor ? "at least" : "at most") \(text(goal.bound))", left: 18)
        + (goal.isMet ? "  met" : "  SHORT")
    }
    return ["", "Goals"] + rows
  }

  // MARK: Text

  private func columns(_ first: String, _ second: String, _ third: String) -> String {
    padded(first, left: 10) + padded(second, left: 9) + padded(third, left: 7)
  }

  private func text(_ number: Double) -> String {
    guard number.magnitude < 1e9 else { return "-" }
    let hundredths = Int((number.magnitude * 100).rounded())
    let sign = number < 0 && hundredths > 0 ? "-" : ""
    if hundredths >= 100_000 { return sign + "\(hundredths / 100)" }
    return sign + "\(hundredths / 100).\(String(hundredths % 100 + 100).dropFirst())"
  }

  private func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  private func padded(_ text: String, left width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }
}

/// In the order in which they come first.
func distinct<Element: Hashable>(_ elements: [Element]) -> [Element] {
  var seen: Set<Element> = []
  return elements.filter { seen.insert($0).inserted }
}

#if compiler(>=6.4)
  private let compilerVersion = "6.4 or later"
#elseif compiler(>=6.3)
  private let compilerVersion = "6.3"
#else
  private let compilerVersion = "before 6.3"
#endif
