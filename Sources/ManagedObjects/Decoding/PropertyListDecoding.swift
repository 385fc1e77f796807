internal import FoundationEssentials

extension ObjectDecoder where Object: Decodable {
  /// One property list, XML in UTF-8 or binary, by `PropertyListDecoder` with its defaults. Errors name the place, as in
  /// `items[2].price`. More than 512 containers inside one another, and the older format without tags, are
  /// `.undecodable`. Name: "propertyList".
  public static func propertyList(_ type: Object.Type = Object.self) -> Self {
    ObjectDecoder("propertyList") { loaded in
      let data = try loaded.data()
      try PropertyListNesting.check(data)
      do {
        return try PropertyListDecoder().decode(Object.self, from: data)
      } catch let error as DecodingError {
        throw ObjectError(.undecodable, "The property list is no \(Object.self): \(error.place)", underlying: error)
      }
    }
  }
}

/// Looks at a property list before `PropertyListDecoder` does, which descends by recursion and so overflows its stack,
/// and ends the process, where containers are nested ten thousand deep or a binary one contains itself.
///
/// A list passes that is nested 512 deep at most, as JSONDecoder has it, and in which shared containers do not multiply
/// to more values than its file has bytes (and some thousands). All values of a binary one have to lie inside the file,
/// or the decoder would read beyond its end. What is damaged otherwise is left to the decoder.
///
///     <?xml …?> <plist version="1.0"> <array> <dict/> </array> </plist>     text: tags are counted
///     bplist00  objects  offsets  trailer                                  binary: references are followed
enum PropertyListNesting {
  static let limitDepth = 512

  static func check(_ data: Data) throws(ObjectError) {
    if data.starts(with: "bplist".utf8) {
      var walk = try PropertyListWalk(data.span)
      try walk.run(data.span)
    } else {
      try checkText(data.span)
    }
  }

  // MARK: Text

  /// Only UTF-8 has no zeros, and only XML begins with a tag.
  private static func checkText(_ bytes: Span<UInt8>) throws(ObjectError) {
    var at = bytes.starts(with: "\u{FEFF}", at: 0) ? 3 : 0
    while at < bytes.count, isBlank(bytes[at]) || bytes[at] == 0x0A || bytes[at] == 0x0D { at += 1 }
    guard bytes.starts(with: "<", at: at), !bytes.indices.contains(where: { bytes[$0] == 0 }) else {
      throw refusal("it is neither XML in UTF-8 nor binary")
    }
    var depth = 0
    while at < bytes.count {
      guard bytes[at] == UInt8(ascii: "<") else {
        at += 1
        continue
      }
      at = step(bytes, at, &depth)
      if depth > limitDepth { throw tooDeep }
    }
  }

  /// Takes what begins with `<` there. Where texts end is as the decoder sees it, quotes or not: `<?>` is whole.
  /// - Returns: where to go on.
  private static func step(_ bytes: Span<UInt8>, _ start: Int, _ depth: inout Int) -> Int {
    if bytes.starts(with: "<!--", at: start) { return bytes.end(of: "-->", from: start + 4) }
    if bytes.starts(with: "<![CDATA[", at: start) { return bytes.end(of: "]]>", from: start + 9) }
    if bytes.starts(with: "<?", at: start) { return bytes.end(of: "?>", from: start + 1) }
    if bytes.starts(with: "<!", at: start) { return start + 2 }
    if bytes.starts(with: "</", at: start) {
      // What seems to end before anything has begun stands in a document type.
      depth = max(0, depth - 1)
      return start + 2
    }
    let end = bytes.end(of: ">", from: start)
    if end < start + 2 || bytes[end - 2] != UInt8(ascii: "/") { depth += 1 }
    return end
  }

  // MARK: Refusals

  static func refusal(_ why: String) -> ObjectError {
    ObjectError(.undecodable, "The property list cannot be read: \(why).")
  }

  static var tooDeep: ObjectError { refusal("it is nested more than \(limitDepth) deep") }
}
