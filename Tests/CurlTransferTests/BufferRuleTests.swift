import Testing

@testable import CurlTransfer

@Suite struct BufferRuleTests {
  private func bytes(after last: Int?) -> Int { BufferRule.bytes(lastBody: last) }

  @Test func `small bodies are received into little room, large ones into much`() {
    #expect(bytes(after: nil) == 512 << 10)
    #expect(bytes(after: 0) == 48 << 10 && bytes(after: 16 << 10) == 48 << 10)
    #expect(bytes(after: 48 << 10) == 128 << 10 && bytes(after: 1 << 20) == 128 << 10)
    #expect(bytes(after: 8 << 20) == 512 << 10 && bytes(after: .max) == 512 << 10)
  }

  @Test func `room for a small body is less than what the C library gives back to the system at once`() {
    #expect(bytes(after: 100) < 64 << 10)
  }
}
