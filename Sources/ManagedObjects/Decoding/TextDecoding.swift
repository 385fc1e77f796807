internal import FoundationEssentials

/// Reads bytes as text in one charset, or says at which byte they are none.
struct TextDecoding {
  enum Charset: String {
    case utf8 = "utf-8"
    case ascii = "us-ascii"
    case latin1 = "iso-8859-1"
    case windows1252 = "windows-1252"
    /// By the byte order mark, else little-endian, as the WHATWG Encoding standard has it.
    case utf16 = "utf-16"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"

    /// Names of the IANA registry and their common aliases; in lower case.
    init?(name: String) {
      switch name {
      case "utf-8", "utf8": self = .utf8
      case "us-ascii", "ascii": self = .ascii
      case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1": self = .latin1
      case "windows-1252", "cp1252", "x-cp1252": self = .windows1252
      default:
        guard let charset = Charset(rawValue: name) else { return nil }
        self = charset
      }
    }
  }

  let charset: Charset

  init(charset: Charset) { self.charset = charset }

  /// `text/html; Charset="ISO-8859-1"`
  init(contentType: String?) {
    charset = MediaTypeParameters(contentType ?? "").value(of: "charset").flatMap(Charset.init(name:)) ?? .utf8
  }

  func text(_ data: Data) throws(ObjectError) -> String {
    switch charset {
    case .utf8: return try utf8(data)
    case .ascii:
      if let offset = data.firstIndex(where: { $0 >= 0x80 }) { throw fault(at: offset - data.startIndex) }
      return String(decoding: data, as: UTF8.self)
    case .latin1: return byteText(data)
    case .windows1252: return try windows1252(data)
    case .utf16, .utf16LittleEndian, .utf16BigEndian: return try utf16(data)
    }
  }

  private func fault(at offset: Int) -> ObjectError {
    ObjectError(.undecodable, "The bytes are no \(charset.rawValue) text from byte \(offset) on.")
  }

  private func utf8(_ data: Data) throws(ObjectError) -> String {
    let body = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
    if let text = String(validating: body, as: UTF8.self) { return text }
    throw fault(at: body.startIndex - data.startIndex + validUTF8Prefix(body))
  }

  /// How many bytes are good; only asked for when some are not.
  private func validUTF8Prefix(_ body: Data) -> Int {
    var decoder = Unicode.UTF8.ForwardParser()
    var bytes = body.makeIterator()
    var good = 0
    while case .valid(let scalar) = decoder.parseScalar(from: &bytes) { good += scalar.count }
    return good
  }

  /// As Latin-1, but for 0x80 to 0x9F (https://encoding.spec.whatwg.org/index-windows-1252.txt); five of those are
  /// nothing, and are no text here.
  private func windows1252(_ data: Data) throws(ObjectError) -> String {
    var scalars = String.UnicodeScalarView()
    var offset = 0
    for byte in data {
      if (0x80...0x9F).contains(byte) {
        guard let scalar = Unicode.Scalar(Self.windows1252Specials[Int(byte) - 0x80]), scalar.value != 0 else {
          throw fault(at: offset)
        }
        scalars.append(scalar)
      } else {
        scalars.append(Unicode.Scalar(byte))
      }
      offset += 1
    }
    return String(scalars)
  }

  private static let windows1252Specials: [UInt16] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
  ]

  private func utf16(_ data: Data) throws(ObjectError) -> String {
    let bytes = Array(data)
    var isBig = charset == .utf16BigEndian
    var start = 0
    if bytes.starts(with: [0xFE, 0xFF]), charset != .utf16LittleEndian {
      (isBig, start) = (true, 2)
    } else if bytes.starts(with: [0xFF, 0xFE]), charset != .utf16BigEndian {
      (isBig, start) = (false, 2)
    }
    var units: [UInt16] = []
    units.reserveCapacity(bytes.count / 2)
    for index in stride(from: start, to: bytes.count - 1, by: 2) {
      let (one, other) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      units.append(isBig ? one << 8 | other : other << 8 | one)
    }
    guard bytes.count.isMultiple(of: 2) else { throw fault(at: bytes.count - 1) }
    if let text = String(validating: units, as: UTF16.self) { return text }
    throw fault(at: start + 2 * loneSurrogate(units))
  }

  private func loneSurrogate(_ units: [UInt16]) -> Int {
    var index = 0
    while index < units.count {
      guard UTF16.isSurrogate(units[index]) else {
        index += 1
        continue
      }
      guard UTF16.isLeadSurrogate(units[index]), index + 1 < units.count, UTF16.isTrailSurrogate(units[index + 1])
      else {
        return index
      }
      index += 2
    }
    return index
  }
}

/// The parameters of a media type: `text/html; charset="utf-8"; x=y` (RFC 9110 section 8.3.1).
struct MediaTypeParameters: Sequence, IteratorProtocol {
  private var rest: ArraySlice<UInt8>

  init(_ contentType: String) {
    rest = Array(contentType.utf8).drop { $0 != UInt8(ascii: ";") }
  }

  /// The first value of that name, both in lower case.
  func value(of name: String) -> String? { first { $0.name == name }?.value }

  mutating func next() -> (name: String, value: String)? {
    guard !rest.isEmpty else { return nil }
    rest = rest.drop { isBlank($0) || $0 == UInt8(ascii: ";") }
    let name = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
    rest = rest[name.endIndex...]
    if rest.first == UInt8(ascii: "=") { rest.removeFirst() }
    let value = rest.first == UInt8(ascii: "\"") ? quoted() : plain()
    rest = rest.drop { $0 != UInt8(ascii: ";") }
    return (lowerText(trimmed(name)), lowerText(value))
  }

  private mutating func plain() -> ArraySlice<UInt8> {
    let value = rest.prefix { $0 != UInt8(ascii: ";") }
    rest = rest[value.endIndex...]
    return trimmed(value)
  }

  private mutating func quoted() -> ArraySlice<UInt8> {
    var value: [UInt8] = []
    rest.removeFirst()
    while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
      value.append(byte == Byte.backslash ? rest.popFirst() ?? byte : byte)
    }
    return value[...]
  }
}
