import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct HashingTests {
  /// The examples of FIPS 180-4 (https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values).
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `SHA-256 gives the published digests`(text: String, hex: String) {
    #expect(SHA256Digest(of: Array(text.utf8)).hex == hex)
  }

  @Test func `equal texts have one hash in a table, others have others`() {
    // The same letter, as one character and as two.
    #expect(TableHash.of("caf\u{E9}") == TableHash.of("cafe\u{301}"))
    var built = "caf\u{E9}!"
    built.removeLast(2)
    #expect(TableHash.of(built + "e") == TableHash.of("cafe"))
    let texts = (0..<1000).map { "https://example.com/\($0)" } + ["", "a", String(repeating: "a", count: 300)]
    #expect(Set(texts.map { TableHash.of($0) }).count == texts.count)
    #expect(TableHash.of("b", behind: TableHash.of("a")) != TableHash.of("a", behind: TableHash.of("b")))
  }

  @Test func `SHA-256 of a million a is the published one`() {
    #expect(
      SHA256Digest(of: [UInt8](repeating: 0x61, count: 1_000_000)).hex
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  /// RFC 4231, test cases 1, 2, 3 and 6.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func `HMAC-SHA-256 gives the published digests`(key: [UInt8], bytes: [UInt8], hex: String) {
    #expect(SHA256Digest(of: bytes, key: key).hex == hex)
  }

  @Test func `HMAC takes an empty key and no bytes`() {
    #expect(
      SHA256Digest(of: [], key: []).hex == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test func `a digest's parts are those of its hexadecimal form`() {
    let digest = SHA256Digest(of: Array("abc".utf8))
    #expect(digest.bytes.count == 32 && hexadecimal(digest.bytes) == digest.hex)
    #expect(digest.firstByte == 0xBA)
    let leading = String(digest.leadingWords.0, radix: 16) + String(digest.leadingWords.1, radix: 16)
    #expect(digest.hex.hasPrefix(leading))
    #expect(digest == SHA256Digest(of: Array("abc".utf8)) && digest != SHA256Digest(of: Array("abd".utf8)))
  }

  @Test func `hexadecimal digits are two a byte, in lower case`() {
    #expect(hexadecimal([0x00, 0x0F, 0xF0, 0xAB]) == "000ff0ab" && hexadecimal([UInt8]()) == "")
  }

  /// XXH3_64bits of nothing, seed 0 (xxHash, tests/sanity_test_vectors.h).
  @Test func `XXH3 of nothing is the published one`() {
    #expect(StreamingChecksum().value == 0x2D06_8005_38D3_94C2)
    #expect(StreamingChecksum.of(Data().bytes) == 0x2D06_8005_38D3_94C2)
  }

  @Test func `a checksum does not depend on how the bytes came`() {
    let bytes = Pattern().bytes(5000)
    let whole = StreamingChecksum.of(Data(bytes).bytes)
    for size in [1, 7, 64, 240, 241, 1024, 4999] {
      let checksum = StreamingChecksum()
      for start in stride(from: 0, to: bytes.count, by: size) {
        checksum.update(Data(bytes[start..<min(start + size, bytes.count)]).bytes)
      }
      #expect(checksum.value == whole, "in pieces of \(size)")
    }
    #expect(StreamingChecksum.of(Data(bytes.dropLast()).bytes) != whole)
  }
}
