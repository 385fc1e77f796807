/// Endless bytes that anybody can compute at any offset: large bodies that nobody has to keep.
///
/// Eight bytes at a time are the finaliser of SplitMix64 over their position, so no two stretches are alike and gzip
/// gains nothing.
package struct Pattern: Hashable, Sendable {
  private let seed: UInt64

  package init(seed: Int = 0) { self.seed = UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15 }

  package func bytes(_ range: Range<Int>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: range.count) { out, count in
      var word = self.word(range.lowerBound / 8)
      for at in range {
        if at % 8 == 0 { word = self.word(at / 8) }
        out[at - range.lowerBound] = UInt8(truncatingIfNeeded: word >> UInt64(at % 8 * 8))
      }
      count = range.count
    }
  }

  package func bytes(_ count: Int) -> [UInt8] { bytes(0..<count) }

  private func word(_ index: Int) -> UInt64 {
    var word = UInt64(truncatingIfNeeded: index) &+ seed
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
