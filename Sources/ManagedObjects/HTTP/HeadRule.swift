/// Reads one raw head block, as a transport receives it:
///
///     HTTP/1.1 200 OK\r\n
///     Content-Type: text/plain\r\n
///     \r\n
///
/// Also HTTP/2's `HTTP/2 200 \r\n`, and lines ended by a bare LF (RFC 9112 section 2.2). A line that is no field is
/// dropped, since one bad line of a careless server does not make its body worthless; so is whatever is folded onto it.
/// Values stay the bytes they are, shown as U+0000 to U+00FF.
package enum HeadRule {
  /// Why a block is no response head.
  package struct Fault: Error, Hashable, Sendable {
    package var why: String
  }

  package static func parse(_ raw: [UInt8]) -> Result<LoadHead, Fault> { raw.withRawSpan { parse(raw, $0) } }

  /// - Parameter bytes: of `raw`.
  private static func parse(_ raw: [UInt8], _ bytes: RawSpan) -> Result<LoadHead, Fault> {
    var lines = Lines(end: 0)
    guard let first = lines.next(bytes) else { return .failure(Fault(why: "The response has no head.")) }
    guard var head = statusLine(raw[first]) else {
      return .failure(Fault(why: "The response does not begin with an HTTP status line."))
    }
    head.fields.reserveCapacity(raw.count - first.upperBound)
    var next = lines.next(bytes)
    while let line = next {
      let isUnclean = lines.isUnclean
      next = lines.next(bytes)
      let field = Field(bytes, line)
      guard let folded = next, isBlank(raw[folded.lowerBound]) else {
        if let field, !isUnclean { head.fields.append(read: raw, name: field.name, value: field.value) }
        continue
      }
      // obs-fold: the value goes on (RFC 9112 section 5.2).
      var value = field.map { Array(raw[$0.value]) } ?? []
      while let more = next, isBlank(raw[more.lowerBound]) {
        value.append(0x20)
        value.append(contentsOf: trimmed(raw[more]))
        next = lines.next(bytes)
      }
      if let field, !value.contains(where: { $0 == 0 || $0 == 0x0D }) {
        head.fields.append(name: raw[field.name], value: trimmed(value[...]))
      }
    }
    return .success(head)
  }

  /// `HTTP/1.1 404 Not Found`; the reason may be missing, and with it its blank (RFC 9112 section 4).
  private static func statusLine(_ line: ArraySlice<UInt8>) -> LoadHead? {
    guard let blank = line.firstIndex(of: 0x20), isVersion(line[..<blank]) else { return nil }
    let code = line[blank...].drop { $0 == 0x20 }
    let digits = code.prefix(while: isDigit)
    let status = digits.prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    guard digits.count == 3, status >= 100, code.count == 3 || isBlank(code[digits.endIndex]) else { return nil }
    let reason = trimmed(code[digits.endIndex...])
    if isText(reason, "OK") { return LoadHead(status: status, reason: "OK") }
    return LoadHead(status: status, reason: byteText(reason.filter { $0 != 0 && $0 != 0x0D }))
  }

  /// `HTTP/1.1`.
  private static func isVersion(_ word: ArraySlice<UInt8>) -> Bool {
    word.count > 5 && isText(word.prefix(5), "HTTP/")
      && word.dropFirst(5).allSatisfy { isDigit($0) || $0 == Byte.dot }
  }

  /// Where in the block a field's name and its value are, without the blanks around that.
  private struct Field {
    let name: Range<Int>
    let value: Range<Int>

    /// nil: no field.
    init?(_ bytes: RawSpan, _ line: Range<Int>) {
      var colon = line.lowerBound
      while colon < line.upperBound, isTokenByte(bytes.byte(at: colon)) { colon += 1 }
      guard colon > line.lowerBound, colon < line.upperBound, bytes.byte(at: colon) == Byte.colon else { return nil }
      var (start, end) = (colon + 1, line.upperBound)
      while start < end, isBlank(bytes.byte(at: start)) { start += 1 }
      while end > start, isBlank(bytes.byte(at: end - 1)) { end -= 1 }
      (name, value) = (line.lowerBound..<colon, start..<end)
    }
  }

  /// The lines before the empty one, without their ends.
  private struct Lines {
    /// Where the next line begins.
    var end: Int
    /// The last one holds a NUL or a bare CR, which make a field unreadable (RFC 9110 section 5.5).
    private(set) var isUnclean = false

    init(end: Int) { self.end = end }

    mutating func next(_ bytes: RawSpan) -> Range<Int>? {
      let start = end
      var (at, returns) = (bytes.firstControl(from: start), 0)
      isUnclean = false
      while at < bytes.byteCount, bytes.byte(at: at) != 0x0A {
        if bytes.byte(at: at) == 0x0D { returns += 1 }
        if bytes.byte(at: at) == 0 { isUnclean = true }
        at = bytes.firstControl(from: at + 1)
      }
      let hasReturn = at > start && bytes.byte(at: at - 1) == 0x0D
      if returns > (hasReturn ? 1 : 0) { isUnclean = true }
      end = min(at + 1, bytes.byteCount)
      let line = start..<(hasReturn ? at - 1 : at)
      return line.isEmpty ? nil : line
    }
  }
}
