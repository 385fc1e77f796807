extension URLRule {
  /// What a reference means at `base`, as in a Location field (RFC 3986 sections 5.2 and 5.3): `/new`, `new`, `?v=2`,
  /// `//host/new` or a whole URL. Blanks around it are dropped. Dot segments are removed as section 5.2.4 says; the
  /// path of the base, where it is taken over whole, stays as it was.
  package static func resolve(_ reference: String, from base: Location) -> Result<Location, Refusal> {
    let given = Components(trimmed(Array(reference.utf8)[...]))
    return parse(String(decoding: given.resolved(from: Components(Array(base.text.utf8)[...])).text, as: UTF8.self))
  }

  /// The five components of RFC 3986 section 3, without the fragment: that is never sent.
  struct Components {
    var scheme: ArraySlice<UInt8>?
    var authority: ArraySlice<UInt8>?
    var path: ArraySlice<UInt8>
    var query: ArraySlice<UInt8>?

    init(_ text: ArraySlice<UInt8>) {
      var rest = text.prefix { $0 != Byte.hash }
      let start = rest.prefix(while: isSchemeByte)
      if let first = start.first, isLetter(first), start.endIndex < rest.endIndex, rest[start.endIndex] == Byte.colon {
        scheme = start
        rest = rest[(start.endIndex + 1)...]
      }
      if rest.starts(with: [Byte.slash, Byte.slash]) {
        let host = rest.dropFirst(2).prefix { $0 != Byte.slash && $0 != Byte.question }
        authority = host
        rest = rest[host.endIndex...]
      }
      path = rest.prefix { $0 != Byte.question }
      if path.endIndex < rest.endIndex { query = rest[(path.endIndex + 1)...] }
    }

    /// RFC 3986 section 5.2.2.
    func resolved(from base: Components) -> Components {
      var target = self
      if scheme != nil || authority != nil {
        target.path = URLRule.withoutDotSegments(path)
      } else if path.isEmpty {
        target.path = base.path
        target.query = query ?? base.query
      } else {
        let whole = path.first == Byte.slash ? path : base.merged(with: path)
        target.path = URLRule.withoutDotSegments(whole)
      }
      if scheme == nil {
        target.scheme = base.scheme
        target.authority = authority ?? base.authority
      }
      return target
    }

    /// RFC 3986 section 5.2.3.
    private func merged(with relative: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      if authority != nil, path.isEmpty { return [Byte.slash] + relative }
      let folder = path.lastIndex(of: Byte.slash).map { path[...$0] } ?? []
      return folder + relative
    }

    /// RFC 3986 section 5.3. A path of two slashes without an authority would read as one.
    var text: [UInt8] {
      var out: [UInt8] = []
      if let scheme { out += scheme + [Byte.colon] }
      if let authority { out += [Byte.slash, Byte.slash] + authority }
      if authority == nil, path.starts(with: [Byte.slash, Byte.slash]) { out += [Byte.slash, Byte.dot] }
      out += path
      if let query { out += [Byte.question] + query }
      return out
    }
  }

  /// RFC 3986 section 5.2.4, its steps A to E in one walk.
  static func withoutDotSegments(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var output: [UInt8] = []
    var rest = path
    if rest.first != Byte.slash {
      while let dots = leadingDots(rest), dots.end < rest.endIndex { rest = rest[(dots.end + 1)...] }
      if leadingDots(rest) != nil { return [] }
    }
    while !rest.isEmpty {
      let isRooted = rest.first == Byte.slash
      if isRooted, let dots = leadingDots(rest.dropFirst()) {
        if dots.count == 2 { dropLastSegment(&output) }
        if dots.end == rest.endIndex { output.append(Byte.slash) }
        rest = rest[dots.end...]
      } else {
        let segment = rest.dropFirst(isRooted ? 1 : 0).prefix { $0 != Byte.slash }
        output += rest[rest.startIndex..<segment.endIndex]
        rest = rest[segment.endIndex...]
      }
    }
    return output[...]
  }

  /// Whether the first segment is `.` or `..`.
  private static func leadingDots(_ path: ArraySlice<UInt8>) -> (count: Int, end: Int)? {
    let segment = path.prefix(3).prefix { $0 != Byte.slash }
    guard segment.count == 1 || segment.count == 2, segment.allSatisfy({ $0 == Byte.dot }) else { return nil }
    return (segment.count, segment.endIndex)
  }

  private static func dropLastSegment(_ output: inout [UInt8]) {
    while let last = output.popLast(), last != Byte.slash {}
  }
}
