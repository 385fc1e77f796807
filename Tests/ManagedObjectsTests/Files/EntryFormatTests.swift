import Foundation
import Testing

@testable import CacheBenchmark
@testable import ManagedObjects

struct EntryFormatTests {
  private let format = EntryFormat.Body(
    count: 5, checksum: 42, storedTime: WallTime(seconds: 77), place: .inside)

  private func encode(_ key: EntryKey = key("cat"), _ facts: EntryFacts = someFacts) throws -> [UInt8] {
    try #require(EntryFormat.encode(key, facts, format))
  }

  private func decode(_ bytes: [UInt8]) -> EntryFormat? { EntryFormat(bytes.span.bytes) }

  private func belongs(_ head: EntryFormat, to key: EntryKey, in bytes: [UInt8]) -> Bool {
    head.belongs(to: key, in: bytes.span.bytes)
  }

  private func facts(_ head: EntryFormat, in bytes: [UInt8]) -> EntryFacts { head.facts(in: bytes.span.bytes) }

  private func headCount(_ bytes: some Sequence<UInt8>) -> Int? {
    let bytes = Array(bytes)
    return EntryFormat.headCount(of: bytes.span.bytes)
  }

  @Test func `the benchmark's floor with heads keeps as much beside a body as a head is long`() throws {
    let key = EntryKey(ObjectID(Job.name(of: 5000), kind: .url))
    #expect(try encode(key, BackendCandidate.facts).count == FloorCandidate.headBytes)
  }

  @Test func `what was written is read back`() throws {
    let key = EntryKey(
      ObjectID("caté", kind: .url, namespace: "pets"), scope: "alice", kind: .error, variant: "accept=x")
    let bytes = try encode(key)
    let head = try #require(decode(bytes))
    #expect(head.headCount == bytes.count)
    let stored = head.key(in: bytes.span.bytes)
    #expect(stored == key)
    #expect(belongs(head, to: key, in: bytes))
    #expect(head.bodyCount == 5)
    #expect(head.bodyChecksum == 42)
    #expect(head.storedTime == WallTime(seconds: 77))
    #expect(head.place == .inside)
    var facts = someFacts
    facts.checksum = 42
    #expect(self.facts(head, in: bytes) == facts)
  }

  @Test func `the example in the comment is what is written`() throws {
    var facts = EntryFacts(head: LoadHead(status: 200, reason: "OK", fields: ["Content-Type": "text/plain"]))
    facts.generation = 0
    let bytes = try encode(key("cat"), facts)
    #expect(Array(bytes[0..<8]) == Array("MOentry".utf8) + [1])
    #expect(Array(bytes[16..<20]) == [UInt8(bytes.count), 0, 0, 0])
    #expect(Array(bytes[20..<24]) == [1, 1, 1, 0])
    #expect(Array(bytes[24..<32]) == [5, 0, 0, 0, 0, 0, 0, 0])
    #expect(Array(bytes[72..<76]) == [0xC8, 0, 0, 0])
    #expect(Array(bytes[76..<104].enumerated().filter { $0.offset % 4 == 0 }.map(\.element)) == [0, 3, 0, 0, 2, 25, 0])
    #expect(String(decoding: bytes[104...], as: UTF8.self) == "catOKContent-Type: text/plain\n")
    #expect(bytes.count == 134)
  }

  @Test func `another key is told from this one, in each of its parts`() throws {
    let mine = EntryKey(ObjectID("a", namespace: "b"), scope: "c", variant: "d")
    let bytes = try encode(mine)
    let head = try #require(decode(bytes))
    let others = [
      EntryKey(ObjectID("x", namespace: "b"), scope: "c", variant: "d"),
      EntryKey(ObjectID("a", namespace: "x"), scope: "c", variant: "d"),
      EntryKey(ObjectID("a", namespace: "b"), scope: "x", variant: "d"),
      EntryKey(ObjectID("a", namespace: "b"), scope: "c", variant: "x"),
      EntryKey(ObjectID("a", kind: .url, namespace: "b"), scope: "c", variant: "d"),
      EntryKey(ObjectID("a", namespace: "b"), scope: "c", kind: .error, variant: "d"),
      EntryKey(ObjectID("ab", namespace: ""), scope: "c", variant: "d"),
    ]
    for other in others { #expect(!belongs(head, to: other, in: bytes)) }
  }

  @Test func `texts that only look alike are not the same key`() throws {
    // Canonically equivalent, so == of String takes them for equal.
    let bytes = try encode(key("caf\u{E9}"))
    let head = try #require(decode(bytes))
    #expect(!belongs(head, to: key("cafe\u{301}"), in: bytes))
  }

  @Test func `header bytes of any value come back as they were`() throws {
    var fields = HeaderFields()
    fields.append("X-Latin", "Gr\u{FC}\u{DF}e \u{80}\u{FF}")
    fields.append("Set-Cookie", "a=1")
    fields.append("Set-Cookie", "b=2")
    let bytes = try encode(key("k"), EntryFacts(head: LoadHead(status: 204, fields: fields)))
    #expect(facts(try #require(decode(bytes)), in: bytes).head.fields == fields)
  }

  @Test func `every single flipped bit is found`() throws {
    let bytes = try encode()
    for at in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[at] ^= 1 << UInt8(bit)
        #expect(decode(damaged) == nil, "byte \(at), bit \(bit)")
      }
    }
  }

  @Test func `every cut is found`() throws {
    let bytes = try encode()
    for count in 0..<bytes.count { #expect(decode(Array(bytes[..<count])) == nil) }
  }

  @Test func `garbage is nothing, whatever its lengths say`() throws {
    var random = SystemRandomNumberGenerator()
    let good = try encode()
    for _ in 0..<2000 {
      var bytes = good
      // The checksum is made right again, so that what is behind it has to hold by itself.
      for _ in 0..<Int.random(in: 1...8) {
        bytes[Int.random(in: 16..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      }
      let count = min(bytes.count, Int(bytes[16]) | Int(bytes[17]) << 8)
      if count >= 16 {
        let sum = StreamingChecksum.of(bytes.span.bytes.extracting(16..<count))
        for place in 0..<8 { bytes[8 + place] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * place)) }
      }
      if let head = decode(bytes) {
        _ = head.facts(in: bytes.span.bytes)
        _ = head.key(in: bytes.span.bytes)
        #expect(head.headCount <= bytes.count)
        #expect(head.bodyCount >= 0)
      }
    }
  }

  @Test func `a head larger than a mebibyte is refused, and one just below is not`() throws {
    let limit = EntryFormat.limitHeadBytes - EntryFormat.fixedBytes
    let facts = EntryFacts(head: LoadHead(status: 200))
    #expect(EntryFormat.encode(key(String(repeating: "n", count: limit)), facts, format) != nil)
    #expect(EntryFormat.encode(key(String(repeating: "n", count: limit + 1)), facts, format) == nil)
  }

  @Test func `a body behind a head is at most 64 KiB`() throws {
    var large = format
    large.count = EntryFormat.limitInsideBytes + 1
    #expect(decode(try #require(EntryFormat.encode(key("k"), someFacts, large))) == nil)
    large.place = .ownFile
    #expect(decode(try #require(EntryFormat.encode(key("k"), someFacts, large)))?.bodyCount == large.count)
  }

  @Test func `the beginning of a head tells its length`() throws {
    let bytes = try encode()
    #expect(headCount(bytes[..<104]) == bytes.count)
    #expect(headCount(bytes[..<103]) == nil)
    #expect(headCount([UInt8](repeating: 0xFF, count: 200)) == nil)
  }
}
