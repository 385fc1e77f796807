import Testing

@testable import CurlTransfer
@testable import ManagedObjects

struct CurlTimingsRuleTests {
  private func facts(_ change: (inout TransferFacts) -> Void = { _ in }) -> TransferFacts {
    var facts = TransferFacts(
      bodyBytes: 1, nameLookup: .milliseconds(1), connect: .milliseconds(3), tls: .milliseconds(10),
      firstByte: .milliseconds(31), total: .milliseconds(50), version: .http2,
      reusedConnection: false, address: "192.0.2.1")
    change(&facts)
    return facts
  }

  @Test func `each stage is the time it took by itself`() {
    let timings = CurlTimingsRule.timings(facts(), after: nil)
    #expect(timings.resolve == .milliseconds(1) && timings.connect == .milliseconds(2))
    #expect(timings.tls == .milliseconds(7) && timings.firstByte == .milliseconds(21))
    #expect(timings.total == .milliseconds(50) && timings.queue == nil)
    #expect(timings.httpVersion == "2" && timings.remoteAddress == "192.0.2.1" && !timings.reusedConnection)
  }

  @Test func `plain HTTP has no TLS, and a connection that is used again is not made`() {
    let plain = CurlTimingsRule.timings(facts { $0.tls = .zero }, after: nil)
    #expect(plain.tls == nil && plain.connect == .milliseconds(2))
    let reused = CurlTimingsRule.timings(facts { $0.reusedConnection = true }, after: nil)
    #expect(reused.resolve == nil && reused.connect == nil && reused.tls == nil && reused.reusedConnection)
    #expect(reused.firstByte == .milliseconds(21))
  }

  @Test func `what is not known is nil`() {
    let timings = CurlTimingsRule.timings(
      facts { facts in
        facts.version = .unknown
        facts.address = ""
      }, after: nil)
    #expect(timings.httpVersion == nil && timings.remoteAddress == nil)
  }

  @Test func `the stages of all hops are added up`() {
    let first = CurlTimingsRule.timings(facts(), after: nil)
    let second = CurlTimingsRule.timings(
      facts { facts in
        facts.reusedConnection = true
        facts.version = .http11
      }, after: first)
    #expect(second.connect == .milliseconds(2) && second.firstByte == .milliseconds(42))
    #expect(second.total == .milliseconds(100) && second.httpVersion == "1.1" && second.reusedConnection)
  }
}
