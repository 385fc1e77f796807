/// Reads a URL, strictly, into what the library needs of it: an identity, an origin, and the exact text to send.
///
///     HTTP://joe:pw@Example.COM:80/a/../b c?q=ü#part
///     key   http://example.com/a/../b%20c?q=%C3%BC
///     text  http://joe:pw@example.com/a/../b%20c?q=%C3%BC
///
/// One parser decides for all (RFC 3986), since two that differ let a URL be checked as one host and loaded from
/// another. Path and query are never touched but for blanks and non-ASCII, which are percent-encoded as UTF-8: dot
/// segments, doubled slashes, odd escapes and their letter case mean what the server says. Fragments are never sent, so
/// they are dropped. Refused: controls, backslashes, an empty or numerically disguised host, a port above 65535.
///
/// Schemes other than http and https belong to loaders of the caller's: what follows the scheme is taken as it is.
package enum URLRule {
  /// A URL that was read. A reference, since every request hands it on a few times.
  package final class Location: Hashable, Sendable, CustomStringConvertible {
    /// In lower case.
    package let scheme: String
    /// For http and https in lower case, an IPv6 address in its brackets; else what stands before the path, as given;
    /// "" where there is none.
    package let host: String
    /// nil: the scheme's own.
    package let port: Int?
    /// The identity: without userinfo and fragment. May be stored and compared; `redacted` before it is shown.
    package let key: String
    /// What to send. Keeps userinfo, which libcurl turns into the Authorization field: never log it, store it or
    /// compare by it.
    package let text: String

    init(scheme: String, host: String, port: Int?, key: String, text: String) {
      self.scheme = scheme
      self.host = host
      self.port = port
      self.key = key
      self.text = text
    }

    /// Two texts that are equal were read alike.
    package static func == (left: Location, right: Location) -> Bool { left === right || left.text == right.text }
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    package var isHTTP: Bool { scheme == "https" || scheme == "http" }
    func hasOrigin(of other: Location) -> Bool {
      port == other.port && host == other.host && scheme == other.scheme
    }
    package var origin: Origin { Origin(scheme: scheme, host: host, port: port) }
    /// The port to connect to, where the scheme is one that this library connects for.
    package var effectivePort: Int? { port ?? URLRule.defaultPort(of: scheme) }
    /// For messages: redacted.
    package var description: String { redacted(text) }

    /// `joe:pw`, percent-encoded; nil where there is none.
    var userinfo: String? {
      guard text != key, let at = text.utf8.firstIndex(of: Byte.at) else { return nil }
      return text.utf8[..<at].dropFirst(scheme.utf8.count + 3).asText
    }

    /// The same location, authenticated as `userinfo` says.
    func authenticated(by userinfo: String) -> Location {
      Location(
        scheme: scheme, host: host, port: port, key: key, text: URLRule.withUserinfo(key, userinfo, after: scheme))
    }
  }

  /// Scheme, host and port (RFC 6454): where secrets may be sent to again.
  package struct Origin: Hashable, Sendable, CustomStringConvertible {
    package var scheme: String
    package var host: String
    /// nil: the scheme's own.
    package var port: Int?

    package var description: String {
      let text = scheme + "://" + host
      return port.map { text + ":" + String($0) } ?? text
    }
  }

  /// Why a text is no URL for us, in one sentence that does not repeat the text.
  package struct Refusal: Error, Sendable, Hashable {
    package var why: String
  }

  /// Whether a text is for the network, by its beginning alone.
  static func isHTTP(_ text: String) -> Bool { text.hasPrefix("https:") || text.hasPrefix("http:") }

  package static func parse(_ text: String) -> Result<Location, Refusal> {
    let bytes = text.utf8.span
    do throws(Refusal) {
      let parts = try split(bytes)
      if parts.scheme == "https" || parts.scheme == "http" {
        return .success(try httpLocation(text, bytes, parts))
      }
      return .success(try otherLocation(bytes, parts))
    } catch {
      return .failure(error)
    }
  }

  static func defaultPort(of scheme: String) -> Int? {
    switch scheme {
    case "https": 443
    case "http": 80
    default: nil
    }
  }

  // MARK: Scheme and bytes

  /// What the first walk over the bytes finds.
  private struct Parts {
    var scheme: String
    /// False: the scheme was not in lower case.
    var isSchemeLower: Bool
    /// Where the text after "scheme:" begins, and ends before the fragment.
    var rest: Range<Int>
    var needsEncoding: Bool
  }

  private static func split(_ bytes: Span<UInt8>) throws(Refusal) -> Parts {
    var colon = 0
    while colon < bytes.count, isSchemeByte(bytes[colon]) { colon += 1 }
    guard colon > 0, colon < bytes.count, bytes[colon] == Byte.colon, isLetter(bytes[0]) else {
      throw Refusal(why: "It has no scheme; write it in full, as in https://example.com/a.")
    }
    let (end, needsEncoding) = try checkBytes(bytes, from: colon + 1)
    let (scheme, isLower) = schemeText(bytes, colon)
    return Parts(scheme: scheme, isSchemeLower: isLower, rest: (colon + 1)..<end, needsEncoding: needsEncoding)
  }

  private static func schemeText(_ bytes: Span<UInt8>, _ count: Int) -> (String, isLower: Bool) {
    // The two schemes that nearly every URL has, without building a string.
    if count == 5, begins(bytes, "https") { return ("https", true) }
    if count == 4, begins(bytes, "http") { return ("http", true) }
    var lower: [UInt8] = []
    lower.reserveCapacity(count)
    var isLower = true
    for index in 0..<count {
      let byte = bytes[index]
      isLower = isLower && !isUpper(byte)
      lower.append(isUpper(byte) ? byte | 0x20 : byte)
    }
    return (String(decoding: lower, as: UTF8.self), isLower)
  }

  private static func begins(_ bytes: Span<UInt8>, _ word: String) -> Bool {
    var index = 0
    for byte in word.utf8 {
      guard index < bytes.count, bytes[index] == byte else { return false }
      index += 1
    }
    return true
  }

  /// Refuses what no URL may hold anywhere; finds the fragment and whether something is to be percent-encoded.
  private static func checkBytes(
    _ bytes: Span<UInt8>, from start: Int
  ) throws(Refusal) -> (end: Int, needsEncoding: Bool) {
    var end = bytes.count
    var needsEncoding = false
    for index in start..<bytes.count {
      let byte = bytes[index]
      if byte &- 0x24 < 0x38 || byte &- 0x5D < 0x22 { continue }  // "$" to "[", "]" to "~": nothing to do
      if byte < 0x20 || byte == 0x7F { throw Refusal(why: "It has a control character at byte \(index).") }
      if byte == Byte.backslash {
        throw Refusal(why: "It has a backslash at byte \(index); write / for a path, or %5C if it is meant.")
      }
      if byte == Byte.hash { end = min(end, index) }
      if byte == 0x20 || byte >= 0x80 { needsEncoding = needsEncoding || index < end }
    }
    return (end, needsEncoding)
  }

  // MARK: http and https

  private static func httpLocation(
    _ original: String, _ bytes: Span<UInt8>, _ parts: Parts
  ) throws(Refusal) -> Location {
    let rest = parts.rest
    guard rest.count >= 2, bytes[rest.lowerBound] == Byte.slash, bytes[rest.lowerBound + 1] == Byte.slash else {
      throw Refusal(why: "After \(parts.scheme): there must be // and a host.")
    }
    let authority = try HTTPAuthority(bytes, from: rest.lowerBound + 2, to: rest.upperBound, scheme: parts.scheme)
    let path = authority.end
    let hasPath = path < rest.upperBound && bytes[path] == Byte.slash
    let isNormal =
      hasPath && parts.isSchemeLower && authority.isNormal && rest.upperBound == bytes.count && !parts.needsEncoding
    if isNormal {
      return Location(
        scheme: parts.scheme, host: authority.host, port: authority.port, key: original, text: original)
    }
    let origin = Origin(scheme: parts.scheme, host: authority.host, port: authority.port)
    var tail: [UInt8] = hasPath ? [] : [Byte.slash]
    appendEncoded(bytes, path..<rest.upperBound, to: &tail)
    let key = "\(origin)\(String(decoding: tail, as: UTF8.self))"
    return Location(
      scheme: parts.scheme, host: authority.host, port: authority.port, key: key,
      text: withUserinfo(key, encodedUserinfo(bytes, authority.userinfo), after: parts.scheme))
  }

  /// `http://host/` with `joe:pw` is `http://joe:pw@host/`.
  private static func withUserinfo(_ key: String, _ userinfo: String?, after scheme: String) -> String {
    guard let userinfo else { return key }
    return "\(scheme)://\(userinfo)@\(key.utf8.dropFirst(scheme.utf8.count + 3).asText)"
  }

  /// Everything that may not stand in userinfo (RFC 3986 section 3.2.1) is percent-encoded.
  private static func encodedUserinfo(_ bytes: Span<UInt8>, _ range: Range<Int>?) -> String? {
    guard let range else { return nil }
    var out: [UInt8] = []
    for index in range {
      let byte = bytes[index]
      if isHostByte(byte) || Byte.subDelimiters.contains(byte) || byte == Byte.colon || byte == Byte.percent {
        out.append(byte)
      } else {
        appendEscape(byte, to: &out)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  // MARK: All other schemes

  private static func otherLocation(_ bytes: Span<UInt8>, _ parts: Parts) throws(Refusal) -> Location {
    let rest = parts.rest
    guard !rest.isEmpty else { throw Refusal(why: "Nothing follows \(parts.scheme):.") }
    var whole: [UInt8] = []
    appendEncoded(bytes, rest, to: &whole)
    var host: ArraySlice<UInt8> = []
    var keyed = whole
    if whole.starts(with: [Byte.slash, Byte.slash]) {
      let authority = whole[2...].prefix { $0 != Byte.slash && $0 != Byte.question }
      host = authority
      // Userinfo is a secret here too: the key goes without.
      if let at = authority.lastIndex(of: Byte.at) {
        host = authority[(at + 1)...]
        keyed.removeSubrange(2...at)
      }
    }
    return Location(
      scheme: parts.scheme, host: String(decoding: host, as: UTF8.self), port: nil,
      key: "\(parts.scheme):\(String(decoding: keyed, as: UTF8.self))",
      text: "\(parts.scheme):\(String(decoding: whole, as: UTF8.self))")
  }

  // MARK: Percent-encoding

  /// Copies the bytes; blanks and non-ASCII as `%XX`.
  private static func appendEncoded(_ bytes: Span<UInt8>, _ range: Range<Int>, to out: inout [UInt8]) {
    out.reserveCapacity(out.count + range.count)
    for index in range {
      let byte = bytes[index]
      if byte == 0x20 || byte >= 0x80 { appendEscape(byte, to: &out) } else { out.append(byte) }
    }
  }

  /// In capitals, as RFC 3986 section 2.1 recommends.
  static func appendEscape(_ byte: UInt8, to out: inout [UInt8]) {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }
    out.append(Byte.percent)
    out.append(digit(byte >> 4))
    out.append(digit(byte & 15))
  }
}

extension Sequence<UInt8> {
  fileprivate var asText: String { String(decoding: Array(self), as: UTF8.self) }
}
