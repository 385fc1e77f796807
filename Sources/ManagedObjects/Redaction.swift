/// A URL as it may be shown: in messages, events, logs and lists.
///
///     https://joe:pw@h/a?size=2&X-Amz-Signature=ab12   ->   https://REDACTED@h/a?size=2&X-Amz-Signature=REDACTED
///
/// Takes any text, since what is no URL is shown as well, and rather hides too much: userinfo, and the value of every
/// parameter, in query or fragment, that is named like a secret. Controls and characters that change the order of text
/// are escaped, so that a log line stays one line. At most 500 characters; the rest is "…".
package func redacted(_ url: String) -> String {
  if RedactionRule.hasNothingToHide(url) { return url }
  // Works on bytes: as characters, a sign and a combining mark behind it would be one, and no sign any more.
  let bytes = Array(url.utf8.prefix(RedactionRule.limitBytes))
  let isWhole = bytes.count == url.utf8.count
  var output = RedactedText()
  var rest = bytes[...]
  if let secret = RedactionRule.userinfo(of: rest, isWhole: isWhole) {
    output.append(rest[..<secret.lowerBound])
    output.append(RedactionRule.mask)
    rest = rest[secret.upperBound...]
  }
  let path = rest.prefix { !RedactionRule.isParameterMark($0) }
  output.append(path)
  rest = rest[path.endIndex...]
  while !rest.isEmpty, !output.isFull {
    output.append(rest.prefix(1))
    let parameter = rest.dropFirst().prefix { !RedactionRule.isParameterMark($0) }
    RedactionRule.append(parameter, to: &output)
    rest = rest[parameter.endIndex...]
  }
  return output.finished(isWhole: isWhole && rest.isEmpty)
}

/// Whether a parameter or field of that name carries a secret, as far as a name can tell.
func isNamedLikeSecret(_ name: String) -> Bool { RedactionRule.isSecret(Array(name.utf8)[...]) }

/// What in a URL is secret.
private enum RedactionRule {
  static let mask = Array("REDACTED".utf8)[...]
  /// More of a text is not looked at: only a twentieth of it could be shown.
  static let limitBytes = 8192

  /// Short and printable, without what ends a userinfo and what gives a parameter its value: as most URLs are.
  static func hasNothingToHide(_ text: String) -> Bool {
    text.utf8.count <= RedactedText.limit
      && text.utf8.allSatisfy { 0x20...0x7E ~= $0 && $0 != Byte.at && $0 != UInt8(ascii: "=") }
  }

  /// What separates one parameter from the next.
  static func isParameterMark(_ byte: UInt8) -> Bool {
    byte == Byte.question || byte == UInt8(ascii: "&") || byte == UInt8(ascii: ";") || byte == Byte.hash
  }

  static func append(_ parameter: ArraySlice<UInt8>, to output: inout RedactedText) {
    guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")), isSecret(parameter[..<equals]) else {
      output.append(parameter)
      return
    }
    output.append(parameter[...equals])
    if equals + 1 < parameter.endIndex { output.append(mask) }
  }

  /// Where `joe:pw` stands in `http://joe:pw@host/`, also in texts that are not quite URLs.
  static func userinfo(of text: ArraySlice<UInt8>, isWhole: Bool) -> Range<Int>? {
    let rest = text[afterScheme(text)...].drop { $0 == Byte.slash || $0 == Byte.backslash }
    let authority = rest.prefix { ![Byte.slash, Byte.backslash, Byte.question, Byte.hash].contains($0) }
    // So long that its end was cut off: all of it may be userinfo.
    if !isWhole, authority.endIndex == text.endIndex { return rest.startIndex..<rest.endIndex }
    var end = authority.lastIndex(of: Byte.at)
    if end == nil, hasBrokenPort(authority) {
      // A password with / in it ends the authority too early.
      end = rest.prefix { $0 != Byte.question && $0 != Byte.hash }.lastIndex(of: Byte.at)
    }
    return end.map { rest.startIndex..<$0 }
  }

  /// `joe:pw@host` has no scheme: what follows its colon is no slash.
  private static func afterScheme(_ text: ArraySlice<UInt8>) -> Int {
    let scheme = text.prefix(while: isSchemeByte)
    let rest = text[scheme.endIndex...]
    let isScheme = rest.first == Byte.colon && [Byte.slash, Byte.backslash].contains(rest.dropFirst().first)
    return isScheme ? scheme.endIndex + 1 : text.startIndex
  }

  private static func hasBrokenPort(_ authority: ArraySlice<UInt8>) -> Bool {
    guard authority.first != Byte.open, let colon = authority.firstIndex(of: Byte.colon) else { return false }
    return !authority[(colon + 1)...].allSatisfy(isDigit)
  }

  /// Compared without case, `-`, `_` and `.`: `X-Amz-Security-Token`, `access_token` and `apiKey` are all caught.
  static func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
    guard name.count <= 200 else { return true }
    // `%74oken` is `token`.
    let letters = percentDecoded(name).filter { isLetter($0) || isDigit($0) }
    let plain = String(decoding: letters.map { isUpper($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    return names.contains(plain) || parts.contains { plain.contains($0) }
  }

  private static let names: Set<String> = [
    "sig", "key", "code", "auth", "authorization", "pass", "pwd", "pw", "sid", "jwt", "sas", "otp", "pin", "hmac",
    "assertion", "ticket", "nonce", "hdnea", "hdnts",
  ]

  private static let parts = [
    "token", "secret", "signature", "passw", "passphrase", "credential", "apikey", "accesskey", "privatekey", "session",
  ]
}

/// Collects at most 500 characters, all of them printable.
private struct RedactedText {
  static let limit = 500
  private var scalars = String.UnicodeScalarView()
  private var count = 0
  private var isCut = false

  var isFull: Bool { isCut || count >= Self.limit }

  mutating func append(_ text: ArraySlice<UInt8>) {
    for scalar in String(decoding: text.prefix(4 * Self.limit), as: UTF8.self).unicodeScalars {
      let shown = isPrintable(scalar) ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      guard count + shown.unicodeScalars.count <= Self.limit else {
        isCut = true
        return
      }
      scalars.append(contentsOf: shown.unicodeScalars)
      count += shown.unicodeScalars.count
    }
  }

  func finished(isWhole: Bool) -> String { String(scalars) + (isWhole && !isCut ? "" : "…") }

  private func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: return false
    default: return true
    }
  }
}
