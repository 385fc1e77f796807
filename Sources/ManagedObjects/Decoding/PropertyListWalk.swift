/// Follows every reference of a binary list once, keeping its way in an array and not on the stack.
///
///     trailer, the last 32 bytes: 6 unused, bytes of an offset, bytes of a reference, then three numbers of 8 bytes:
///     how many objects, which is on top, where the table of offsets begins
///     an object: A3 and three references; D2, two references to keys, two to values; AF 11 0100, and 256 references
struct PropertyListWalk {
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
    let trailer = bytes.count - Self.trailerBytes
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
        try leave()
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

  private mutating func leave() throws(ObjectError) {
    let step = way.removeLast()
    depths[step.object] = step.depth + 1
    values[step.object] = step.values
    try note(step.depth + 1, step.values)
  }

  /// Comes to an object that is known.
  private mutating func add(_ object: Int) throws(ObjectError) {
    guard way.count + depths[object] <= PropertyListNesting.limitDepth else { throw PropertyListNesting.tooDeep }
    try note(depths[object], values[object])
  }

  /// What stands in the container where the walk is: no container may stand for too much.
  private mutating func note(_ depth: Int, _ values: Int) throws(ObjectError) {
    guard !way.isEmpty else { return }
    way[way.count - 1].depth = max(way[way.count - 1].depth, depth)
    way[way.count - 1].values += values
    guard way[way.count - 1].values <= limitValues else {
      throw PropertyListNesting.refusal("the same containers stand in it too often")
    }
  }

  /// Where the references of a container stand; empty for all else, which has to be there as a whole all the same.
  private func references(at offset: Int, _ bytes: Span<UInt8>) throws(ObjectError) -> Range<Int> {
    let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 0x0F))
    let isContainer = (0xA...0xD).contains(kind)
    let extent =
      switch kind {
      case 0x0: offset + 1..<offset + 1
      // Numbers and dates, whose size is a power of two; names of archived objects.
      case 0x1...0x3 where low <= 4: offset + 1..<offset + 1 + 1 << low
      case 0x8: offset + 2..<offset + 2 + low
      case 0x4, 0x5, 0x7: try counted(1, at: offset, bytes)
      case 0x6: try counted(2, at: offset, bytes)
      case 0xA...0xC where referenceBytes > 0: try counted(referenceBytes, at: offset, bytes)
      case 0xD where referenceBytes > 0: try counted(2 * referenceBytes, at: offset, bytes)
      default: throw Self.damaged
      }
    guard extent.upperBound <= bytes.count - Self.trailerBytes else { throw Self.damaged }
    return isContainer ? extent : 0..<0
  }

  /// What follows a marker that tells how many units it has, in itself or by a number behind it.
  private func counted(_ unit: Int, at offset: Int, _ bytes: Span<UInt8>) throws(ObjectError) -> Range<Int> {
    let low = Int(bytes[offset] & 0x0F)
    guard low == 0x0F else { return offset + 1..<offset + 1 + low * unit }
    guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == 1 else { throw Self.damaged }
    let size = 1 << Int(bytes[offset + 1] & 0x0F)
    guard let count = bytes.number(at: offset + 2, size), count <= bytes.count else { throw Self.damaged }
    return offset + 2 + size..<offset + 2 + size + count * unit
  }

  private static let trailerBytes = 32
  private static var damaged: ObjectError { PropertyListNesting.refusal("it is damaged") }
}

extension Span<UInt8> {
  func starts(with text: String, at start: Int) -> Bool {
    var at = start
    for byte in text.utf8 {
      guard at < count, self[at] == byte else { return false }
      at += 1
    }
    return true
  }

  /// Behind the next such text; the end where there is none.
  func end(of text: String, from start: Int) -> Int {
    var at = start
    while at < count {
      if starts(with: text, at: at) { return at + text.utf8.count }
      at += 1
    }
    return count
  }

  /// Big-endian; nil where it is not there, or larger than any place in a file.
  func number(at start: Int, _ size: Int) -> Int? {
    guard (1...8).contains(size), start >= 0, start <= count - size else { return nil }
    var number: UInt64 = 0
    for at in start..<start + size { number = number << 8 | UInt64(self[at]) }
    return number < 1 << 48 ? Int(number) : nil
  }
}
