/// `joe:pw@Example.COM:8080`: what stands between // and the path of an http or https URL.
struct HTTPAuthority {
  var userinfo: Range<Int>?
  var host = ""
  /// nil: the scheme's own.
  var port: Int?
  /// Where the path begins.
  var end: Int
  /// Host and port are written as we would write them, and there is no userinfo.
  var isNormal = true

  init(_ bytes: Span<UInt8>, from start: Int, to limit: Int, scheme: String) throws(URLRule.Refusal) {
    end = start
    var from = start
    while end < limit, bytes[end] != Byte.slash, bytes[end] != Byte.question {
      if bytes[end] == Byte.at {
        // Which @ ends it is a matter of taste among parsers, and so a way to disguise a host.
        guard userinfo == nil else { throw Refusal(why: "It has two @ before the path; write %40 in a user name.") }
        userinfo = start..<end
        isNormal = false
        from = end + 1
      }
      end += 1
    }
    let colon = try readHost(bytes, from)
    if colon < end { try readPort(bytes, colon + 1, scheme) }
  }

  private typealias Refusal = URLRule.Refusal

  /// Returns where the host ends.
  private mutating func readHost(_ bytes: Span<UInt8>, _ from: Int) throws(URLRule.Refusal) -> Int {
    guard from < end, bytes[from] != Byte.colon else { throw Refusal(why: "It has no host.") }
    if bytes[from] == Byte.open { return try readIPv6(bytes, from) }
    var lower: [UInt8] = []
    lower.reserveCapacity(end - from)
    var at = from
    while at < end, bytes[at] != Byte.colon {
      let byte = bytes[at]
      guard isHostByte(byte) else { throw Self.badHost(byte, at) }
      isNormal = isNormal && !isUpper(byte)
      lower.append(isUpper(byte) ? byte | 0x20 : byte)
      at += 1
    }
    try IPAddressText.checkIPv4(lower)
    host = String(decoding: lower, as: UTF8.self)
    return at
  }

  private mutating func readIPv6(_ bytes: Span<UInt8>, _ from: Int) throws(URLRule.Refusal) -> Int {
    var at = from + 1
    var inside: [UInt8] = []
    while at < end, bytes[at] != Byte.close {
      inside.append(bytes[at])
      at += 1
    }
    guard at < end, let words = IPAddressText.ipv6(inside) else {
      throw Refusal(why: "The host in brackets is no IPv6 address; write it as in http://[2001:db8::1]/.")
    }
    let canonical = IPAddressText.text(ofIPv6: words)
    isNormal = isNormal && canonical.utf8.elementsEqual(inside)
    host = "[\(canonical)]"
    guard at + 1 == end || bytes[at + 1] == Byte.colon else { throw Refusal(why: "Something stands after the ].") }
    return at + 1
  }

  private mutating func readPort(_ bytes: Span<UInt8>, _ from: Int, _ scheme: String) throws(URLRule.Refusal) {
    var value = 0
    for index in from..<end {
      guard isDigit(bytes[index]) else { throw Refusal(why: "The port is not a number.") }
      value = value * 10 + Int(bytes[index] - 0x30)
      guard value <= 65535 else { throw Refusal(why: "The port is above 65535.") }
    }
    // `http://h:/` has an empty port, which is the scheme's own (RFC 3986 section 6.2.3).
    let isOwn = from == end || value == URLRule.defaultPort(of: scheme)
    port = isOwn ? nil : value
    isNormal = isNormal && !isOwn && (bytes[from] != 0x30 || end - from == 1)
  }

  private static func badHost(_ byte: UInt8, _ at: Int) -> URLRule.Refusal {
    if byte >= 0x80 { return Refusal(why: "The host is not ASCII; give it in punycode, as in xn--bcher-kva.example.") }
    if byte == 0x20 { return Refusal(why: "The host has a blank at byte \(at).") }
    return Refusal(why: "The host may not have \(Character(Unicode.Scalar(byte))) at byte \(at).")
  }
}

/// IP addresses as they stand in a URL.
enum IPAddressText {
  /// A host whose last label is a number must be four decimal numbers: parsers differ over `127.1`, `0x7f.0.0.1`,
  /// `0177.0.0.1` and `2130706433`, and most turn them into addresses.
  static func checkIPv4(_ host: [UInt8]) throws(URLRule.Refusal) {
    var label = host[...]
    if label.last == Byte.dot { label.removeLast() }
    // Most names end in a letter that ends no number.
    guard let last = label.last, hexadecimalValue(last) != nil || last == UInt8(ascii: "x") else { return }
    if let dot = label.lastIndex(of: Byte.dot) { label = label[(dot + 1)...] }
    guard let first = label.first, isDigit(first), isNumber(label) else { return }
    if ipv4(host[...]) == nil {
      throw URLRule.Refusal(why: "The host looks like an IPv4 address; write it as four decimal numbers.")
    }
  }

