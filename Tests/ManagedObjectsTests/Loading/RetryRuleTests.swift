import Testing

@testable import ManagedObjects

private let start = Moment.now

private func status(_ status: Int) -> ObjectError {
  ObjectError(.httpStatus, "\(status)", head: LoadHead(status: status))
}
private let cut = ObjectError(.transport, "cut")

/// A load whose attempts all fail, with a clock that moves with the waits.
private struct Trial {
  var rule: RetryRule
  var now = start

  init(
    locations: Int = 1, tries: Int = 3, limitTime: Duration = .seconds(30), limitRetryAfter: Duration = .seconds(300)
  ) {
    var policy = RetryPolicy()
    policy.limitTries = tries
    policy.limitTime = limitTime
    rule = RetryRule(policy: policy, limitRetryAfter: limitRetryAfter, locations: locations, startedAt: start)
  }

  /// The next step as text: "1 after 0.25 s", or "transport".
  mutating func fail(
    _ error: ObjectError = cut, newBytes: Bool = false, retryAfter: Duration? = nil, random: Double = 1
  ) -> String {
    switch rule.next(after: error, receivedNewBytes: newBytes, retryAfter: retryAfter, now: now, random: random) {
    case .again(let location, let delay):
      now += delay
      return "\(location) after \(delay.inSeconds)"
    case .giveUp(let error): return error.code == .httpStatus ? error.message : error.code.rawValue
    }
  }
}

@Suite struct RetryRuleTests {
  @Test func `a transport error is tried again, with a wait that doubles, up to the limit of tries`() {
    var trial = Trial(tries: 4)
    #expect(trial.fail() == "0 after 0.25")
    #expect(trial.fail() == "0 after 0.5")
    #expect(trial.fail() == "0 after 1.0")
    #expect(trial.fail() == "transport")
  }

  @Test func `a mirror that is named later is asked in the same round, and in the next ones`() {
    var trial = Trial(tries: 2)
    #expect(trial.fail() == "0 after 0.25")
    trial.rule.know(locations: 2)
    #expect(trial.fail() == "1 after 0.0")
    trial.rule.know(locations: 1)
    #expect(trial.fail() == "1 after 0.5")
    #expect(trial.fail() == "transport")
  }

  @Test func `the wait is random between zero and its limit, and has a greatest one`() {
    var trial = Trial(tries: 100, limitTime: .seconds(1000))
    #expect(trial.fail(random: 0) == "0 after 0.0")
    #expect(trial.fail(random: 0.5) == "0 after 0.25")
    for _ in 0..<10 { _ = trial.fail(random: 0) }
    #expect(trial.fail() == "0 after 10.0")
    #expect(trial.fail(random: .infinity) == "0 after 10.0")
    #expect(trial.fail(random: -1) == "0 after 0.0")
  }

  @Test(arguments: [408, 429, 502, 503, 504])
  func `these statuses are tried again`(code: Int) {
    var trial = Trial()
    #expect(trial.fail(status(code)) == "0 after 0.25")
    #expect(trial.fail(status(code)) == "0 after 0.5")
    #expect(trial.fail(status(code)) == "\(code)")
  }

  @Test(arguments: [300, 400, 401, 403, 404, 410, 500, 501, 505, 599])
  func `other statuses are not`(code: Int) {
    var trial = Trial()
    #expect(trial.fail(status(code)) == "\(code)")
  }

  @Test(arguments: [
    ObjectError.Code.invalidRequest, .refusedByPolicy, .tooLarge, .undecodable, .tooManyRedirects, .cacheBroken,
    .notCached, .cancelled, .retryLater, .decodeTimedOut, .outputFailed,
  ])
  func `what no other try can help ends the load, mirrors or not`(code: ObjectError.Code) {
    var trial = Trial(locations: 3)
    #expect(trial.fail(ObjectError(code, "")) == code.rawValue)
  }

  @Test(arguments: [
    ObjectError.Code.transport, .timedOut, .wrongLength, .invalidURL, .unsupportedScheme, .checksumMismatch, .tls,
  ])
  func `a mirror is asked at once`(code: ObjectError.Code) {
    var trial = Trial(locations: 2)
    #expect(trial.fail(ObjectError(code, "")) == "1 after 0.0")
    #expect(trial.rule.location == 1)
  }

  @Test func `mirrors are asked in order, and again from the first after a wait`() {
    var trial = Trial(locations: 3, tries: 2)
    #expect(trial.fail() == "1 after 0.0")
    #expect(trial.fail(status(503)) == "2 after 0.0")
    #expect(trial.fail() == "0 after 0.25")
    #expect(trial.fail() == "1 after 0.0")
    #expect(trial.fail() == "2 after 0.0")
    #expect(trial.fail(status(502)) == "502")
  }

