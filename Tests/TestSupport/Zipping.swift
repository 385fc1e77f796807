internal import CZlib

/// As `Content-Encoding: gzip` (RFC 1952).
package func gzipped(_ bytes: [UInt8], level: Int32 = 6) -> [UInt8] { packed(bytes, level: level, windowBits: 15 + 16) }

/// As `Content-Encoding: deflate` should be: in a zlib wrapping (RFC 9110 section 8.4.1.2).
package func deflated(_ bytes: [UInt8], level: Int32 = 6) -> [UInt8] { packed(bytes, level: level, windowBits: 15) }

/// As `Content-Encoding: deflate` is sent by some: without a wrapping (RFC 1951).
package func deflatedRaw(_ bytes: [UInt8], level: Int32 = 6) -> [UInt8] { packed(bytes, level: level, windowBits: -15) }

private func packed(_ bytes: [UInt8], level: Int32, windowBits: Int32) -> [UInt8] {
  var stream = z_stream()
  guard mo_deflateInit2(&stream, level, windowBits) == Z_OK else { return [] }
  defer { deflateEnd(&stream) }
  let room = Int(deflateBound(&stream, UInt(bytes.count))) + 64
  var input = bytes
  return [UInt8](unsafeUninitializedCapacity: room) { out, count in
    input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(input.count)
      stream.next_out = out.baseAddress
      stream.avail_out = UInt32(room)
      deflate(&stream, Z_FINISH)
    }
    count = room - Int(stream.avail_out)
  }
}
