/// Swift text, as the rules look at it: line by line, with comments and the contents of string literals blanked out, so
/// that a rule may be named, and its breach quoted, without breaking it.
struct SourceText {
  /// As written.
  let lines: [Substring]
  /// The same lines without comments and literals.
  let code: [String]

  init(_ text: String) {
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var blanker = Blanker(text)
    code = blanker.blanked().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// Whether one of the `count` lines above, or the line itself, carries a comment.
  func hasComment(above line: Int, within count: Int) -> Bool {
    lines[max(0, line - count)...line].contains { $0.contains("//") }
  }
}

private let newline = UInt8(ascii: "\n")

/// Goes once through the text; knows nested comments, one-line, multi-line and raw string literals. An interpolation is
/// blanked like the literal around it.
private struct Blanker {
  private let text: [UInt8]
  private var at = 0
  private var out: [UInt8] = []

  init(_ text: String) { self.text = Array(text.utf8) }

  mutating func blanked() -> String {
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "/") where starts("//"): blankLine()
      case UInt8(ascii: "/") where starts("/*"): blankComment()
      case UInt8(ascii: "\""), UInt8(ascii: "#"):
        if let pounds = literalStart() { blankLiteral(pounds) } else { copy() }
      default: copy()
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  private mutating func copy() {
    out.append(text[at])
    at += 1
  }

  private func starts(_ word: String, at offset: Int = 0) -> Bool {
    text.dropFirst(at + offset).starts(with: word.utf8)
  }

  /// The number of # before a quote; nil where no literal starts.
  private func literalStart() -> Int? {
    let pounds = text.dropFirst(at).prefix { $0 == UInt8(ascii: "#") }.count
    return starts("\"", at: pounds) ? pounds : nil
  }

  private mutating func blank(_ count: Int = 1) {
    for _ in 0..<count where at < text.count {
      out.append(text[at] == newline ? newline : UInt8(ascii: " "))
      at += 1
    }
  }

  private mutating func blankLine() { while at < text.count, text[at] != newline { blank() } }

  private mutating func blankComment() {
    var depth = 0
    repeat {
      if starts("/*") {
        depth += 1
        blank(2)
      } else if starts("*/") {
        depth -= 1
        blank(2)
      } else {
        blank()
      }
    } while depth > 0 && at < text.count
  }

  private mutating func blankLiteral(_ pounds: Int) {
    let fence = String(repeating: "#", count: pounds)
    blank(pounds)
    let quotes = starts("\"\"\"") ? "\"\"\"" : "\""
    blank(quotes.count)
    while at < text.count, !starts(quotes + fence) {
      // An escaped character, unless the literal is raw and the escape is not.
      blank(starts("\\" + fence) ? 1 + pounds + 1 : 1)
      if quotes.count == 1, at < text.count, text[at] == newline { return }
    }
    blank(quotes.count + pounds)
  }
}
