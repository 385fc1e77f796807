internal import CZlib

/// Undoes the content codings of a body while it arrives, through a buffer of fixed size (RFC 9110 section 8.4.1):
///
///     gzip       RFC 1952, several members one after another; zeros behind the last are padding, other bytes are damage
///     deflate    RFC 1950; also the bare RFC 1951 that many a server sends under this name, told by the first two bytes
///
/// Fails rather than give a body that is not whole: what was given before the failure must not be kept. Knows no ratio
/// that would be suspicious, since honest bodies shrink to a hundredth; `limit` bounds what comes out. Packings inside
/// packings that hold next to nothing would make work without anything coming out: they are damage.
///
/// Sound although unchecked: the stages are reached through this one noncopyable value only, and zlib's streams may be
/// used from any thread, one at a time (https://zlib.net/zlib_faq.html, 21).
package struct Inflater: ~Copyable, @unchecked Sendable {
  package enum Coding: Hashable, Sendable { case gzip, deflate }

  /// What a packed form may be longer than what it holds is little, even where it was flushed at every line. A stage
  /// that feeds another gives at most twice what comes out in the end, and this.
  private static let slackBytes = 1 << 20

  /// In the order in which they are undone.
  private let stages: [Stage]
  /// Bytes that each stage has made.
  private var made: [Int]
  /// Bytes given so far.
  private var given = 0

  package init(coding: Coding) { self.init(codings: [coding]) }

  /// - Parameter codings: in the order in which they were applied, as in the field.
  package init(codings: [Coding]) {
    stages = codings.reversed().map(Stage.init)
    made = Array(repeating: 0, count: stages.count)
  }

  /// The codings of a response, in the order in which they were applied; "identity" is none. nil: one is unknown, so
  /// that the body is left as it is; so are more than five, which only an attacker would nest.
  package static func codings(of head: LoadHead) -> [Coding]? {
    guard let list = head.fields.list(of: "Content-Encoding") else { return [] }
    var codings: [Coding] = []
    for member in list.utf8.split(separator: UInt8(ascii: ",")) {
      switch lowerText(trimmed(Array(member)[...])) {
      case "", "identity": continue
      case "gzip", "x-gzip": codings.append(.gzip)
      case "deflate": codings.append(.deflate)
      default: return nil
      }
    }
    return codings.count <= 5 ? codings : nil
  }

  /// Takes the next bytes of the body; `output` gets what they make, in pieces of at most 64 KiB.
  /// - Parameter limit: bytes in all that may come out; nil: any number.
  /// - Throws: `.tooLarge` before more than `limit` bytes are given, `.transport` for damage, and what `output` throws.
  package mutating func inflate(
    _ input: RawSpan, limit: Int?, _ output: (RawSpan) throws(ObjectError) -> Void
  ) throws(ObjectError) {
    try run(0, input, limit, output)
  }

  /// The body has ended.
  /// - Throws: `.wrongLength` when it was cut. No bytes at all are an empty body.
  package mutating func finish() throws(ObjectError) {
    for stage in stages where !stage.isComplete {
      throw ObjectError(.wrongLength, "The compressed body is damaged or cut: it ends before its last block.")
    }
  }

  private mutating func run(
    _ index: Int, _ input: RawSpan, _ limit: Int?, _ output: (RawSpan) throws(ObjectError) -> Void
  ) throws(ObjectError) {
    guard index < stages.count else { return try give(input, limit, output) }
    try stages[index].inflate(input) { (bytes) throws(ObjectError) in
      made[index] += bytes.byteCount
      if index + 1 < stages.count, made[index] / 2 > given + Self.slackBytes / 2 {
        throw ObjectError(.transport, "The compressed body is damaged: it holds packings, and next to nothing in them.")
      }
      try run(index + 1, bytes, limit, output)
    }
  }

  private mutating func give(
    _ bytes: RawSpan, _ limit: Int?, _ output: (RawSpan) throws(ObjectError) -> Void
  ) throws(ObjectError) {
    if let limit, given > limit - bytes.byteCount {
      throw ObjectError(.tooLarge, "The body is larger than \(limit) bytes after decompression.")
    }
    given += bytes.byteCount
    try output(bytes)
  }
}

/// One coding being undone.
///
/// Sound: it owns the stream and the buffer, frees them in deinit, and gives zlib pointers only to them and, during one
/// call, to that call's input. The stream has an address of its own since zlib keeps a pointer to it.
@safe private final class Stage {
  private enum State {
    /// Too few bytes yet to know what it is; at most one is held back.
    case new(held: UInt8?)
    case running
    /// Behind a whole member or stream.
    case ended
    /// Only zeros may follow.
    case padding
    case failed
  }

