package import FoundationEssentials
internal import Glibc

/// Bytes outside Swift's own memory: read into a buffer, or mapped from a file. Freed with the last reference, so a
/// `Data` made of them needs no copy and outlives the entry, the lease and the file's name.
///
/// Sound although unchecked: the address never changes, the memory is freed only in `deinit`, and after `init` nobody
/// writes to it but `SharedCounters`, by atomic instructions.
@safe package final class HeldBytes: @unchecked Sendable {
  private let start: UnsafeMutableRawPointer
  package let count: Int
  /// What has to be given back to the system: 0 where the memory came from malloc.
  private let mappedCount: Int

  /// Memory that `fill` writes: it is given room for `capacity` bytes and tells how many it wrote.
  init(capacity: Int, _ fill: (UnsafeMutableRawPointer) throws(FileFault) -> Int) throws(FileFault) {
    // Not `allocate`, which takes the slow way of memory with an alignment.
    guard let start = unsafe malloc(max(1, capacity)) else { throw FileFault.last }
    do throws(FileFault) {
      count = try unsafe fill(start)
    } catch {
      unsafe free(start)
      throw error
    }
    unsafe self.start = start
    mappedCount = 0
  }

  /// Takes over a mapping made by mmap.
  init(mapped start: UnsafeMutableRawPointer, count: Int) {
    unsafe self.start = start
    self.count = count
    mappedCount = count
  }

  deinit {
    if mappedCount > 0 { unsafe munmap(start, mappedCount) } else { unsafe free(start) }
  }

  /// Zeros, as a stand-in for a mapping.
  static func zeros(_ count: Int) -> HeldBytes {
    guard let start = unsafe calloc(max(1, count), 1) else { preconditionFailure("There is no memory left.") }
    return unsafe HeldBytes(allocated: start, count: count)
  }

  private init(allocated start: UnsafeMutableRawPointer, count: Int) {
    unsafe self.start = start
    self.count = count
    mappedCount = 0
  }

  package func withBytes<Result, Failure: Error>(
    _ read: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Sound: the span cannot leave `read`, and self lives as long as that runs.
    let bytes = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(start), byteCount: count)
    return try read(bytes)
  }

  /// To copy so much takes less time than to tell `Data` how to let go of memory that is not its own.
  private static let limitCopied = 4 << 10

  /// These bytes; more than a few without a copy, and these keep all of the memory.
  package func data(_ range: Range<Int>) -> Data {
    guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= count else { return Data() }
    if range.count <= Self.limitCopied { return unsafe Data(bytes: start + range.lowerBound, count: range.count) }
    // Sound: the closure holds self until the last Data of this memory is gone.
    return unsafe Data(
      bytesNoCopy: start + range.lowerBound, count: range.count,
      deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
  }

  /// The same memory as 64-bit numbers, for `SharedCounters` alone.
  var words: UnsafeMutablePointer<Int64> { unsafe start.assumingMemoryBound(to: Int64.self) }
}

extension [UInt8] {
  package mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  /// The bytes of this array as a span; bytes have no padding, so it is sound.
  package func withRawSpan<Result, Failure: Error>(
    _ use: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try use(unsafe span.bytes)
  }

  package init(_ bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }
}

extension Data {
  package mutating func append(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}
