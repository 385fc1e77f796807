internal import FoundationEssentials

/// How an entry's head stands in its file; numbers are little-endian. Literally, for `oid` "cat" and a body of 5 bytes:
///
///      0  4D 4F 65 6E 74 72 79 01   "MOentry", version 1
///      8  xx xx xx xx xx xx xx xx   XXH3-64 of the head from byte 16 to its end
///     16  86 00 00 00               length of the head: 134, at most 1 MiB
///     20  01 01 01 00               kind of id (1 oid, 2 URL), kind of entry, place of the body, zero
///     24  05 00 00 00 00 00 00 00   length of the body
///     32  xx xx xx xx xx xx xx xx   XXH3-64 of the body
///     40  xx xx xx xx xx xx xx xx   generation
///     48  xx xx xx xx xx xx xx xx   when the request was sent, milliseconds since 1970
///     56  xx xx xx xx xx xx xx xx   when the response came
///     64  xx xx xx xx xx xx xx xx   when this body was stored
///     72  C8 00 00 00               status: 200
///     76  00 00 00 00  03 00 00 00  00 00 00 00  00 00 00 00    lengths of namespace, name, scope, variant,
///     92  02 00 00 00  19 00 00 00  00 00 00 00                 reason, header fields, varying request fields
///    104  "cat" "OK" "Content-Type: text/plain\n"               these seven, one after the other
///    134  "hello"                                               the body, where its place is here (1)
///
/// A body in a file of its own (place 2) stands in `EntryPaths.body(name, generation:)`, and the head ends the file.
/// Whatever else the bytes are, decoding gives nil: nothing is trusted before the checksum, and no length before it
/// was added up.
struct EntryFormat: Sendable {
  enum Place: UInt8, Sendable {
    /// Behind the head, read together with it.
    case inside = 1
    case ownFile = 2
  }

  /// Larger bodies get a file of their own.
  static let limitInsideBytes = 64 << 10
  static let limitHeadBytes = 1 << 20
  /// The length of the part before the texts.
  static let fixedBytes = 104
  private static let magic: UInt64 = 0x0179_7274_6E65_4F4D

  // What a look-up needs. The rest stays in the bytes until somebody asks for the key or the facts.
  let headCount: Int
  let place: Place
  let bodyCount: Int
  let bodyChecksum: UInt64
  let generation: UInt64
  let storedTime: WallTime

  // MARK: Reading

  /// The length of the head whose beginning this is, so that the rest can be read; nil: no head of ours.
  static func headCount(of start: RawSpan) -> Int? {
    guard start.byteCount >= fixedBytes, start.number(at: 0) == magic else { return nil }
    let count = start.count(at: 16)
    return (fixedBytes...limitHeadBytes).contains(count) ? count : nil
  }

  /// Reads the head that stands at the beginning of these bytes; nil where it is damaged or not whole.
  init?(_ bytes: RawSpan) {
    guard let count = Self.headCount(of: bytes), count <= bytes.byteCount,
      bytes.number(at: 8) == StreamingChecksum.of(bytes.extracting(16..<count)),
      ObjectID.Kind(rawValue: bytes.byte(at: 20)) != nil, EntryKey.Kind(rawValue: bytes.byte(at: 21)) != nil,
      let place = Place(rawValue: bytes.byte(at: 22)),
      let bodyCount = Int(exactly: bytes.number(at: 24)), bodyCount <= Int.max - Self.limitHeadBytes,
      place == .ownFile || bodyCount <= Self.limitInsideBytes,
      Texts(bytes).end == count
    else { return nil }
    headCount = count
    self.place = place
    self.bodyCount = bodyCount
    bodyChecksum = bytes.number(at: 32)
    generation = bytes.number(at: 40)
    storedTime = bytes.time(at: 64)
  }

  /// Where each text stands.
  private struct Texts {
    let namespace, name, scope, variant, reason, fields, varying: Range<Int>

    var end: Int { varying.upperBound }

