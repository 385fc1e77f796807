import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct GzipDecodingTests {
  private static let text = Array(String(repeating: "a line of many\n", count: 10_000).utf8)

  private func unpack(_ bytes: [UInt8], limit: Int = 1 << 20) throws -> [UInt8] {
    let loaded = Loaded(id: ObjectID("x.gz"), bytes: Data(bytes))
    return Array(try ObjectDecoder.gunzipped(limitBytes: limit).decode(loaded))
  }

  private func code(_ bytes: [UInt8], limit: Int = 1 << 20) -> ObjectError.Code? {
    do {
      _ = try unpack(bytes, limit: limit)
      return nil
    } catch { return (error as? ObjectError)?.code }
  }

  @Test func `one member, several and empty ones come out one behind the other`() throws {
    #expect(try unpack(gzipped(Self.text)) == Self.text)
    let members = gzipped(Array("one ".utf8)) + gzipped([]) + gzipped(Array("two".utf8))
    #expect(try unpack(members) == Array("one two".utf8))
    #expect(try unpack(gzipped([])) == [])
    let thousand = (0..<1000).flatMap { gzipped(Array("\($0) ".utf8)) }
    #expect(try unpack(thousand) == Array((0..<1000).map { "\($0) " }.joined().utf8))
  }

  @Test func `what would unpack to more than the limit is too large, and exactly the limit is not`() throws {
    let packed = gzipped(Self.text)
    #expect(try unpack(packed, limit: Self.text.count) == Self.text)
    #expect(code(packed, limit: Self.text.count - 1) == .tooLarge)
    // Each member is within it, all together are not.
    #expect(code(packed + packed, limit: Self.text.count * 2 - 1) == .tooLarge)
    for limit in [0, -1, Int.min] {
      #expect(code(packed, limit: limit) == .tooLarge)
      #expect(try unpack(gzipped([]), limit: limit) == [])
    }
    // A bomb ends at the limit, long before its gigabyte.
    let bomb = (0..<1024).flatMap { [bomb = gzipped([UInt8](repeating: 0, count: 1 << 20))] _ in bomb }
    #expect(code(bomb, limit: 3 << 20) == .tooLarge)
  }

  @Test func `padding of zeros is passed over, anything else behind the last member is refused`() throws {
    let packed = gzipped(Self.text)
    #expect(try unpack(packed + [UInt8](repeating: 0, count: 1000)) == Self.text)
    #expect(code(packed + Array("rubbish".utf8)) == .undecodable)
    #expect(code(packed + [0, 0, 1]) == .undecodable)
    #expect(code(packed + [0] + packed) == .undecodable)
  }

  @Test func `a cut at any byte, also of a later member, is refused`() {
    let one = gzipped(Array("some words".utf8))
    for count in 0..<one.count {
      #expect(code(Array(one.prefix(count))) == .undecodable)
      if count > 0 { #expect(code(one + one.prefix(count)) == .undecodable) }
    }
  }

  @Test func `a bit that flipped anywhere behind the head is found, unless it changed nothing`() {
    let text = Array("some words of text".utf8)
    let one = gzipped(text)
    var found = 0
    for at in 10..<one.count {
      var damaged = one
      damaged[at] ^= 0x10
      // The last bits before the checksum are not used.
      if (try? unpack(damaged)) == text { continue }
      #expect(code(damaged) == .undecodable, "at \(at)")
      found += 1
    }
    #expect(found >= one.count - 11)
    #expect(code(Self.text) == .undecodable)
    #expect(code(deflated(Self.text)) == .undecodable)
  }

  @Test func `two limits are two representations`() {
    let one = ObjectDecoder.gunzipped(limitBytes: 1).representation
    #expect(one != ObjectDecoder.gunzipped(limitBytes: 2).representation)
    #expect(one == ObjectDecoder.gunzipped(limitBytes: 1).representation)
    #expect(one != ObjectDecoder<Data>.data.representation)
  }

  @Test func `a large body is read from its file piece by piece, and never mapped`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    let bytes = Array(body(3 << 20))
    let packed = gzipped(bytes, level: 1)
    #expect(packed.count > 2 << 20)
    try cache.put(key("x"), Data(packed))
    let lease = try #require(try cache.lookUp(key("x")))
    let loaded = Loaded(id: ObjectID("x"), head: LoadHead(), source: .file, body: .lease(lease))
    _ = folder.files.takeCalls()
    #expect(Array(try ObjectDecoder.gunzipped(limitBytes: 4 << 20).decode(loaded)) == bytes)
    let calls = folder.files.takeCalls()
    #expect(calls[.map] == nil && calls[.read] == (packed.count + (256 << 10) - 1) / (256 << 10))
    folder.files.fail(.read, with: .readFailed)
    #expect(throws: ObjectError.self) { try ObjectDecoder.gunzipped(limitBytes: 4 << 20).decode(loaded) }
  }

  @Test func `pieces are the whole body, from memory, from files of every kind, and from backends that only have all`()
    throws
  {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    for count in [0, 1, 10_000, 256 << 10, 300_000, (1 << 20) + 1] {
      let bytes = body(count)
      try cache.put(key("x"), bytes)
      let lease = try #require(try cache.lookUp(key("x")))
      let slice = (Data([9]) + bytes).dropFirst()
      let plain = try MemoryBackend().put(key("x"), bytes)
      for body in [Loaded.Body.memory(bytes), .memory(slice), .lease(lease), .lease(plain)] {
        var pieces: [Int] = []
        var all = Data()
        try Loaded(id: ObjectID("x"), head: LoadHead(), source: .file, body: body).forEachPiece {
          pieces.append($0.byteCount)
          all.append($0)
        }
        #expect(all == bytes)
        #expect(pieces.allSatisfy { $0 > 0 && $0 <= 256 << 10 })
      }
    }
  }
}