  private static var bufferBytes: Int { 64 << 10 }

  private let coding: Inflater.Coding
  private var state = State.new(held: nil)
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var isStreamOpen = false
  private let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: Stage.bufferBytes)

  init(_ coding: Inflater.Coding) {
    self.coding = coding
    unsafe stream.initialize(to: z_stream())
  }

  deinit {
    if isStreamOpen { _ = unsafe inflateEnd(stream) }
    unsafe stream.deallocate()
    unsafe buffer.deallocate()
  }

  /// Whether the body may end here.
  var isComplete: Bool {
    switch state {
    case .new(let held): held == nil
    case .ended, .padding: true
    case .running, .failed: false
    }
  }

  func inflate(_ input: RawSpan, _ output: (RawSpan) throws(ObjectError) -> Void) throws(ObjectError) {
    do throws(ObjectError) {
      try unsafe input.withUnsafeBytes { (bytes) throws(ObjectError) in
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty { unsafe try step(&rest, output) }
      }
    } catch {
      state = .failed
      throw error
    }
  }

  /// Takes at least one byte of `rest`, or changes the state.
  private func step(
    _ rest: inout Slice<UnsafeRawBufferPointer>, _ output: (RawSpan) throws(ObjectError) -> Void
  ) throws(ObjectError) {
    switch state {
    case .new(let held): unsafe try begin(held, &rest, output)
    case .running: unsafe try inflateSome(&rest, output)
    case .ended:
      if coding == .gzip, unsafe rest.first == 0x1F {
        guard unsafe inflateReset(stream) == Z_OK else { throw damage() }
        state = .running
      } else {
        state = .padding
      }
    case .padding:
      guard unsafe rest.allSatisfy({ $0 == 0 }) else { throw damage() }
      unsafe rest = rest[rest.endIndex...]
    case .failed: throw damage()
    }
  }

  /// Opens the stream once its kind is known: the first two bytes of RFC 1950 are a multiple of 31 that names deflate.
  private func begin(
    _ held: UInt8?, _ rest: inout Slice<UnsafeRawBufferPointer>, _ output: (RawSpan) throws(ObjectError) -> Void
  ) throws(ObjectError) {
    guard coding == .deflate else { return try open(windowBits: MAX_WBITS + 16) }
    guard let first = held else {
      state = .new(held: unsafe rest.removeFirst())
      return
    }
    guard let second = unsafe rest.first else { return }
    let isWrapped = first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
    try open(windowBits: isWrapped ? MAX_WBITS : -MAX_WBITS)
    let one = [first]
    try unsafe one.span.bytes.withUnsafeBytes { (bytes) throws(ObjectError) in
      var start = unsafe bytes[...]
      unsafe try inflateSome(&start, output)
    }
  }

  private func open(windowBits: Int32) throws(ObjectError) {
    guard unsafe mo_inflateInit2(stream, windowBits) == Z_OK else {
      throw ObjectError(.transport, "The compressed body could not be read: zlib has no memory.")
    }
    isStreamOpen = true
    state = .running
  }

  /// Until the input is used up or the stream ends.
  private func inflateSome(
    _ rest: inout Slice<UnsafeRawBufferPointer>, _ output: (RawSpan) throws(ObjectError) -> Void
  ) throws(ObjectError) {
    let count = min(unsafe rest.count, Int(UInt32.max))
    let start = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress?.assumingMemoryBound(to: UInt8.self)
    unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: start)
    unsafe stream.pointee.avail_in = UInt32(count)
    var isFull = false
    repeat {
      unsafe stream.pointee.next_out = unsafe buffer
      unsafe stream.pointee.avail_out = UInt32(Self.bufferBytes)
      let result = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
      // Z_BUF_ERROR: nothing more to do without more input.
      guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else { throw damage() }
      if result == Z_STREAM_END { state = .ended }
      let made = Self.bufferBytes - Int(unsafe stream.pointee.avail_out)
      isFull = unsafe stream.pointee.avail_out == 0 && result == Z_OK
      if made > 0 { try output(unsafe RawSpan(_unsafeStart: buffer, byteCount: made)) }
    } while isFull
    unsafe rest = rest.dropFirst(count - Int(stream.pointee.avail_in))
  }

  private func damage() -> ObjectError {
    ObjectError(.transport, "The compressed body is damaged or cut.")
  }
}
