/// Puts the header lines that libcurl hands over, one a call, together to blocks.
///
/// A block begins at each status line, so that 1xx responses are blocks of their own, and ends at its empty line.
/// What comes after the final head are trailers (RFC 9110 section 6.5): they are dropped, even where they look like a
/// status line. All blocks and the trailers together are bounded, so that endless 1xx responses end too, and trailers,
/// which libcurl keeps.
struct HeadCollector {
  enum Step: Equatable {
    case more
    /// A block is whole: `takeBlock` gives it.
    case end
    case tooLarge
  }

  private let limitBytes: Int
  private var block: [UInt8] = []
  private var total = 0
  /// True from the end of the first block whose status is not 1xx.
  private(set) var isFinal = false
  /// Not a byte of a response has come.
  var isEmpty: Bool { total == 0 }

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  mutating func take(_ line: RawSpan) -> Step {
    total += line.byteCount
    guard total <= limitBytes else { return .tooLarge }
    if isFinal { return .more }
    if Self.isStatusLine(line) { begin() }
    unsafe line.withUnsafeBytes { unsafe block.append(contentsOf: $0) }
    return Self.isEmptyLine(line) ? .end : .more
  }

  /// The block that has ended, its empty line included.
  /// - Parameter status: of it, as libcurl read it.
  mutating func takeBlock(status: Int) -> [UInt8] {
    isFinal = !(100...199).contains(status)
    defer { block = [] }
    return block
  }

  private mutating func begin() {
    block.removeAll(keepingCapacity: true)
    block.reserveCapacity(512)
  }

  /// `HTTP/`; no field's name begins like that, since "/" is in no token.
  private static func isStatusLine(_ line: RawSpan) -> Bool {
    guard line.byteCount >= 5, byte(line, 0) == 0x48, byte(line, 4) == 0x2F else { return false }
    return byte(line, 1) == 0x54 && byte(line, 2) == 0x54 && byte(line, 3) == 0x50
  }

  /// CR LF or a bare LF.
  private static func isEmptyLine(_ line: RawSpan) -> Bool {
    switch line.byteCount {
    case 1: byte(line, 0) == 0x0A
    case 2: byte(line, 0) == 0x0D && byte(line, 1) == 0x0A
    default: false
    }
  }

  private static func byte(_ line: RawSpan, _ index: Int) -> UInt8 {
    unsafe line.withUnsafeBytes { unsafe $0[index] }
  }
}
