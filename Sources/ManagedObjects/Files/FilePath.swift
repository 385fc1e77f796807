/// A path as the system wants it: bytes, ended by a zero.
///
/// One is made for every look-up, so paths of up to 63 bytes, as all those of entries are, are spelled in place: no
/// memory is allocated for them.
package struct FilePath: Hashable, Sendable, CustomStringConvertible {
  private static let limit = 64

  /// Zeros behind `count` bytes; all of it where the path is a long one.
  private var short = InlineArray<64, UInt8>(repeating: 0)
  private var count = 0
  /// With its zero; nil: the path is in `short`.
  private var long: [UInt8]?

  init(_ text: String) {
    guard text.utf8.count < Self.limit else {
      long = Array(text.utf8) + [0]
      return
    }
    for byte in text.utf8 { append(byte) }
  }

  /// What `write` spells, fewer than 64 bytes. The longest path of an entry has three digits, a slash, 32 digits, a dot
  /// and 16 digits.
  init(spelling write: (inout FilePath) -> Void) { write(&self) }

  package var bytes: [UInt8] { long ?? (0...count).map { short[$0] } }
  package var description: String { String(decoding: bytes.dropLast(), as: UTF8.self) }

  package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// The bytes with the zero, where they are, and whatever follows them.
  func withBytes<Result>(_ use: (Span<UInt8>) -> Result) -> Result {
    if let long { return use(long.span) }
    return use(short.span)
  }

  // MARK: Spelling

  mutating func append(_ byte: UInt8) {
    precondition(count + 1 < Self.limit, "a path that is spelled in place is short")
    short[count] = byte
    count += 1
  }

  /// The lowest `digits` hexadecimal digits of a number.
  mutating func append(hexadecimal number: Int, digits: Int) {
    for place in (0..<digits).reversed() {
      let digit = UInt8(truncatingIfNeeded: number >> (4 * place)) & 15
      append(digit < 10 ? 0x30 + digit : 0x57 + digit)
    }
  }

  /// Sixteen hexadecimal digits.
  mutating func append(hexadecimal number: UInt64) {
    appendDigits(of: UInt32(truncatingIfNeeded: number >> 32))
    appendDigits(of: UInt32(truncatingIfNeeded: number))
  }

  /// All eight digits at once, in the bytes of one number; digit by digit they took a tenth of a look-up.
  private mutating func appendDigits(of number: UInt32) {
    precondition(count + 8 < Self.limit, "a path that is spelled in place is short")
    var each = UInt64(number)
    each = (each | each << 16) & 0x0000_FFFF_0000_FFFF
    each = (each | each << 8) & 0x00FF_00FF_00FF_00FF
    each = (each | each << 4) & 0x0F0F_0F0F_0F0F_0F0F
    // One where the digit is a letter: six more than nine carries into the next four bits.
    let letters = (each &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    // The first digit stands in the highest byte, and has to be first in memory.
    let digits = (each &+ 0x3030_3030_3030_3030 &+ letters &* 0x27).bigEndian
    let place = count
    var span = short.mutableSpan
    var bytes = unsafe span.mutableBytes
    bytes.storeBytes(of: digits, toByteOffset: place, as: UInt64.self)
    count += 8
  }
}
