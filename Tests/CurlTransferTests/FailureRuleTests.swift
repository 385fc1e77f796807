import Testing

@testable import CurlTransfer

@Suite struct FailureRuleTests {
  private func facts(_ code: Int, _ change: (inout FailureRule.Facts) -> Void = { _ in }) -> FailureRule.Facts {
    var facts = FailureRule.Facts(
      request: TransferRequest(
        url: "https://joe:pw@example.com/", origin: TransferOrigin(scheme: "https", host: "example.com", port: 443)),
      code: code)
    change(&facts)
    return facts
  }

  @Test(
    arguments: [
      (6, .resolve), (7, .connect), (35, .tls(.handshake)), (60, .tls(.refused)), (18, .partial), (52, .noReply),
      (8, .badFraming),
      (1, .badFraming),
      (56, .reset), (92, .reset), (55, .sendFailed), (27, .headTooLarge), (100, .headTooLarge),
      (28, .timedOut(.resolve)),
      (3, .other), (0, .other), (-1, .other), (9999, .other),
    ] as [(Int, TransferFailure.Kind)])
  func `each number of libcurl has its kind`(_ code: Int, _ kind: TransferFailure.Kind) {
    #expect(FailureRule.kind(facts(code)) == kind)
  }

  @Test func `a refused connection is told from other ones that failed`() {
    #expect(FailureRule.kind(facts(7) { $0.systemError = 111 }) == .refused)
    #expect(FailureRule.kind(facts(7) { $0.systemError = 113 }) == .connect)
  }

  @Test func `a receive error that speaks of chunks is bad framing`() {
    #expect(FailureRule.kind(facts(56) { $0.detail = "Malformed encoding found in chunked-encoding" }) == .badFraming)
  }

  @Test func `which clock ran out is read from how far the transfer came`() {
    #expect(FailureRule.kind(facts(28)) == .timedOut(.resolve))
    #expect(FailureRule.kind(facts(28) { $0.wasResolved = true }) == .timedOut(.connect))
    #expect(FailureRule.kind(facts(28) { $0.wasConnected = true }) == .timedOut(.idle))
    #expect(
      FailureRule.kind(
        facts(28) { facts in
          facts.request.totalTimeout = .seconds(1)
          facts.elapsed = .milliseconds(1001)
        }) == .timedOut(.total))
    #expect(
      FailureRule.kind(
        facts(28) { facts in
          facts.request.totalTimeout = .seconds(5)
          facts.wasConnected = true
          facts.elapsed = .milliseconds(1001)
        }) == .timedOut(.idle))
  }

  @Test func `a total time-out is one too where libcurl's clock ran a little ahead of ours`() {
    let early = facts(28) { facts in
      facts.request.totalTimeout = .seconds(1)
      facts.wasConnected = true
      facts.elapsed = .microseconds(999_200)
    }
    #expect(FailureRule.kind(early) == .timedOut(.total))
  }

  @Test func `what our own callback refused goes before libcurl's write error`() {
    #expect(FailureRule.kind(facts(23) { $0.cause = .stopped }) == .stopped)
    #expect(FailureRule.kind(facts(23) { $0.cause = .headTooLarge }) == .headTooLarge)
    #expect(FailureRule.kind(facts(23) { $0.cause = .bodyBeforeHead }) == .badFraming)
    #expect(FailureRule.kind(facts(23)) == .other)
  }

  @Test func `too long a line after the head is no matter of the head`() {
    #expect(FailureRule.kind(facts(27) { $0.headIsFinal = true }) == .other)
  }

  @Test func `a connection that broke is stale where it had served before and nothing had come`() {
    func wasStale(_ code: Int, _ change: (inout FailureRule.Facts) -> Void = { _ in }) -> Bool {
      FailureRule.failure(
        facts(code) { facts in
          facts.wasConnected = true
          facts.wasReused = true
          change(&facts)
        }
      ).wasStale
    }
    #expect(wasStale(52) && wasStale(56) && wasStale(55) && wasStale(92))
    #expect(!wasStale(52) { $0.wasReused = false } && !wasStale(56) { $0.hasHead = true })
    #expect(!wasStale(28) && !wasStale(60) && !wasStale(23))
    #expect(!wasStale(52) { $0.request.method = "POST" } && wasStale(52) { $0.request.method = "PUT" })
  }

  @Test func `what fails before the proxy opened the way is the proxy's`() {
    func kind(_ code: Int, status: Int = 0) -> TransferFailure.Kind {
      FailureRule.kind(
        facts(code) { facts in
          facts.request.proxy = TransferProxy(scheme: "http", host: "p", port: 3128)
          facts.connectStatus = status
        })
    }
    #expect(kind(5) == .proxy && kind(7) == .proxy && kind(28) == .proxy && kind(56, status: 502) == .proxy)
    #expect(kind(56, status: 200) == .reset && kind(56) == .reset && kind(52) == .noReply)
    #expect(kind(60, status: 200) == .tls(.refused))
  }

  @Test func `messages name the host and what was reached`() {
    let failure = FailureRule.failure(
      facts(18) { facts in
        facts.bodyBytes = 5
        facts.promisedBytes = 11
      })
    #expect(failure.message == "example.com closed the connection too early: 5 of 11 bytes came.")
  }

  @Test(arguments: [0, 1, 3, 6, 7, 18, 23, 27, 28, 35, 52, 55, 56, 92])
  func `no message quotes a user, whatever libcurl says`(_ code: Int) {
    let failure = FailureRule.failure(facts(code) { $0.detail = "URL rejected: https://joe:pw@example.com/" })
    #expect(!failure.message.contains("joe") && failure.message.contains("example.com"))
  }
}
