import Testing

@testable import mobj

struct FailedLinesTests {
  /// Gives the lines to jobs 0, 1, … and lets them end in this order; the text that was due after each.
  private func run(_ lines: [InputLine], ending order: [(job: Int, failed: Bool)]) -> [String] {
    var failed = FailedLines()
    for (job, line) in lines.enumerated() { failed.began(job, line) }
    return order.map { String(decoding: failed.ended($0.job, failed: $0.failed), as: UTF8.self) }
  }

  private func line(_ url: String) -> InputLine { InputLine(url: url, problem: nil, weight: 1) }

  private func cut(_ bytes: [UInt8]) -> [InputLine] {
    var cutter = LineCutter()
    cutter.append(bytes[...])
    cutter.end()
    var lines: [InputLine] = []
    while let line = cutter.next() { lines.append(line) }
    return lines
  }

  @Test func `lines come out in the order of the input, whatever ends first`() {
    let lines = ["a", "b", "c", "d"].map(line)
    #expect(
      run(lines, ending: [(3, true), (1, true), (0, false), (2, true)]) == ["", "", "b\n", "c\nd\n"])
  }

  @Test func `what went well is not written`() {
    #expect(run(["a", "b"].map(line), ending: [(0, false), (1, false)]) == ["", ""])
  }

  @Test func `a job that never began, or ended twice, changes nothing`() {
    #expect(run([line("a")], ending: [(7, true), (0, true), (0, true)]) == ["", "a\n", ""])
  }

  @Test(arguments: [
    "http://a/b c", "http://ä/漢", "not a url", "x#y", "http://a/?b=1&c#d", String(repeating: "x", count: 65_536),
  ])
  func `what is written is read again as the same`(url: String) {
    let lines = cut(FailedLines.text(of: line(url)))
    #expect(lines.map(\.url) == [url])
    #expect(lines.allSatisfy { $0.problem == nil })
  }

  @Test func `bytes that are no text are written as they were`() throws {
    let bytes: [UInt8] = [0x68, 0xFF, 0x2F]
    let read = try #require(cut(bytes).first)
    #expect(read.problem != nil)
    #expect(FailedLines.text(of: read) == bytes + [0x0A])
  }

  @Test(arguments: ["", "#x", " http://a/", "http://a/\nhttp://b/", "http://a/\r", "\u{FEFF}"])
  func `what no line of a list can say becomes a comment`(url: String) {
    let text = FailedLines.text(of: line(url))
    #expect(text.starts(with: "# ".utf8) && text.last == 0x0A)
    #expect(cut(text).isEmpty)
  }

  @Test func `a line that was too long is told of, not cut`() throws {
    let read = try #require(cut([UInt8](repeating: 0x78, count: 70_000)).first)
    let text = String(decoding: FailedLines.text(of: read), as: UTF8.self)
    #expect(text.hasPrefix("# The line is longer than 65536 bytes. xxx"))
  }
}