  @Test func `a location that does not have it is not asked again`() {
    var trial = Trial(locations: 3)
    #expect(trial.fail(status(404)) == "1 after 0.0")
    #expect(trial.fail() == "2 after 0.0")
    #expect(trial.fail(status(500)) == "1 after 0.25")
    #expect(trial.fail() == "1 after 0.5")
    #expect(trial.fail() == "transport")
  }

  @Test func `the error is the last location's`() {
    var trial = Trial(locations: 2)
    #expect(trial.fail(status(404)) == "1 after 0.0")
    #expect(trial.fail(status(410)) == "410")
  }

  @Test func `Retry-After is the least wait`() {
    var trial = Trial()
    #expect(trial.fail(status(429), retryAfter: .seconds(2)) == "0 after 2.0")
    #expect(trial.fail(status(429), retryAfter: .milliseconds(1), random: 1) == "0 after 0.5")
  }

  @Test func `a wait that the server asks for does not use up the time limit`() {
    var trial = Trial(limitTime: .seconds(30))
    #expect(trial.fail(status(503), retryAfter: .seconds(200)) == "0 after 200.0")
    #expect(trial.fail(status(503)) == "0 after 0.5")
  }

  @Test func `over the limit the load fails at once and names the wait`() throws {
    var trial = Trial()
    let step = trial.rule.next(
      after: status(429), receivedNewBytes: false, retryAfter: .seconds(86_400), now: start, random: 0)
    guard case .giveUp(let error) = step else {
      Issue.record("tried again")
      return
    }
    #expect(error.code == .retryLater)
    #expect(error.message.contains("86400 s"))
    #expect(error.head?.status == 429)
  }

  @Test func `a mirror may help where a server asks for too long a wait`() {
    var trial = Trial(locations: 2)
    #expect(trial.fail(status(429), retryAfter: .seconds(86_400)) == "1 after 0.0")
    #expect(trial.fail(status(429), retryAfter: .seconds(86_400)) == "retryLater")
  }

  @Test func `a location that asked for a wait is passed over until then`() {
    var trial = Trial(locations: 2, tries: 9)
    #expect(trial.fail(status(429), retryAfter: .seconds(5)) == "1 after 0.25")
    #expect(trial.fail(random: 0) == "1 after 0.0")
    #expect(trial.fail(status(429), retryAfter: .seconds(60), random: 0) == "0 after 4.75")
    #expect(trial.fail(random: 0) == "0 after 0.0")
  }

  @Test func `the time limit ends the tries`() {
    var trial = Trial(tries: 100, limitTime: .seconds(1))
    #expect(trial.fail() == "0 after 0.25")
    #expect(trial.fail() == "0 after 0.5")
    #expect(trial.fail() == "transport")
    trial.now = start + .seconds(1)
    #expect(trial.fail(random: 0) == "0 after 0.0")
    trial.now = start + .seconds(1) + .nanoseconds(1)
    #expect(trial.fail(random: 0) == "transport")
  }

  @Test func `progress gives all tries, the time and the short wait back`() {
    var trial = Trial(tries: 2)
    for _ in 0..<20 {
      #expect(trial.fail(newBytes: true) == "0 after 0.25")
      trial.now += .seconds(29)
    }
    #expect(trial.fail() == "0 after 0.5")
    #expect(trial.fail() == "transport")
  }

  @Test func `one try means one`() {
    var trial = Trial(tries: 1)
    #expect(trial.fail(newBytes: true) == "transport")
    trial = Trial(locations: 2, tries: 1)
    #expect(trial.fail() == "1 after 0.0")
    #expect(trial.fail() == "transport")
  }

  @Test func `odd policies do no harm`() {
    var policy = RetryPolicy()
    policy.limitTries = -1
    policy.firstDelay = .seconds(-1)
    policy.limitDelay = .seconds(-1)
    var rule = RetryRule(policy: policy, limitRetryAfter: .zero, locations: 0, startedAt: start)
    guard case .giveUp = rule.next(after: cut, receivedNewBytes: false, retryAfter: nil, now: start, random: 0.5) else {
      Issue.record("tried again")
      return
    }
    policy.limitTries = 5
    rule = RetryRule(policy: policy, limitRetryAfter: .zero, locations: 1, startedAt: start)
    guard
      case .again(0, .zero) = rule.next(
        after: cut, receivedNewBytes: false, retryAfter: nil, now: start, random: 0.5)
    else {
      Issue.record("no other try")
      return
    }
  }
}
