/// One URL of a list.
struct InputLine: Equatable {
  var url: String
  /// Why the line cannot be a URL; nil where nothing speaks against it.
  var problem: String?
  /// The line's bytes where `url` could not hold them; nil: `url` is the line.
  var raw: [UInt8]?
  /// Bytes of the list that were read for it, with the blank lines and comments before it.
  var weight: Int
}

/// Cuts the bytes of a list into its URLs. A value; holds the piece it was given last and at most one cut line.
///
///     # pictures
///     https://example.com/a.png
///
///     https://example.com/b.png
///
/// Blank lines and those that begin with `#` are skipped, blanks at both ends too; CR LF is a line end like LF, and a
/// byte order mark at the start is no part of the first line.
struct LineCutter {
  /// No server takes a longer URL; the rest of such a line is read and dropped.
  static let limitLineBytes = 65_536

  private var piece: ArraySlice<UInt8> = []
  private var line: [UInt8] = []
  private var isTooLong = false
  private var isFirst = true
  private var weight = 0
  private var hasEnded = false

  mutating func append(_ bytes: ArraySlice<UInt8>) { piece += bytes }

  /// No more bytes will come: what is left is the last line.
  mutating func end() { hasEnded = true }

  /// The next URL; nil: more bytes are needed, or after the end: that was all.
  mutating func next() -> InputLine? {
    while let whole = nextLine() {
      if let found = inputLine(whole) { return found }
    }
    return nil
  }

  /// Bytes up to the next line end.
  private mutating func nextLine() -> [UInt8]? {
    if let end = piece.firstIndex(of: 0x0A) {
      collect(piece[..<end])
      weight += 1
      piece = piece[(end + 1)...]
    } else {
      collect(piece)
      piece = []
      guard hasEnded, !line.isEmpty else { return nil }
    }
    defer { line = [] }
    return line
  }

  private mutating func collect(_ bytes: ArraySlice<UInt8>) {
    weight += bytes.count
    let room = Self.limitLineBytes - line.count
    line += bytes.prefix(room)
    isTooLong = isTooLong || bytes.count > room
  }

  private mutating func inputLine(_ bytes: [UInt8]) -> InputLine? {
    defer {
      isFirst = false
      isTooLong = false
    }
    var bytes = bytes[...]
    if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    bytes = bytes.drop(while: Self.isBlank)
    while let last = bytes.last, Self.isBlank(last) { bytes.removeLast() }
    guard let first = bytes.first, first != UInt8(ascii: "#") else { return nil }
    defer { weight = 0 }
    return line(of: bytes)
  }

  private func line(of bytes: ArraySlice<UInt8>) -> InputLine {
    if isTooLong {
      let start = String(decoding: bytes.prefix(100), as: UTF8.self)
      return InputLine(
        url: start + "…", problem: "The line is longer than \(Self.limitLineBytes) bytes.", weight: weight)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return InputLine(
        url: String(decoding: bytes, as: UTF8.self), problem: "The line is not UTF-8 text.", raw: Array(bytes),
        weight: weight)
    }
    return InputLine(url: text, problem: nil, weight: weight)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
