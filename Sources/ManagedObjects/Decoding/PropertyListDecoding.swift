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
/// to more values than its file has bytes (and some thousands). What is damaged otherwise is left to the decoder.
///
///     <?xml …?> <plist version="1.0"> <array> <dict/> </array> </plist>     text: tags are counted
///     bplist00  objects  offsets  trailer                                  binary: references are followed
enum PropertyListNesting {
  static let limitDepth = 512

  static func check(_ data: Data) throws(ObjectError) {
    if data.starts(with: "bplist".utf8) {
      var walk = try BinaryWalk(data.span)
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
    guard bytes.starts(with: "<", at: at) else { throw refusal("it is neither XML in UTF-8 nor binary") }
    var depth = 0
    while at < bytes.count {
      guard bytes[at] == UInt8(ascii: "<") else {
        if bytes[at] == 0 { throw refusal("it is neither XML in UTF-8 nor binary") }
        at += 1
        continue
      }
      at = step(bytes, at, &depth)
      if depth > limitDepth { throw tooDeep }
    }
  }

  /// Takes what begins with `<` there. - Returns: where to go on.
  private static func step(_ bytes: Span<UInt8>, _ start: Int, _ depth: inout Int) -> Int {
    if bytes.starts(with: "<!--", at: start) { return bytes.end(of: "-->", from: start + 4) }
    if bytes.starts(with: "<![CDATA[", at: start) { return bytes.end(of: "]]>", from: start + 9) }
    if bytes.starts(with: "<?", at: start) { return bytes.end(of: "?>", from: start + 2) }
    if bytes.starts(with: "<!", at: start) { return start + 2 }
    if bytes.starts(with: "</", at: start) {
      depth -= 1
      return start + 2
    }
    let end = bytes.end(of: ">", from: start)
    if end < start + 2 || bytes[end - 2] != UInt8(ascii: "/") { depth += 1 }
    return end
  }

  // MARK: Refusals

  fileprivate static func refusal(_ why: String) -> ObjectError {
    ObjectError(.undecodable, "The property list cannot be read: \(why).")
  }

  fileprivate static var tooDeep: ObjectError { refusal("it is nested more than \(limitDepth) deep") }
}

/// Follows every reference of a binary list once, keeping its way in an array and not on the stack.
///
///     trailer, the last 32 bytes: 6 unused, bytes of an offset, bytes of a reference, then three numbers of 8 bytes:
///     how many objects, which is on top, where the table of offsets begins
///     an object: A3 and three references; D2, two references to keys, two to values; AF 11 0100, and 256 references
private struct BinaryWalk {
  /// A container on the way to where the walk is.
  private struct Step {
    let object: Int
    var next: Int
    let end: Int
    /// Of what has been seen in it.
    var depth = 0
    var values = 1
  }

  private let offsetBytes: Int
  private let referenceBytes: Int
  private let objects: Int
  private let top: Int
  private let table: Int
  private let limitValues: Int
  /// Of each object: how deep it is, 0 as long as it is not known; and how many values it stands for.
  private var depths: [Int]
  private var values: [Int]
  private var way: [Step] = []

  init(_ bytes: Span<UInt8>) throws(ObjectError) {
    let trailer = bytes.count - 32
    guard trailer >= 8, let objects = bytes.number(at: trailer + 8, 8), let top = bytes.number(at: trailer + 16, 8),
      let table = bytes.number(at: trailer + 24, 8), objects <= bytes.count, top < objects
    else { throw Self.damaged }
    offsetBytes = Int(bytes[trailer + 6])
    referenceBytes = Int(bytes[trailer + 7])
    self.objects = objects
    self.top = top
    self.table = table
    limitValues = bytes.count + 65_536
    depths = Array(repeating: 0, count: objects)
    values = Array(repeating: 0, count: objects)
  }

  mutating func run(_ bytes: Span<UInt8>) throws(ObjectError) {
    try enter(top, bytes)
    while let step = way.last {
      if step.next == step.end {
        leave()
        continue
      }
      guard let object = bytes.number(at: step.next, referenceBytes), object < objects else { throw Self.damaged }
      way[way.count - 1].next += referenceBytes
      if depths[object] == 0 { try enter(object, bytes) } else { try add(object) }
    }
  }

  /// Comes to an object for the first time, or again while inside it: then the way grows beyond its limit.
  private mutating func enter(_ object: Int, _ bytes: Span<UInt8>) throws(ObjectError) {
    guard way.count < PropertyListNesting.limitDepth else { throw PropertyListNesting.tooDeep }
    guard let offset = bytes.number(at: table + object * offsetBytes, offsetBytes), offset < bytes.count else {
      throw Self.damaged
    }
    let references = try references(at: offset, bytes)
    way.append(Step(object: object, next: references.lowerBound, end: references.upperBound))
  }

  private mutating func leave() {
    let step = way.removeLast()
    depths[step.object] = step.depth + 1
    values[step.object] = step.values
    note(step.depth + 1, step.values)
  }

  /// Comes to an object that is known.
  private mutating func add(_ object: Int) throws(ObjectError) {
    note(depths[object], values[object])
    guard way.count + depths[object] <= PropertyListNesting.limitDepth else { throw PropertyListNesting.tooDeep }
    guard (way.last?.values ?? 0) <= limitValues else {
      throw PropertyListNesting.refusal("the same containers stand in it too often")
    }
  }

  private mutating func note(_ depth: Int, _ values: Int) {
    guard !way.isEmpty else { return }
    way[way.count - 1].depth = max(way[way.count - 1].depth, depth)
    way[way.count - 1].values += values
  }

  /// Where the references of a container stand; empty for all else.
  private func references(at offset: Int, _ bytes: Span<UInt8>) throws(ObjectError) -> Range<Int> {
    let kind = bytes[offset] >> 4
    guard (0xA...0xD).contains(kind) else { return 0..<0 }
    var start = offset + 1
    var count = Int(bytes[offset] & 0x0F)
    if count == 0x0F {
      guard start < bytes.count, bytes[start] >> 4 == 1, case let size = 1 << Int(bytes[start] & 0x0F),
        let long = bytes.number(at: start + 1, size)
      else { throw Self.damaged }
      start += 1 + size
      count = long
    }
    guard referenceBytes > 0, count <= bytes.count else { throw Self.damaged }
    let end = start + count * referenceBytes * (kind == 0xD ? 2 : 1)
    guard end <= bytes.count else { throw Self.damaged }
    return start..<end
  }

  private static var damaged: ObjectError { PropertyListNesting.refusal("it is damaged") }
}

extension Span<UInt8> {
  fileprivate func starts(with text: String, at start: Int) -> Bool {
    var at = start
    for byte in text.utf8 {
      guard at < count, self[at] == byte else { return false }
      at += 1
    }
    return true
  }

  /// Behind the next such text; the end where there is none.
  fileprivate func end(of text: String, from start: Int) -> Int {
    var at = start
    while at < count {
      if starts(with: text, at: at) { return at + text.utf8.count }
      at += 1
    }
    return count
  }

  /// Big-endian; nil where it is not there, or larger than any place in a file.
  fileprivate func number(at start: Int, _ size: Int) -> Int? {
    guard (1...8).contains(size), start >= 0, start <= count - size else { return nil }
    var number: UInt64 = 0
    for at in start..<start + size { number = number << 8 | UInt64(self[at]) }
    return number < 1 << 48 ? Int(number) : nil
  }
}