    /// - Parameter bytes: at least the fixed part of a head.
    init(_ bytes: RawSpan) {
      var at = EntryFormat.fixedBytes
      func next(_ field: Int) -> Range<Int> {
        let start = at
        // At most seven times 4 GiB: no overflow.
        at += bytes.count(at: 76 + 4 * field)
        return start..<at
      }
      namespace = next(0)
      name = next(1)
      scope = next(2)
      variant = next(3)
      reason = next(4)
      fields = next(5)
      varying = next(6)
    }
  }

  // MARK: What else a head says; `bytes` are those that it was read from

  /// Whether this is the entry of that key, and of no other whose digest begins alike.
  func belongs(to key: borrowing EntryKey, in bytes: RawSpan) -> Bool {
    let texts = Texts(bytes)
    return bytes.byte(at: 20) == key.id.kind.rawValue && bytes.byte(at: 21) == key.kind.rawValue
      && bytes.equals(key.id.name, texts.name) && bytes.equals(key.id.namespace, texts.namespace)
      && bytes.equals(key.scope, texts.scope) && bytes.equals(key.variant, texts.variant)
  }

  func key(in bytes: RawSpan) -> EntryKey {
    let texts = Texts(bytes)
    // Sound kinds: `init` refused others.
    let idKind = ObjectID.Kind(rawValue: bytes.byte(at: 20)) ?? .url
    let kind = EntryKey.Kind(rawValue: bytes.byte(at: 21)) ?? .good
    let id = ObjectID(bytes.text(texts.name), kind: idKind, namespace: bytes.text(texts.namespace))
    return EntryKey(id, scope: bytes.text(texts.scope), kind: kind, variant: bytes.text(texts.variant))
  }

  func facts(in bytes: RawSpan) -> EntryFacts {
    let texts = Texts(bytes)
    let head = LoadHead(
      status: Int(Int32(truncatingIfNeeded: bytes.count(at: 72))), reason: bytes.text(texts.reason),
      fields: HeaderFields(block: [UInt8](bytes.extracting(texts.fields))))
    return EntryFacts(
      head: head, requestTime: bytes.time(at: 48), responseTime: bytes.time(at: 56),
      varying: HeaderFields(block: [UInt8](bytes.extracting(texts.varying))), generation: generation,
      checksum: bodyChecksum)
  }

  // MARK: Writing

  /// What is known of a body when its head is written.
  struct Body: Sendable {
    var count: Int
    var checksum: UInt64
    var storedTime: WallTime
    var place: Place
  }

  /// The head as it is written; nil where it would be larger than a head may be.
  static func encode(_ key: EntryKey, _ facts: EntryFacts, _ body: Body, reserving extraBytes: Int = 0) -> [UInt8]? {
    let texts = [key.id.namespace, key.id.name, key.scope, key.variant, facts.head.reason]
    let blocks = [facts.head.fields.block, facts.varying.block]
    let count = texts.reduce(blocks.reduce(fixedBytes) { $0 + $1.count }) { $0 + $1.utf8.count }
    guard count <= limitHeadBytes else { return nil }

    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + extraBytes)
    bytes.append(number: magic)
    bytes.append(number: 0)
    bytes.append(count: count)
    bytes += [key.id.kind.rawValue, key.kind.rawValue, body.place.rawValue, 0]
    bytes.append(number: UInt64(body.count))
    bytes.append(number: body.checksum)
    bytes.append(number: facts.generation)
    for time in [facts.requestTime, facts.responseTime, body.storedTime] {
      bytes.append(number: UInt64(bitPattern: time.milliseconds))
    }
    bytes.append(count: Int(Int32(clamping: facts.head.status)))
    for text in texts { bytes.append(count: text.utf8.count) }
    for block in blocks { bytes.append(count: block.count) }
    for text in texts { bytes.append(contentsOf: text.utf8) }
    for block in blocks { bytes.append(contentsOf: block) }
    bytes.set(number: bytes.withRawSpan { StreamingChecksum.of($0.extracting(16..<count)) }, at: 8)
    return bytes
  }
}