  /// Decimal, octal or hexadecimal (WHATWG URL, "ends in a number").
  private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
    if label.allSatisfy(isDigit) { return true }
    return label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy { hexadecimalValue($0) != nil }
  }

  /// An address in network order: 4 bytes, or 16; one of IPv4 that stands inside one of IPv6 (::ffff:1.2.3.4) counts as
  /// IPv4. nil: it is a name.
  static func bytes(of text: [UInt8]) -> [UInt8]? {
    if let four = ipv4(text[...]) { return (0..<4).map { UInt8(truncatingIfNeeded: four >> (24 - 8 * $0)) } }
    guard let words = ipv6(text) else { return nil }
    let bytes = words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let isMapped = words[..<5].allSatisfy { $0 == 0 } && words[5] == 0xFFFF
    return isMapped ? Array(bytes[12...]) : bytes
  }

  /// Four decimal numbers of up to 255 without leading zeros, the first in the highest byte.
  static func ipv4(_ text: ArraySlice<UInt8>) -> UInt32? {
    var address: UInt32 = 0
    var number: UInt32?
    var dots = 0
    for byte in text {
      if byte == Byte.dot {
        guard let whole = number, dots < 3 else { return nil }
        address = address << 8 | whole
        number = nil
        dots += 1
      } else {
        guard isDigit(byte), number != 0 else { return nil }
        let longer = (number ?? 0) * 10 + UInt32(byte - 0x30)
        guard longer < 256 else { return nil }
        number = longer
      }
    }
    guard let whole = number, dots == 3 else { return nil }
    return address << 8 | whole
  }

  /// RFC 4291 section 2.2, without a zone: that means something on one machine only.
  static func ipv6(_ text: [UInt8]) -> [UInt16]? {
    guard text.count <= 45 else { return nil }
    var halves: [[UInt16]] = [[]]
    var rest = text[...]
    if rest.starts(with: [Byte.colon, Byte.colon]) {
      halves.append([])
      rest = rest.dropFirst(2)
    }
    while !rest.isEmpty {
      let group = rest.prefix { $0 != Byte.colon }
      rest = rest[group.endIndex...]
      guard let words = words(group, isLast: rest.isEmpty) else { return nil }
      halves[halves.count - 1] += words
      guard rest.first == Byte.colon else { break }
      rest.removeFirst()
      if rest.first == Byte.colon {
        guard halves.count == 1 else { return nil }
        halves.append([])
        rest.removeFirst()
      } else if rest.isEmpty {
        return nil
      }
    }
    let given = halves.reduce(0) { $0 + $1.count }
    if halves.count == 1 { return given == 8 ? halves[0] : nil }
    return given < 8 ? halves[0] + Array(repeating: 0, count: 8 - given) + halves[1] : nil
  }

  /// One group, or the IPv4 address that may stand for the last two.
  private static func words(_ group: ArraySlice<UInt8>, isLast: Bool) -> [UInt16]? {
    if isLast, let four = ipv4(group) {
      return [UInt16(four >> 16), UInt16(four & 0xFFFF)]
    }
    guard (1...4).contains(group.count) else { return nil }
    var word: UInt16 = 0
    for byte in group {
      guard let digit = hexadecimalValue(byte) else { return nil }
      word = word << 4 | UInt16(digit)
    }
    return [word]
  }

  /// RFC 5952, as inet_ntop(3) writes it, which is how libcurl shortens an address.
  static func text(ofIPv6 words: [UInt16]) -> String {
    let gap = longestGap(words)
    let isMixed = gap.lowerBound == 0 && (gap.count == 6 || gap.count == 5 && words[5] == 0xFFFF)
    var text = ""
    var index = 0
    while index < (isMixed ? 6 : 8) {
      if index == gap.lowerBound, !gap.isEmpty {
        text += "::"
        index = gap.upperBound
        continue
      }
      if !text.isEmpty, !text.hasSuffix(":") { text += ":" }
      text += String(words[index], radix: 16)
      index += 1
    }
    guard isMixed else { return text }
    let four = words[6...].flatMap { [String($0 >> 8), String($0 & 0xFF)] }.joined(separator: ".")
    return text.hasSuffix(":") ? text + four : "\(text):\(four)"
  }

  /// The first longest run of two zeros or more; empty where there is none.
  private static func longestGap(_ words: [UInt16]) -> Range<Int> {
    var best = 0..<0
    var start = 0
    for index in 0...words.count where index == words.count || words[index] != 0 {
      if index - start > max(1, best.count) { best = start..<index }
      start = index + 1
    }
    return best
  }
}
