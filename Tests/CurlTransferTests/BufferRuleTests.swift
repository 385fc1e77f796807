import Testing

@testable import CurlTransfer

@Suite struct BufferRuleTests {
  private func bytes(after last: Int?, _ change: (inout TransferRequest) -> Void = { _ in }) -> Int {
    var request = TransferRequest(url: "", origin: TransferOrigin(scheme: "http", host: "h", port: 80))
    change(&request)
    return BufferRule.bytes(request, lastBody: last)
  }

  @Test func `small bodies are received into little room, large ones into much`() {
    #expect(bytes(after: nil) == 512 << 10)
    #expect(bytes(after: 0) == 48 << 10 && bytes(after: 16 << 10) == 48 << 10)
    #expect(bytes(after: 48 << 10) == 128 << 10 && bytes(after: 1 << 20) == 128 << 10)
    #expect(bytes(after: 8 << 20) == 512 << 10 && bytes(after: .max) == 512 << 10)
  }

  @Test func `a body that is known to be large has much room whatever came before`() {
    #expect(bytes(after: 1) { $0.expectsLargeBody = true } == 512 << 10)
  }

  @Test func `room for a small body is less than what the C library gives back to the system at once`() {
    #expect(bytes(after: 100) < 64 << 10)
  }
}
