/// Whether a stored answer meets the condition of a caller (RFC 9110 section 13.2.2), so that 304 is the answer.
package enum ConditionRule {
  /// Fields that make a request conditional; If-Range goes with Range only.
  package static var names: [String] { ["If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"] }

  /// True: what the caller has is what is stored. If-None-Match counts alone where it stands.
  /// - Parameter responseTime: when the stored answer came; stands for a Date that is missing.
  package static func isNotModified(
    _ head: LoadHead, request: HeaderFields, responseTime: WallTime
  ) -> Bool {
    guard (200..<300).contains(head.status) else { return false }
    if let asked = request.list(of: "If-None-Match") { return matches(asked, head.fields["ETag"]) }
    guard let text = request["If-Modified-Since"], let since = HTTPDate.parse(text, now: responseTime) else {
      return false
    }
    // RFC 9111 section 4.3.2: without Last-Modified the time of the answer stands for it.
    let modified = head.fields["Last-Modified"] ?? head.fields["Date"]
    guard let modified else { return responseTime <= since }
    return HTTPDate.parse(modified, now: responseTime).map { $0 <= since } ?? false
  }

  /// The weak comparison of RFC 9110 section 8.8.3.2, with each member of the list.
  package static func matches(_ list: String, _ stored: String?) -> Bool {
    let tags = EntityTag.list(list)
    if tags.isAny { return true }
    guard let stored, let tag = EntityTag(stored) else { return false }
    return tags.members.contains { $0.opaque == tag.opaque }
  }
}

/// `"abc"` or `W/"abc"` (RFC 9110 section 8.8.3).
package struct EntityTag: Hashable, Sendable {
  package let isWeak: Bool
  /// Without the quotes.
  package let opaque: [UInt8]

  /// nil: no entity tag.
  package init?(_ text: String) {
    var rest = trimmed(Array(text.utf8)[...])
    guard let tag = Self.take(&rest), rest.isEmpty else { return nil }
    self = tag
  }

  private init(isWeak: Bool, opaque: [UInt8]) {
    self.isWeak = isWeak
    self.opaque = opaque
  }

  /// Those of a list that can be read; `*` stands for any.
  package static func list(_ text: String) -> (isAny: Bool, members: [EntityTag]) {
    var rest = trimmed(Array(text.utf8)[...])
    if rest.elementsEqual("*".utf8) { return (true, []) }
    var members: [EntityTag] = []
    while !rest.isEmpty {
      rest = rest.drop { isBlank($0) || $0 == UInt8(ascii: ",") }
      if let tag = take(&rest) { members.append(tag) } else { rest = rest.drop { $0 != UInt8(ascii: ",") } }
    }
    return (false, members)
  }

  /// One tag from the front. Characters above ASCII are obs-text.
  private static func take(_ rest: inout ArraySlice<UInt8>) -> EntityTag? {
    var at = rest
    let isWeak = at.starts(with: "W/".utf8)
    if isWeak { at = at.dropFirst(2) }
    guard at.first == UInt8(ascii: "\"") else { return nil }
    at = at.dropFirst()
    let opaque = at.prefix { $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }
    at = at[opaque.endIndex...]
    guard at.first == UInt8(ascii: "\"") else { return nil }
    rest = at.dropFirst()
    return EntityTag(isWeak: isWeak, opaque: Array(opaque))
  }
}
