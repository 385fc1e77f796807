internal import Glibc

/// Numbers and texts in bytes that were read or mapped, as `EntryFormat` finds them; all are little-endian and stand at
/// any offset. Every look-up takes some twenty of them, so each is one load.
extension RawSpan {
  // Sound: the loads check that they stay inside the span, and any bits are a number.
  func byte(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// 32 bits as a number that is not negative.
  func count(at offset: Int) -> Int {
    Int(UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  func number(at offset: Int) -> UInt64 {
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Milliseconds since 1970.
  func time(at offset: Int) -> WallTime { WallTime(milliseconds: Int64(bitPattern: number(at: offset))) }

  /// Where the first byte below 0x0E stands from there on: the end of a line, or what may not be in one, or a tab. The
  /// end of the span where there is none. Eight bytes a step ("hasless" of Sean Anderson, "Bit Twiddling Hacks").
  func firstControl(from start: Int) -> Int {
    var at = start
    while at &+ 8 <= byteCount {
      let eight = number(at: at)
      let found = (eight &- 0x0E0E_0E0E_0E0E_0E0E) & ~eight & 0x8080_8080_8080_8080
      if found != 0 { return at &+ found.trailingZeroBitCount / 8 }
      at &+= 8
    }
    while at < byteCount, byte(at: at) >= 0x0E { at &+= 1 }
    return at
  }

  /// Where the next line feed stands; the end of the span where there is none.
  func endOfLine(from start: Int) -> Int {
    var at = firstControl(from: start)
    while at < byteCount, byte(at: at) != 0x0A { at = firstControl(from: at &+ 1) }
    return at
  }

  /// What is no UTF-8 becomes U+FFFD.
  func text(_ range: Range<Int>) -> String {
    if range.isEmpty { return "" }
    return unsafe extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Byte for byte; `==` of String would take canonically equivalent texts for the same.
  func equals(_ text: String, _ range: Range<Int>) -> Bool {
    // Most texts of a key are empty, and most keys are told apart by their lengths.
    guard text.utf8.count == range.count else { return false }
    if range.isEmpty { return true }
    let theirs = unsafe text.utf8Span.span.bytes
    return unsafe extracting(range).withUnsafeBytes { ours in
      unsafe theirs.withUnsafeBytes { theirs in
        guard let ours = ours.baseAddress, let theirs = theirs.baseAddress else { return false }
        // Sound: both have so many bytes.
        return unsafe memcmp(ours, theirs, range.count) == 0
      }
    }
  }
}

extension [UInt8] {
  mutating func append(count: Int) {
    // Sound: the bytes are used during the call only.
    unsafe Swift.withUnsafeBytes(of: UInt32(truncatingIfNeeded: count).littleEndian) { unsafe append(contentsOf: $0) }
  }

  mutating func append(number: UInt64) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }

  mutating func set(number: UInt64, at offset: Int) {
    for place in 0..<8 { self[offset + place] = UInt8(truncatingIfNeeded: number >> UInt64(8 * place)) }
  }
}
