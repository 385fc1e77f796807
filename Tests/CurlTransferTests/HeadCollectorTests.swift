import Testing

@testable import CurlTransfer

@Suite struct HeadCollectorTests {
  private enum Step: Equatable {
    case more, tooLarge
    case block([UInt8])
  }

  private func take(_ collector: inout HeadCollector, _ line: String, _ status: Int = 200) -> Step {
    switch collector.take(Array(line.utf8).span.bytes) {
    case .more: .more
    case .end: .block(collector.takeBlock(status: status))
    case .tooLarge: .tooLarge
    }
  }

  @Test func `lines become a block at the empty one`() {
    var collector = HeadCollector(limitBytes: 1000)
    #expect(take(&collector, "HTTP/1.1 200 OK\r\n") == .more)
    #expect(take(&collector, "A: 1\r\n") == .more && !collector.isFinal)
    #expect(take(&collector, "\r\n") == .block(Array("HTTP/1.1 200 OK\r\nA: 1\r\n\r\n".utf8)))
    #expect(collector.isFinal)
  }

  @Test func `a bare line feed ends a block too`() {
    var collector = HeadCollector(limitBytes: 1000)
    _ = take(&collector, "HTTP/1.1 200 OK\n")
    #expect(take(&collector, "\n") == .block(Array("HTTP/1.1 200 OK\n\n".utf8)))
  }

  @Test func `a 1xx block is not the final one`() {
    var collector = HeadCollector(limitBytes: 1000)
    _ = take(&collector, "HTTP/1.1 103 Early Hints\r\n", 103)
    #expect(take(&collector, "\r\n", 103) == .block(Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8)))
    #expect(!collector.isFinal)
    _ = take(&collector, "HTTP/1.1 200 OK\r\n")
    #expect(take(&collector, "\r\n") == .block(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)))
    #expect(collector.isFinal)
  }

  @Test func `what follows the final head is dropped`() {
    var collector = HeadCollector(limitBytes: 1000)
    _ = take(&collector, "HTTP/1.1 200 OK\r\n")
    _ = take(&collector, "\r\n")
    for line in ["X-Sum: 1\r\n", "HTTP/1.1 500 Bad\r\n", "\r\n", String(repeating: "x", count: 99)] {
      #expect(take(&collector, line) == .more)
    }
  }

  @Test func `blocks are bounded together`() {
    var collector = HeadCollector(limitBytes: 60)
    _ = take(&collector, "HTTP/1.1 103 Early Hints\r\n", 103)
    _ = take(&collector, "\r\n", 103)
    #expect(take(&collector, "HTTP/1.1 103 Early Hints\r\n", 103) == .more)
    #expect(take(&collector, "A: 12345\r\n", 103) == .tooLarge)
  }

  @Test func `trailers are bounded together with what came before`() {
    var collector = HeadCollector(limitBytes: 39)
    _ = take(&collector, "HTTP/1.1 200 OK\r\n")
    _ = take(&collector, "\r\n")
    #expect(take(&collector, "X-Sum: 1\r\n") == .more && take(&collector, "X-Sum: 2\r\n") == .more)
    #expect(take(&collector, "X-Sum: 3\r\n") == .tooLarge)
  }

  @Test func `an empty line of no bytes is no end`() {
    var collector = HeadCollector(limitBytes: 60)
    #expect(take(&collector, "") == .more)
  }
}
