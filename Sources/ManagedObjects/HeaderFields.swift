/// Header fields in the order received, repeats kept; names compare without case (RFC 9110 section 5).
///
/// A value is a byte string shown as the characters U+0000 to U+00FF, so that what a server sends is what is stored
/// and given back, whatever its encoding. Kept as one block of bytes, literally
///
///     Content-Type: text/plain\n
///     Set-Cookie: a=1\n
///     Set-Cookie: b=2\n
///
/// since most responses are asked for one or two fields only. A name that is no token, or a value with CR, LF, NUL or a
/// character above U+00FF, is not added; `refusedName` remembers it, and the manager refuses such a request.
public struct HeaderFields: Hashable, Sendable, Sequence, ExpressibleByDictionaryLiteral {
  public struct Field: Hashable, Sendable {
    public let name: String
    public let value: String
  }

  /// The fields, a line each; see above.
  package private(set) var block: [UInt8] = []
  private var names = NameBits()
  /// The name of the first field that could not be added; nil when all were in order.
  public private(set) var refusedName: String?

  public init() {}

  public init(dictionaryLiteral pairs: (String, String)...) {
    for (name, value) in pairs { append(name, value) }
  }

  /// Fields from lines of the form above: what `block` gave. Lines that are not of that form are left out.
  package init(block lines: some Sequence<UInt8>) {
    let bytes = Array(lines)
    if let names = bytes.withRawSpan({ Self.names(ofBlock: $0) }) {
      (block, self.names) = (bytes, names)
      return
    }
    for line in bytes.split(separator: 0x0A) {
      guard let colon = line.firstIndex(of: 0x3A) else { continue }
      append(name: line[..<colon], value: line[(colon + 1)...].drop { $0 == 0x20 })
    }
  }

  public var isEmpty: Bool { block.isEmpty }

  /// The first value of that name. Setting replaces all values of the name by one, or by none.
  public subscript(name: String) -> String? {
    get { find(name).map { text(block[$0.value]) } }
    set {
      remove(name)
      if let newValue { append(name, newValue) }
    }
  }

  /// All values of that name, in order.
  public func values(of name: String) -> [String] {
    var values: [String] = []
    var start = 0
    while let line = find(name, from: start) {
      values.append(text(block[line.value]))
      start = line.whole.upperBound
    }
    return values
  }

  /// All values of that name as one list, joined by ", " (RFC 9110 section 5.3); nil when there is none.
  public func list(of name: String) -> String? {
    guard let first = find(name) else { return nil }
    guard names.mayRepeat(name.utf8.span), find(name, from: first.whole.upperBound) != nil else {
      return text(block[first.value])
    }
    return values(of: name).joined(separator: ", ")
  }

  /// The bytes of the value, where there is one field of that name, not more and not less.
  func onlyValue(of name: String) -> ArraySlice<UInt8>? {
    guard let first = find(name), !names.mayRepeat(name.utf8.span) || find(name, from: first.whole.upperBound) == nil
    else {
      return nil
    }
    return block[first.value]
  }

  /// The first value of that name as the bytes it is, not copied: for what judges every stored response anew.
  func bytes(of name: String) -> ArraySlice<UInt8>? { find(name).map { block[$0.value] } }

  /// The same of all values of that name as one list; only where there are several it is copied.
  func listBytes(of name: String) -> ArraySlice<UInt8>? {
    guard var line = find(name) else { return nil }
    var list = block[line.value]
    while let next = find(name, from: line.whole.upperBound) {
      list = list + [0x2C, 0x20] + block[next.value]
      line = next
    }
    return list
  }

  public func contains(_ name: String) -> Bool { find(name) != nil }

  public mutating func append(_ name: String, _ value: String) {
    guard let bytes = Self.bytes(value) else {
      refusedName = refusedName ?? name
      return
    }
    append(name: name.utf8, value: bytes)
  }

