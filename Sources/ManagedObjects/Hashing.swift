internal import CCrypto
internal import CXXHash

/// 32 bytes of SHA-256 (FIPS 180-4).
public struct SHA256Digest: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Looked up once: `SHA256()` does it each time, which takes twice as long as hashing a URL (EVP_MD_fetch(3)).
  // Sound: never changed, and a fetched algorithm may be used from any thread (openssl-threads(7)).
  private nonisolated(unsafe) static let algorithm = unsafe EVP_MD_fetch(nil, "SHA256", nil) ?? EVP_sha256()

  public init(of bytes: [UInt8]) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    // Sound: SHA-256 writes exactly 32 bytes, the size of `words`.
    unsafe withUnsafeMutableBytes(of: &words) { out in
      _ = unsafe EVP_Digest(
        bytes, bytes.count, out.baseAddress?.assumingMemoryBound(to: UInt8.self), nil, Self.algorithm, nil)
    }
    self.words = words
  }

  /// HMAC-SHA-256 (RFC 2104), for values that must not be guessed from their digest.
  public init(of bytes: [UInt8], key: [UInt8]) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    // Sound: HMAC with SHA-256 writes exactly 32 bytes.
    unsafe withUnsafeMutableBytes(of: &words) { out in
      _ = unsafe HMAC(
        unsafe EVP_sha256(), key, Int32(key.count), bytes, bytes.count,
        out.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)
    }
    self.words = words
  }

  /// The first byte: chooses a shard.
  public var firstByte: UInt8 { UInt8(truncatingIfNeeded: words.0) }

  /// The first 16 bytes as two big-endian numbers, whose hexadecimal digits are the first 32 of `hex`: a file's name.
  package var leadingWords: (UInt64, UInt64) { (words.0.bigEndian, words.1.bigEndian) }

  public var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
  }

  /// 64 lower-case hexadecimal digits.
  public var hex: String { hexadecimal(bytes) }

  public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// Lower-case hexadecimal digits by a table: `String(format:)` takes seventy times as long.
package func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
  let digits: [UInt8] = Array("0123456789abcdef".utf8)
  return unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { out in
    var at = 0
    for byte in bytes {
      unsafe out[at] = digits[Int(byte >> 4)]
      unsafe out[at + 1] = digits[Int(byte & 15)]
      at += 2
    }
    return at
  }
}

/// A hash for tables in memory: XXH3-64 under a seed that is drawn anew in each process and never leaves it, so that nobody
/// outside can choose texts that collide. It takes an eighth of the time that `Hasher` takes for a URL.
package enum TableHash {
  private static let seed = UInt64.random(in: .min ... .max)

  /// The same for texts that are equal. Those that are not ASCII may be equal without being the same bytes, and go the
  /// way of the standard library.
  package static func of(_ text: String) -> UInt64 { of(text, behind: seed) }

  /// Of a text that follows on what has this hash.
  package static func of(_ text: String, behind hash: UInt64) -> UInt64 {
    var utf8 = text.utf8Span
    guard utf8.checkForASCII() else { return hash ^ UInt64(truncatingIfNeeded: text.hashValue) }
    return unsafe utf8.span.withUnsafeBytes { unsafe mo_xxh3_seeded($0.baseAddress, $0.count, hash) }
  }
}

/// XXH3-64 of bytes that come in pieces (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md). Finds damage, not malice.
///
/// Sound: the state is allocated and freed by this object alone, and used under `Sendable`'s usual rule that one
/// thread at a time has it (its owners are writers and readers of one entry).
@safe package final class StreamingChecksum {
  private let state: OpaquePointer?

  package init() {
    unsafe state = XXH3_createState()
    unsafe XXH3_64bits_reset(state)
  }

  deinit { unsafe XXH3_freeState(state) }

  package func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe mo_xxh3_update(state, $0.baseAddress, $0.count) }
  }

  package var value: UInt64 { unsafe XXH3_64bits_digest(state) }

  /// Of bytes that are all here.
  package static func of(_ bytes: RawSpan) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe mo_xxh3($0.baseAddress, $0.count) }
  }
}
