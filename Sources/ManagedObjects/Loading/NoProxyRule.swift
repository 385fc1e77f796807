/// Which hosts are asked without a proxy, as `no_proxy` lists them. Our own reading, since tools and versions of libcurl
/// differ in theirs. Commas and blanks separate; letter case and a dot at the end of a name do not matter:
///
///     *                          every host
///     example.com .example.com   that name, and all below it
///     *.example.com              the same
///     127.0.0.1  [::1]  ::1      that address, however it is written in the URL
///     10.0.0.0/8  [fc00::]/7     every address of that range
///     example.com:8080           that name, on that port only; also `[::1]:8080`
///
/// A host that is a name is never looked up to compare it with addresses. What cannot be read matches nothing.
struct NoProxyRule: Sendable, Hashable {
  private enum Pattern: Sendable, Hashable {
    case all
    /// In lower case, without dots before and behind.
    case name(String)
    /// The first `bits` of the address.
    case range([UInt8], bits: Int)
  }

  private struct Exception: Sendable, Hashable {
    var pattern: Pattern
    /// nil: all.
    var port: Int?
  }

  private let exceptions: [Exception]

  init(_ list: String) {
    exceptions = list.split { $0 == "," || $0.isWhitespace }.compactMap { Self.exception(String($0).lowercased()) }
  }

  /// - Parameter host: as `URLRule` gives it.
  func excepts(_ host: String, port: Int) -> Bool {
    let host = Self.withoutLastDot(host.lowercased()[...])
    let address = Self.address(host)
    return exceptions.contains { exception in
      (exception.port ?? port) == port && Self.matches(exception.pattern, host, address)
    }
  }

  private static func matches(_ pattern: Pattern, _ host: String, _ address: [UInt8]?) -> Bool {
    switch pattern {
    case .all: true
    case .name(let name): address == nil && (host == name || host.hasSuffix(".\(name)"))
    case .range(let start, let bits): address.map { haveSame(start, $0, bits) } ?? false
    }
  }

  private static func haveSame(_ left: [UInt8], _ right: [UInt8], _ bits: Int) -> Bool {
    guard left.count == right.count else { return false }
    let (whole, rest) = (bits / 8, bits % 8)
    guard left[..<whole] == right[..<whole] else { return false }
    return rest == 0 || (left[whole] ^ right[whole]) >> UInt8(8 - rest) == 0
  }

  // MARK: Reading

  private static func exception(_ text: String) -> Exception? {
    if text == "*" { return Exception(pattern: .all) }
    if let range = range(text) { return Exception(pattern: range) }
    if let (host, port) = splitPort(text) {
      if let range = range(host) { return Exception(pattern: range, port: port) }
      return name(host).map { Exception(pattern: $0, port: port) }
    }
    return text.contains("/") || text.contains("[") ? nil : name(text).map { Exception(pattern: $0) }
  }

  private static func name(_ text: String) -> Pattern? {
    var name = text[...]
    if name.hasPrefix("*.") { name = name.dropFirst() }
    if name.hasPrefix(".") { name = name.dropFirst() }
    let plain = withoutLastDot(name)
    return plain.isEmpty || plain.contains("*") || plain.contains(":") ? nil : .name(plain)
  }

  private static func range(_ text: String) -> Pattern? {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    // Brackets stand around the address, or around the whole range.
    if parts.count == 2, text.hasPrefix("["), text.hasSuffix("]") { return range(String(text.dropFirst().dropLast())) }
    guard let first = parts.first, let address = address(String(first)) else { return nil }
    guard parts.count == 2 else { return .range(address, bits: address.count * 8) }
    guard parts[1].allSatisfy({ ("0"..."9").contains($0) }), let bits = Int(parts[1]), bits <= writtenBits(first)
    else { return nil }
    // A range within ::ffff:0:0/96 speaks of IPv4.
    let shift = address.count == 4 && first.contains(":") ? 96 : 0
    return bits >= shift ? .range(address, bits: bits - shift) : nil
  }

  private static func writtenBits(_ text: Substring) -> Int { text.contains(":") ? 128 : 32 }

  /// `host:8080`, `[::1]:8080`; an IPv6 address without brackets has no port.
  private static func splitPort(_ text: String) -> (host: String, port: Int)? {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let (host, digits) = (text[..<colon], text[text.index(after: colon)...])
    guard host.hasPrefix("[") && host.hasSuffix("]") || !host.contains(":"), !digits.isEmpty,
      digits.allSatisfy({ ("0"..."9").contains($0) }), let port = Int(digits), (1...65535).contains(port)
    else { return nil }
    return (String(host), port)
  }

  private static func withoutLastDot(_ text: Substring) -> String {
    String(text.hasSuffix(".") ? text.dropLast() : text)
  }

  /// The bytes of an address, with or without brackets; one of IPv4 inside one of IPv6 counts as IPv4.
  private static func address(_ host: String) -> [UInt8]? {
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let bytes = Array((isBracketed ? host.dropFirst().dropLast() : host[...]).utf8)
    return isBracketed && !bytes.contains(Byte.colon) ? nil : IPAddressText.bytes(of: bytes)
  }
}
