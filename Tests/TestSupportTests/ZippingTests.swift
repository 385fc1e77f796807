import TestSupport
import Testing

@Suite struct ZippingTests {
  @Test func `each wrapping begins as its format says`() {
    let bytes = [UInt8](repeating: 7, count: 10_000)
    #expect(gzipped(bytes).prefix(3) == [0x1F, 0x8B, 8])
    #expect(deflated(bytes).first == 0x78)
    #expect(deflated(bytes).count == deflatedRaw(bytes).count + 6)
    #expect(gzipped(bytes).count < 100)
  }

  @Test func `gzip ends with the length, also of nothing and of what cannot be packed`() {
    for count in [0, 1, 100_000] {
      let packed = gzipped(Pattern().bytes(count))
      let length = packed.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      #expect(length == count)
    }
  }
}

@Suite struct PatternTests {
  @Test func `any stretch is the same however it is cut`() {
    let whole = Pattern(seed: 1).bytes(100)
    for start in 0..<20 { #expect(Pattern(seed: 1).bytes(start..<60) == Array(whole[start..<60])) }
    #expect(Pattern(seed: 2).bytes(100) != whole)
    #expect(Pattern(seed: 1).bytes(0) == [])
  }
}
