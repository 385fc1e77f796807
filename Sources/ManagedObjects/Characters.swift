/// The characters that URLs and header fields are made of, as the ASCII bytes they are.
enum Byte {
  static let colon = UInt8(ascii: ":")
  static let slash = UInt8(ascii: "/")
  static let backslash = UInt8(ascii: "\\")
  static let question = UInt8(ascii: "?")
  static let hash = UInt8(ascii: "#")
  static let at = UInt8(ascii: "@")
  static let percent = UInt8(ascii: "%")
  static let dot = UInt8(ascii: ".")
  static let open = UInt8(ascii: "[")
  static let close = UInt8(ascii: "]")
  /// RFC 3986 section 2.2.
  static let subDelimiters = Array("!$&'()*+,;=".utf8)
}

func isUpper(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }
func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
/// RFC 3986 section 3.1, after the first letter.
func isSchemeByte(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) || byte == 0x2B || byte &- 0x2D < 2 }
/// "unreserved" of RFC 3986 section 2.3. All that a host name may hold here: libcurl would decode a percent escape.
func isHostByte(_ byte: UInt8) -> Bool {
  isLetter(byte) || isDigit(byte) || byte &- 0x2D < 2 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
}

/// The value of a hexadecimal digit.
func hexadecimalValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 0x30...0x39: byte - 0x30
  case 0x41...0x46: byte - 0x41 + 10
  case 0x61...0x66: byte - 0x61 + 10
  default: nil
  }
}

/// Undoes percent-encoding, once; a `%` that two hexadecimal digits do not follow stays (RFC 3986 section 2.1).
package func percentDecoded(_ text: some Sequence<UInt8>) -> [UInt8] {
  var bytes: [UInt8] = []
  var rest = Array(text)[...]
  while let byte = rest.popFirst() {
    if byte == Byte.percent, let high = rest.first.flatMap(hexadecimalValue),
      let low = rest.dropFirst().first.flatMap(hexadecimalValue)
    {
      bytes.append(high << 4 | low)
      rest = rest.dropFirst(2)
    } else {
      bytes.append(byte)
    }
  }
  return bytes
}

/// OWS of RFC 9110 section 5.6.3.
func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }

/// Without optional whitespace at both ends.
func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
  var rest = bytes.drop { isBlank($0) }
  while isBlank(rest.last) { rest.removeLast() }
  return rest
}

/// Whether the bytes are those of the word.
func isText(_ bytes: ArraySlice<UInt8>, _ word: String) -> Bool {
  let (bytes, word) = (bytes.span, word.utf8.span)
  guard bytes.count == word.count else { return false }
  for index in word.indices where bytes[index] != word[index] { return false }
  return true
}

/// tchar of RFC 9110 section 5.6.2: letters, digits and "!#$%&'*+-.^_`|~". A bit for each byte below and above 64, since
/// every byte of every name of a stored head is asked for.
func isTokenByte(_ byte: UInt8) -> Bool {
  let bits: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : byte < 128 ? 0x57FF_FFFF_C7FF_FFFE : 0
  return bits >> UInt64(byte & 63) & 1 != 0
}

/// A character for each byte.
func byteText(_ bytes: some Collection<UInt8>) -> String {
  if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
  var scalars = String.UnicodeScalarView()
  for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
  return String(scalars)
}

/// ASCII letters in lower case, a character for each byte.
func lowerText(_ bytes: some Collection<UInt8>) -> String { byteText(bytes.map { isUpper($0) ? $0 | 0x20 : $0 }) }

/// The same for one byte.
func lowered(_ byte: UInt8) -> UInt8 { isUpper(byte) ? byte | 0x20 : byte }

/// Whether bytes are this lower-case word, in any letter case: so that they can be told apart, in a `switch` too, without
/// a text made of each. Most words are told apart by their lengths.
@inline(__always)
func ~= (word: String, bytes: ArraySlice<UInt8>) -> Bool {
  word.utf8.count == bytes.count && spells(word, bytes)
}

private func spells(_ word: String, _ bytes: ArraySlice<UInt8>) -> Bool {
  let (word, bytes) = (word.utf8.span, bytes.span)
  for at in word.indices where lowered(bytes[at]) != word[at] { return false }
  return true
}
