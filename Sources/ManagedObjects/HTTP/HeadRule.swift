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

  package static func parse(_ raw: [UInt8]) -> Result<LoadHead, Fault> {
    var lines = Lines(rest: raw[...])
    guard let first = lines.next() else { return .failure(Fault(why: "The response has no head.")) }
    guard var head = statusLine(first) else {
      return .failure(Fault(why: "The response does not begin with an HTTP status line."))
    }
    var field: Field?
    while let line = lines.next() {
      if isBlank(line.first) {
        // obs-fold: the value goes on (RFC 9112 section 5.2).
        field?.value.append(0x20)
        field?.value.append(contentsOf: trimmed(line))
        continue
      }
      field?.add(to: &head.fields)
      field = Field(line)
    }
    field?.add(to: &head.fields)
    return .success(head)
  }

  /// `HTTP/1.1 404 Not Found`; the reason may be missing, and with it its blank (RFC 9112 section 4).
  private static func statusLine(_ line: ArraySlice<UInt8>) -> LoadHead? {
    guard line.starts(with: "HTTP/".utf8) else { return nil }
    let rest = line.dropFirst(5)
    let version = rest.prefix { isDigit($0) || $0 == Byte.dot }
    let code = rest[version.endIndex...].drop { $0 == 0x20 }
    guard !version.isEmpty, code.startIndex > version.endIndex else { return nil }
    let digits = code.prefix(while: isDigit)
    let status = digits.prefix(3).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    guard digits.count == 3, status >= 100, code.count == 3 || isBlank(code[digits.endIndex]) else { return nil }
    let reason = trimmed(code[digits.endIndex...]).filter { $0 != 0 && $0 != 0x0D }
    return LoadHead(status: status, reason: byteText(reason))
  }

  /// One field as it is read; not added before its last folded line.
  private struct Field {
    let name: ArraySlice<UInt8>
    var value: [UInt8]

    /// nil: no field.
    init?(_ line: ArraySlice<UInt8>) {
      guard let colon = line.firstIndex(of: Byte.colon) else { return nil }
      name = line[..<colon]
      guard !name.isEmpty, name.allSatisfy(isTokenByte) else { return nil }
      value = Array(trimmed(line[(colon + 1)...]))
    }

    /// A NUL or a bare CR makes the field unreadable (RFC 9110 section 5.5).
    func add(to fields: inout HeaderFields) {
      guard !value.contains(where: { $0 == 0 || $0 == 0x0D }) else { return }
      fields.append(name: name, value: trimmed(value[...]))
    }
  }

  /// The lines before the empty one, without their ends.
  private struct Lines: IteratorProtocol {
    var rest: ArraySlice<UInt8>

    mutating func next() -> ArraySlice<UInt8>? {
      guard !rest.isEmpty else { return nil }
      var line = rest.prefix { $0 != 0x0A }
      rest = rest[min(line.endIndex + 1, rest.endIndex)...]
      if line.last == 0x0D { line.removeLast() }
      return line.isEmpty ? nil : line
    }
  }
}