  /// Adds a field given as bytes, as a loader receives it.
  package mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    guard !name.isEmpty, name.allSatisfy(isTokenByte), !value.contains(where: { [0, 0x0A, 0x0D].contains($0) })
    else {
      refusedName = refusedName ?? String(decoding: name, as: UTF8.self)
      return
    }
    let start = block.count
    block.append(contentsOf: name)
    names.note(first: block[start], last: block[block.count - 1], count: block.count - start)
    block.append(0x3A)
    block.append(0x20)
    block.append(contentsOf: value)
    block.append(0x0A)
  }

  /// The same for a field whose name is known to be a token, and whose value to have no CR, LF or NUL.
  mutating func append(read bytes: [UInt8], name: Range<Int>, value: Range<Int>) {
    if !name.isEmpty { names.note(first: bytes[name.lowerBound], last: bytes[name.upperBound - 1], count: name.count) }
    // Mostly it stands there just as it is kept.
    if value.lowerBound == name.upperBound + 2, bytes[name.upperBound + 1] == 0x20 {
      block.append(contentsOf: bytes[name.lowerBound..<value.upperBound])
    } else {
      block.append(contentsOf: bytes[name])
      block.append(0x3A)
      block.append(0x20)
      block.append(contentsOf: bytes[value])
    }
    block.append(0x0A)
  }

  mutating func reserveCapacity(_ bytes: Int) { block.reserveCapacity(bytes) }

  public mutating func remove(_ name: String) {
    guard let first = find(name) else { return }
    guard names.mayRepeat(name.utf8.span) else { return block.removeSubrange(first.whole) }
    var kept: [UInt8] = []
    kept.reserveCapacity(block.count)
    var start = 0
    while let line = find(name, from: start) {
      kept.append(contentsOf: block[start..<line.whole.lowerBound])
      start = line.whole.upperBound
    }
    kept.append(contentsOf: block[start...])
    block = kept
  }

  /// Names that are looked for together, again and again.
  struct Names: Sendable {
    fileprivate let all: [(name: String, bit: UInt64)]

    init(_ names: [String]) { all = names.map { ($0, NameBits.bit(of: $0.utf8.span)) } }
  }

  mutating func removeAll(_ names: Names) {
    for (name, bit) in names.all where self.names.mayHave(bit) { remove(name) }
  }

  /// - Parameter names: in lower case.
  mutating func removeAll(named names: Set<String>) {
    var kept: [UInt8] = []
    for line in lines where !names.contains(lowerText(block[line.name])) {
      kept.append(contentsOf: block[line.name.lowerBound...line.value.upperBound])
    }
    block = kept
  }

  /// By the fields alone: bits may be left of names that were removed.
  public static func == (left: HeaderFields, right: HeaderFields) -> Bool {
    left.block == right.block && left.refusedName == right.refusedName
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(block) }

  /// Each field as the bytes it is, in order.
  func forEachBytes(_ body: (_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Void) {
    for line in lines { body(block[line.name], block[line.value]) }
  }

  public func makeIterator() -> Iterator { Iterator(lines: lines.makeIterator()) }

  public struct Iterator: IteratorProtocol {
    fileprivate var lines: Lines
    public mutating func next() -> Field? {
      lines.next().map { line in
        Field(name: text(lines.block[line.name]), value: text(lines.block[line.value]))
      }
    }
  }

  // MARK: The block

  private var lines: Lines { Lines(block: block) }

  /// The next line of that name from a line's beginning on. Takes nothing apart.
  private func find(_ name: String, from start: Int = 0) -> (whole: Range<Int>, value: Range<Int>)? {
    let wanted = name.utf8.span
    guard names.mayHave(wanted) else { return nil }
    return block.withRawSpan { bytes in
      var start = start
      while start < bytes.byteCount {
        let end = bytes.endOfLine(from: start)
        let colon = start + wanted.count
        if colon < end, bytes.byte(at: colon) == 0x3A, Self.isNamed(wanted, at: start, in: bytes) {
          return (start..<(end + 1), (colon + 2)..<end)
        }
        start = end + 1
      }
      return nil
    }
  }

  /// Whether these bytes stand there, in any letter case.
  private static func isNamed(_ name: Span<UInt8>, at start: Int, in bytes: RawSpan) -> Bool {
    for at in name.indices where lowered(bytes.byte(at: start + at)) != lowered(name[at]) { return false }
    return true
  }

  /// Walks the block, a line a step.
  fileprivate struct Lines: Sequence, IteratorProtocol {
    let block: [UInt8]
    var start = 0

    mutating func next() -> Line? {
      guard start < block.count else { return nil }
      var colon = start
      while colon < block.count, block[colon] != 0x3A { colon += 1 }
      var end = colon
      while end < block.count, block[end] != 0x0A { end += 1 }
      defer { start = end + 1 }
      return Line(name: start..<colon, value: Swift.min(colon + 2, end)..<end)
    }
  }

  fileprivate struct Line {
    let name: Range<Int>
    let value: Range<Int>
  }

  /// The names in lines that are just as `append` makes them; nil: they are not. One pass over a head that was stored, which
  /// is not taken apart.
  private static func names(ofBlock bytes: RawSpan) -> NameBits? {
    var names = NameBits()
    var at = 0
    while at < bytes.byteCount {
      let start = at
      while at < bytes.byteCount, isTokenByte(bytes.byte(at: at)) { at += 1 }
      guard at > start, at + 1 < bytes.byteCount, bytes.byte(at: at) == 0x3A, bytes.byte(at: at + 1) == 0x20 else {
        return nil
      }
      names.note(first: bytes.byte(at: start), last: bytes.byte(at: at - 1), count: at - start)
      at = bytes.firstControl(from: at + 2)
      while at < bytes.byteCount, bytes.byte(at: at) != 0x0A {
        if bytes.byte(at: at) == 0 || bytes.byte(at: at) == 0x0D { return nil }
        at = bytes.firstControl(from: at + 1)
      }
      if at == bytes.byteCount { return nil }
      at += 1
    }
    return names
  }

  /// The bytes of a value's text; nil where it cannot stand in a header.
  private static func bytes(_ value: String) -> [UInt8]? {
    if value.utf8.allSatisfy({ $0 < 0x80 }) { return Array(value.utf8) }
    var bytes: [UInt8] = []
    for scalar in value.unicodeScalars {
      guard scalar.value <= 0xFF else { return nil }
      bytes.append(UInt8(scalar.value))
    }
    return bytes
  }
}

