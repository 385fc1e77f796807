/// What Cache-Control says, in a response or a request (RFC 9111 section 5.2; RFC 5861 and RFC 8246 for some):
///
///     Cache-Control: max-age=60, No-Cache="Set-Cookie", x-own="a, max-age=9"
///
/// Directives this private cache has no use for, s-maxage among them, are ignored like unknown ones. Whatever is in
/// doubt makes the stricter answer: of two values the stricter counts, a time that cannot be read is no time at all, and
/// a permission with rubbish behind it is none. Times are at most 2^31 s (section 1.2.2).
package struct CacheControl: Hashable, Sendable {
  package var maxAge: Duration?
  package var noStore = false
  /// Without field names: the whole response.
  package var noCache = false
  /// Lower-case names of the fields that no-cache names, which must not be used again without asking.
  package var withheldFields: Set<String> = []
  package var isPublic = false
  /// Also where it names fields: those concern shared caches only.
  package var isPrivate = false
  package var mustRevalidate = false
  package var mustUnderstand = false
  package var isImmutable = false
  package var staleWhileRevalidate: Duration?
  package var staleIfError: Duration?

  // Requests only.
  package var onlyIfCached = false
  package var minFresh: Duration?
  /// Without a value: the greatest time.
  package var maxStale: Duration?

  /// A request that does not take whatever is fresh.
  package var restrictsAge: Bool { noCache || maxAge != nil || minFresh != nil }

  package static var limit: Duration { .seconds(1 << 31) }

  package init(_ fields: HeaderFields) {
    guard let list = fields.listBytes(of: "Cache-Control") else { return }
    var directives = Directives(list)
    while let directive = directives.next() { note(directive) }
  }

  private mutating func note(_ directive: Directive) {
    let isClean = !directive.isGarbled
    switch directive.name {
    case "max-age": maxAge = stricter(maxAge, directive.time ?? .zero)
    case "no-store": noStore = true
    case "no-cache": noteNoCache(directive)
    case "private": isPrivate = true
    case "public": isPublic = isPublic || isClean
    case "must-revalidate": mustRevalidate = true
    case "must-understand": mustUnderstand = mustUnderstand || isClean
    case "immutable": isImmutable = isImmutable || isClean
    case "stale-while-revalidate": staleWhileRevalidate = stricter(staleWhileRevalidate, directive.time ?? .zero)
    case "stale-if-error": staleIfError = stricter(staleIfError, directive.time ?? .zero)
    case "only-if-cached": onlyIfCached = true
    case "min-fresh": minFresh = max(minFresh ?? .zero, directive.time ?? Self.limit)
    case "max-stale":
      let isOpen = directive.value == nil && isClean
      maxStale = stricter(maxStale, isOpen ? Self.limit : directive.time ?? .zero)
    default: break
    }
  }

  /// It may name fields; then the rest of the response is free of it.
  private mutating func noteNoCache(_ directive: Directive) {
    let names = (directive.value ?? []).split(separator: UInt8(ascii: ",")).map { lowerText(trimmed($0)) }
    if directive.isGarbled || names.isEmpty {
      noCache = true
    } else {
      withheldFields.formUnion(names)
    }
  }

  private func stricter(_ old: Duration?, _ new: Duration) -> Duration { min(old ?? new, new) }

  // MARK: Grammar

  private struct Directive {
    let name: ArraySlice<UInt8>
    /// Without quotes and escapes; nil: there is no `=`.
    var value: ArraySlice<UInt8>?
    /// Something stands there that the grammar has no place for.
    var isGarbled = false

    /// delta-seconds, at most 2^31.
    var time: Duration? {
      guard let value, !isGarbled, !value.isEmpty, value.allSatisfy(isDigit) else { return nil }
      var seconds: Int64 = 0
      for digit in value { seconds = min(seconds * 10 + Int64(digit - 0x30), 1 << 31) }
      return .seconds(seconds)
    }
  }

  /// token [ "=" ( token / quoted-string ) ], between commas.
  private struct Directives {
    private let list: ArraySlice<UInt8>
    private var at: Int

    init(_ list: ArraySlice<UInt8>) {
      self.list = list
      at = list.startIndex
    }

    mutating func next() -> Directive? {
      while true {
        skip { isBlank($0) || $0 == UInt8(ascii: ",") }
        guard at < list.endIndex else { return nil }
        let name = token()
        guard !name.isEmpty else {
          skip { $0 != UInt8(ascii: ",") }
          continue
        }
        var directive = Directive(name: name)
        readValue(&directive)
        skip { isBlank($0) }
        if at < list.endIndex, list[at] != UInt8(ascii: ",") {
          directive.isGarbled = true
          skip { $0 != UInt8(ascii: ",") }
        }
        return directive
      }
    }

    private mutating func readValue(_ directive: inout Directive) {
      guard at < list.endIndex, list[at] == UInt8(ascii: "=") else { return }
      at += 1
      if at < list.endIndex, list[at] == UInt8(ascii: "\"") {
        directive.value = quoted()
        directive.isGarbled = directive.value == nil
        return
      }
      let value = token()
      directive.value = value
      directive.isGarbled = value.isEmpty
    }

    /// nil, and nothing is taken: the quotes never close.
    private mutating func quoted() -> ArraySlice<UInt8>? {
      var value: [UInt8] = []
      var index = at + 1
      while index < list.endIndex, list[index] != UInt8(ascii: "\"") {
        if list[index] == Byte.backslash { index += 1 }
        if index < list.endIndex { value.append(list[index]) }
        index += 1
      }
      guard index < list.endIndex else { return nil }
      at = index + 1
      return value[...]
    }

    private mutating func token() -> ArraySlice<UInt8> {
      let start = at
      skip(isTokenByte)
      return list[start..<at]
    }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
      while at < list.endIndex, isSkipped(list[at]) { at += 1 }
    }
  }
}
