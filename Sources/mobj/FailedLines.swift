/// Puts the lines that failed in the order of the input, as jobs end in any order. A value; of lines that ended it holds
/// those behind the slowest job, and of these only the failed ones in full.
struct FailedLines {
  private var running: [Int: InputLine] = [:]
  /// What is to be written for jobs behind one that still runs; empty for those that went well.
  private var ended: [Int: [UInt8]] = [:]
  private var next = 0

  /// - Parameter job: counted from 0, in the order of the input.
  mutating func began(_ job: Int, _ line: InputLine) { running[job] = line }

  /// - Returns: the bytes that are due now.
  mutating func ended(_ job: Int, failed: Bool) -> [UInt8] {
    guard let line = running.removeValue(forKey: job) else { return [] }
    ended[job] = failed ? Self.text(of: line) : []
    var due: [UInt8] = []
    while let bytes = ended.removeValue(forKey: next) {
      due += bytes
      next += 1
    }
    return due
  }

  /// The line, such that `--input` reads the same from it. What no line can say stands there as a comment.
  static func text(of line: InputLine) -> [UInt8] {
    let bytes = line.raw ?? Array(line.url.utf8)
    var cutter = LineCutter()
    cutter.append((bytes + [0x0A])[...])
    cutter.end()
    let same = cutter.next()
    guard same?.url == line.url, same?.raw == line.raw, same?.problem == line.problem, cutter.next() == nil else {
      let reason = line.problem.map { "\($0) " } ?? ""
      return Array("# \(Console.shown(reason + line.url))\n".utf8)
    }
    return bytes + [0x0A]
  }
}
