import Testing

@testable import mobj

struct InputLineTests {
  /// Cuts the text, given in pieces of this size.
  private func cut(_ text: some Sequence<UInt8>, pieces size: Int = .max) -> [InputLine] {
    var cutter = LineCutter()
    var lines: [InputLine] = []
    var rest = Array(text)[...]
    while !rest.isEmpty {
      cutter.append(rest.prefix(size))
      rest = rest.dropFirst(size)
      while let line = cutter.next() { lines.append(line) }
    }
    cutter.end()
    while let line = cutter.next() { lines.append(line) }
    return lines
  }

  private func urls(_ text: String, pieces size: Int = .max) -> [String] { cut(text.utf8, pieces: size).map(\.url) }

  @Test(arguments: [
    ("", []), ("\n\n \t\n", []), ("# only a comment", []), ("http://a/", ["http://a/"]),
    ("http://a/\nhttp://b/\n", ["http://a/", "http://b/"]), ("http://a/\r\nhttp://b/\r\n", ["http://a/", "http://b/"]),
    ("  # no\n\n  http://a/ \t\n#http://b/\nhttp://c/#d", ["http://a/", "http://c/#d"]),
    ("\u{FEFF}http://a/\n", ["http://a/"]), ("a b\n漢\n", ["a b", "漢"]),
  ])
  func `blank lines and comments are skipped`(text: String, expected: [String]) {
    #expect(urls(text) == expected)
    for size in 1...7 { #expect(urls(text, pieces: size) == expected, "in pieces of \(size)") }
  }

  @Test func `the weights come to the length of the list`() {
    let text = "# pictures\n\nhttp://a/\n\nhttp://b/ \nhttp://c/"
    let lines = cut(text.utf8, pieces: 3)
    #expect(lines.map(\.weight) == [22, 12, 9])
    #expect(lines.reduce(0) { $0 + $1.weight } == text.utf8.count)
  }

  @Test func `a line that is no text fails alone`() {
    let bad = cut([0x61, 0x0A, 0xFF, 0xFE, 0x0A, 0x62])
    #expect(bad.map(\.problem) == [nil, "The line is not UTF-8 text.", nil])
    #expect(bad[1].url == "\u{FFFD}\u{FFFD}")
  }

  @Test func `a line without end is not kept in memory, and fails alone`() throws {
    let long = [UInt8](repeating: 0x78, count: 3 * LineCutter.limitLineBytes)
    let lines = cut([0x61, 0x0A] + long + [0x0A, 0x62, 0x0A], pieces: 1000)
    #expect(lines.map { $0.problem == nil } == [true, false, true])
    #expect(lines[1].url.count == 101)
    #expect(lines[1].weight == long.count + 1)
    #expect(lines[2].url == "b")
  }

  @Test func `a line of just the longest length is good`() {
    let line = [UInt8](repeating: 0x78, count: LineCutter.limitLineBytes)
    #expect(cut(line + [0x0A], pieces: 4096).first?.problem == nil)
    #expect(cut(line + [0x78], pieces: 4096).first?.problem != nil)
  }

  @Test func `a long comment is no problem`() {
    let comment = [UInt8(ascii: "#")] + [UInt8](repeating: 0x78, count: 2 * LineCutter.limitLineBytes)
    #expect(cut(comment + [0x0A, 0x62], pieces: 4096) == [InputLine(url: "b", weight: comment.count + 2)])
  }
}