/// Which names may be among some fields, a bit for some of them: every response is asked for some twenty names, most of
/// which it does not have.
private struct NameBits: Sendable {
  private var present: UInt64 = 0
  /// Of those, which may be there more than once.
  private var repeated: UInt64 = 0

  mutating func note(first: UInt8, last: UInt8, count: Int) {
    let bit = Self.bit(first, last, count)
    repeated |= present & bit
    present |= bit
  }

  func mayHave(_ name: Span<UInt8>) -> Bool { mayHave(Self.bit(of: name)) }
  func mayHave(_ bit: UInt64) -> Bool { present & bit != 0 }
  func mayRepeat(_ name: Span<UInt8>) -> Bool { repeated & Self.bit(of: name) != 0 }

  /// 0 for no name.
  static func bit(of name: Span<UInt8>) -> UInt64 {
    name.isEmpty ? 0 : bit(name[0], name[name.count - 1], name.count)
  }

  /// The same for names that differ in letter case only. The factors are those by which the names that caches ask for share
  /// fewest bits with others that servers send.
  private static func bit(_ first: UInt8, _ last: UInt8, _ count: Int) -> UInt64 {
    1 << UInt64((count &* 18 &+ Int(first | 0x20) &+ Int(last | 0x20) &* 31) & 63)
  }
}

/// A value's bytes as text, a character each.
private func text(_ bytes: ArraySlice<UInt8>) -> String {
  if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
  var scalars = String.UnicodeScalarView()
  for byte in bytes { scalars.append(Unicode.Scalar(byte)) }
  return String(scalars)
}
