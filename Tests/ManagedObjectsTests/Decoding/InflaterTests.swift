import CZlib
import Testing

@testable import ManagedObjects

/// What zlib makes of bytes, with this window size: 31 for gzip, 15 for zlib, -15 for bare deflate.
private func packed(_ bytes: [UInt8], windowBits: Int32 = 31, level: Int32 = 6) -> [UInt8] {
  var stream = z_stream()
  mo_deflateInit2(&stream, level, windowBits)
  defer { deflateEnd(&stream) }
  var input = bytes
  var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 100)
  let count = input.withUnsafeMutableBufferPointer { source in
    output.withUnsafeMutableBufferPointer { target in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      stream.next_out = target.baseAddress
      stream.avail_out = UInt32(target.count)
      deflate(&stream, Z_FINISH)
      return target.count - Int(stream.avail_out)
    }
  }
  return Array(output.prefix(count))
}

/// The body that comes out, when it arrives in pieces of that many bytes.
private func unpacked(
  _ bytes: [UInt8], _ codings: [Inflater.Coding] = [.gzip], pieces: Int = .max, limit: Int? = nil
) throws(ObjectError) -> [UInt8] {
  var inflater = Inflater(codings: codings)
  var body: [UInt8] = []
  var rest = bytes[...]
  while !rest.isEmpty {
    let piece = Array(rest.prefix(pieces))
    rest = rest.dropFirst(pieces)
    try inflater.inflate(piece.span.bytes, limit: limit) { (bytes) throws(ObjectError) in
      for index in 0..<bytes.byteCount { body.append(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
    }
  }
  try inflater.finish()
  return body
}

private func code(_ bytes: [UInt8], _ codings: [Inflater.Coding] = [.gzip], limit: Int? = nil) -> ObjectError.Code? {
  do throws(ObjectError) {
    _ = try unpacked(bytes, codings, limit: limit)
    return nil
  } catch {
    return error.code
  }
}

private let text = Array(String(repeating: "All work and no play makes Jack a dull boy. ", count: 400).utf8)

@Suite struct InflaterTests {
  @Test(arguments: [1, 2, 3, 7, 1000, Int.max])
  func `a body comes out whole, however it arrives`(pieces: Int) throws {
    #expect(try unpacked(packed(text), pieces: pieces) == text)
    #expect(try unpacked(packed(text, windowBits: 15), [.deflate], pieces: pieces) == text)
    #expect(try unpacked(packed(text, windowBits: -15), [.deflate], pieces: pieces) == text)
  }

  @Test func `bodies around the size of the buffer come out whole`() throws {
    for count in [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000] {
      let noise = (0..<count).map { _ in UInt8.random(in: 0...255) }
      let zeros = [UInt8](repeating: 0, count: count)
      for body in [noise, zeros] {
        for level in [Int32(0), 9] {
          #expect(try unpacked(packed(body, level: level)) == body)
          #expect(try unpacked(packed(body, windowBits: -15, level: level), [.deflate], pieces: 999) == body)
        }
      }
    }
  }

  @Test func `no bytes at all are an empty body`() throws {
    for coding in [Inflater.Coding.gzip, .deflate] { #expect(try unpacked([], [coding]) == []) }
    #expect(try unpacked([], [.gzip, .deflate]) == [])
  }

  @Test(arguments: [1, 5, Int.max])
  func `several gzip members are one body`(pieces: Int) throws {
    #expect(try unpacked(packed(text) + packed([]) + packed([1, 2]), pieces: pieces) == text + [1, 2])
  }

  @Test(arguments: [1, Int.max])
  func `zeros behind the end are padding, other bytes are damage`(pieces: Int) throws {
    #expect(try unpacked(packed(text) + [0, 0, 0], pieces: pieces) == text)
    #expect(try unpacked(packed(text, windowBits: 15) + [0], [.deflate], pieces: pieces) == text)
    for rubbish: [UInt8] in [[1], [0, 1], [0, 0x1F, 0x8B], [0x1F, 0x8C], Array("<html>".utf8)] {
      #expect(throws: ObjectError.self) { try unpacked(packed(text) + rubbish, pieces: pieces) }
    }
    #expect(throws: ObjectError.self) {
      try unpacked(packed(text, windowBits: 15) + [0x1F], [.deflate], pieces: pieces)
    }
  }

  @Test func `a stream that is cut anywhere is no body`() {
    for (windowBits, coding) in [(Int32(31), Inflater.Coding.gzip), (15, .deflate), (-15, .deflate)] {
      let whole = packed(Array(text.prefix(300)), windowBits: windowBits)
      for count in 1..<whole.count {
        #expect(code(Array(whole.prefix(count)), [coding]) == .wrongLength, "\(coding) cut at \(count)")
      }
    }
    #expect(code(packed(text) + packed(text).prefix(5)) == .wrongLength)
  }

  @Test func `damage is told as damage`() throws {
    var bytes = packed(text)
    bytes[bytes.count - 5] ^= 1  // the checksum
    #expect(code(bytes) == .transport)
    #expect(code(Array("<html>no gzip</html>".utf8)) == .transport)
    #expect(code([0xFF, 0xFF, 0xFF], [.deflate]) == .transport)
    let error = #expect(throws: ObjectError.self) { try unpacked(bytes) }
    #expect(error?.message.contains("compressed body is damaged or cut") == true)
  }

  @Test func `after a failure nothing more is taken`() throws {
    var inflater = Inflater(coding: .gzip)
    let (bad, good) = ([UInt8](repeating: 7, count: 20), packed(text))
    for bytes in [bad, good] {
      do throws(ObjectError) {
        try inflater.inflate(bytes.span.bytes, limit: nil) { (_) throws(ObjectError) in Issue.record("gave bytes") }
        Issue.record("took bytes")
      } catch {
        #expect(error.code == .transport)
      }
    }
    do throws(ObjectError) {
      try inflater.finish()
      Issue.record("finished")
    } catch {}
  }

  @Test func `never more comes out than the limit`() throws {
    let body = [UInt8](repeating: 0, count: 1_000_000)
    #expect(try unpacked(packed(body), limit: 1_000_000).count == 1_000_000)
    #expect(code(packed(body), limit: 999_999) == .tooLarge)
    #expect(code(packed([1]), limit: 0) == .tooLarge)
    #expect(code(packed([]), limit: 0) == nil)
    var inflater = Inflater(coding: .gzip)
    var given = 0
    let bomb = packed(body)
    do throws(ObjectError) {
      try inflater.inflate(bomb.span.bytes, limit: 100_000) { (bytes) throws(ObjectError) in given += bytes.byteCount }
      Issue.record("no limit")
    } catch {
      #expect(error.code == .tooLarge)
    }
    #expect(given <= 100_000)
  }

  @Test func `an honest body that shrinks two hundred to one passes`() throws {
    let body = Array(String(repeating: "{\"id\":1,\"name\":\"x\"},", count: 100_000).utf8)
    let small = packed(body, level: 9)
    #expect(small.count * 200 < body.count)
    #expect(try unpacked(small) == body)
  }

  @Test(arguments: [1, 10, Int.max])
  func `codings are undone from the last to the first`(pieces: Int) throws {
    let twice = packed(packed(text), windowBits: 15)
    #expect(try unpacked(twice, [.gzip, .deflate], pieces: pieces) == text)
    #expect(code(twice, [.deflate, .gzip]) == .transport)
    #expect(code(packed(Array(packed(text).dropLast())), [.gzip, .gzip]) == .wrongLength)
  }

  @Test(arguments: 2...5)
  func `packings that hold nothing end the load, however deep`(depth: Int) throws {
    let empty = packed([])
    var bomb = [UInt8]((0..<(4 << 20) / empty.count).lazy.map { _ in empty }.joined())
    for _ in 1..<depth { bomb = packed(bomb, level: 9) }
    let codings = [Inflater.Coding](repeating: .gzip, count: depth)
    #expect(code(bomb, codings) == .transport)
  }

  @Test func `packings longer than what they hold pass, as long as they hold something`() throws {
    let lines = (0..<200_000).map { _ in UInt8.random(in: 0...255) }
    // Members of 100 bytes, stored: 23 bytes more for each.
    let members = stride(from: 0, to: lines.count, by: 100).flatMap { packed(Array(lines[$0..<($0 + 100)]), level: 0) }
    let noise = Array(repeating: members, count: 20).flatMap(\.self)
    #expect(noise.count > 20 * lines.count + 700_000)
    #expect(try unpacked(packed(noise), [.gzip, .gzip]).count == 20 * lines.count)
    // A little that holds nothing is no harm.
    #expect(try unpacked(packed((0..<1000).flatMap { _ in packed([]) }), [.gzip, .gzip]) == [])
  }

  @Test func `what the output throws comes through, and ends the body`() throws {
    var inflater = Inflater(codings: [.gzip, .gzip])
    let bytes = packed(packed(text))
    do throws(ObjectError) {
      try inflater.inflate(bytes.span.bytes, limit: nil) { (_) throws(ObjectError) in
        throw ObjectError(.cacheBroken, "")
      }
      Issue.record("nothing thrown")
    } catch {
      #expect(error.code == .cacheBroken)
    }
  }

  @Test(
    arguments: [
      ("", []), ("identity", []), ("gzip", [.gzip]), ("X-GZip", [.gzip]), ("deflate", [.deflate]),
      ("deflate, identity ,GZIP,", [.deflate, .gzip]), ("br", nil), ("gzip, br", nil), ("gzip;q=1", nil), ("zstd", nil),
      ("gzip,gzip,gzip,gzip,gzip,gzip", nil),
    ] as [(String, [Inflater.Coding]?)])
  func `the codings of a response are known ones, or it is left as it is`(value: String, codings: [Inflater.Coding]?) {
    #expect(Inflater.codings(of: LoadHead(fields: ["Content-Encoding": value])) == codings)
  }

  @Test func `no coding, and several fields, are read too`() {
    #expect(Inflater.codings(of: LoadHead()) == [])
    let fields: HeaderFields = ["Content-Encoding": "deflate", "content-encoding": "gzip"]
    #expect(Inflater.codings(of: LoadHead(fields: fields)) == [.deflate, .gzip])
  }

  @Test func `no bytes make it trap or give more than they should`() {
    for round in 0..<3000 {
      var bytes = packed(Array(text.prefix(500)), windowBits: [31, 15, -15][round % 3])
      for _ in 0..<Int.random(in: 1...4) { bytes[Int.random(in: 0..<bytes.count)] = UInt8.random(in: 0...255) }
      let coding = round % 3 == 0 ? Inflater.Coding.gzip : .deflate
      guard let body = try? unpacked(bytes, [coding], pieces: Int.random(in: 1...50), limit: 10_000) else { continue }
      #expect(body.count <= 10_000)
    }
  }
}
