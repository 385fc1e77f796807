/// The header fields of one request, in order, ready for libcurl: a line each, ended by NUL, literally
///
///     Accept: */*\0
///     X-Empty;\0
///
/// (the second is libcurl's way to say "send this one without a value", see CURLOPT_HTTPHEADER(3)).
/// What would break out of its line is never sent: the first such name is kept and the transfer is refused.
package struct TransferFields: Hashable, Sendable {
  private(set) var lines: [UInt8] = []
  /// The name of the first field that cannot be sent; nil when all are in order.
  package private(set) var refusedName: String?

  package init() {}

  package mutating func append(_ name: String, _ value: String) { append(name: name.utf8, value: value.utf8) }

  package mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    append(name: Array(name)[...], value: Array(value)[...])
  }

  /// Of one type, since what is generic is not specialised for callers in another module: it would ask for each byte
  /// through a table.
  package mutating func append(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
    guard Self.isToken(name), !value.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
      refusedName = refusedName ?? String(decoding: name, as: UTF8.self)
      return
    }
    // The length and coding of the body are said by libcurl, which knows them: two opinions are request smuggling.
    if Self.isFraming(name) { return }
    if lines.isEmpty { lines.reserveCapacity(256) }
    lines.append(contentsOf: name)
    if value.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) {
      lines.append(0x3B)
    } else {
      lines.append(0x3A)
      lines.append(0x20)
      lines.append(contentsOf: value)
    }
    lines.append(0)
  }

  package func contains(_ name: String) -> Bool {
    var rest = lines[...]
    while let end = rest.firstIndex(of: 0) {
      if Self.isSame(rest[..<end].prefix(name.utf8.count), name), [0x3A, 0x3B].contains(rest.byte(name.utf8.count)) {
        return true
      }
      rest = rest[(end + 1)...]
    }
    return false
  }

  private static func isToken(_ name: ArraySlice<UInt8>) -> Bool { !name.isEmpty && name.allSatisfy(isTokenByte) }

  private static func isFraming(_ name: ArraySlice<UInt8>) -> Bool {
    switch name.count {
    case 6: isSame(name, "expect")
    case 14: isSame(name, "content-length")
    case 17: isSame(name, "transfer-encoding")
    default: false
    }
  }

  /// Without case.
  private static func isSame(_ name: ArraySlice<UInt8>, _ other: String) -> Bool {
    name.count == other.utf8.count && zip(name, other.utf8).allSatisfy { folded($0) == folded($1) }
  }

  private static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  /// tchar of RFC 9110 section 5.6.2.
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
    default: false
    }
  }
}

extension ArraySlice<UInt8> {
  /// The byte so far from the start; 0 beyond the end.
  fileprivate func byte(_ offset: Int) -> UInt8 { offset < count ? self[startIndex + offset] : 0 }
}
