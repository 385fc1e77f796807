/// A request as it came over the wire.
package struct Request: Sendable {
  package let method: String
  /// As sent: "/a?b=c", or "http://host/a" where the server is used as a proxy.
  package let target: String
  /// The target without query, scheme and authority: what replies are looked up by.
  package let path: String
  /// "HTTP/1.1", as sent.
  package let version: String
  /// Everything up to and with the empty line.
  package let head: [UInt8]
  package let body: [UInt8]
  /// Counts the server's connections from 1.
  package let connection: Int

  /// A field in the order sent; a value's bytes are shown as the characters U+0000 to U+00FF.
  package struct Field: Hashable, Sendable {
    package let name: String
    package let value: String
  }

  package var fields: [Field] { headLines(head).dropFirst().compactMap(Field.init(line:)) }

  /// The first value of that name, whatever its case.
  package subscript(name: String) -> String? { values(of: name).first }

  package func values(of name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// What stands after the first "?"; nil where there is none.
  package var query: String? {
    target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
  }
}

extension Request.Field {
  init?(line: ArraySlice<UInt8>) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    name = latin(line[..<colon])
    value = latin(line[(colon + 1)...].trimmed)
  }
}

/// The lines of a head, without their ends and without the empty one.
func headLines(_ head: [UInt8]) -> [ArraySlice<UInt8>] {
  head.split(separator: UInt8(ascii: "\n")).map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
    .filter { !$0.isEmpty }
}

/// Bytes as the characters U+0000 to U+00FF.
func latin(_ bytes: some Sequence<UInt8>) -> String {
  var scalars = String.UnicodeScalarView()
  for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
  return String(scalars)
}

extension ArraySlice<UInt8> {
  /// Without blanks and tabs at both ends (OWS of RFC 9110 section 5.6.3).
  var trimmed: Self {
    var rest = self
    while let first = rest.first, first == 0x20 || first == 0x09 { rest = rest.dropFirst() }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest = rest.dropLast() }
    return rest
  }
}
