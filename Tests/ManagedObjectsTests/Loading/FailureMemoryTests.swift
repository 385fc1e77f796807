import Testing

@testable import ManagedObjects

private let start = Moment.now

private func failure(_ status: Int, _ fields: HeaderFields = [:]) -> ObjectError {
  ObjectError(.httpStatus, "The server answered \(status).", head: LoadHead(status: status, fields: fields))
}

@Suite struct FailureMemoryTests {
  @Test(arguments: [(404, 60), (410, 60), (400, 10), (401, 10), (403, 10), (451, 10)])
  func `a failed answer is repeated for its time, and then asked for again`(status: Int, seconds: Int) {
    var memory = FailureMemory<String>(policy: FailureMemoryPolicy())
    memory.remember(failure(status), for: "a", at: start)
    #expect(memory.recall("a", at: start)?.head?.status == status)
    #expect(memory.recall("a", at: start + .seconds(seconds) - .nanoseconds(1)) != nil)
    #expect(memory.recall("a", at: start + .seconds(seconds)) == nil)
    #expect(memory.recall("b", at: start) == nil)
  }

  @Test(arguments: [200, 301, 408, 429, 500, 502, 503, 504])
  func `what may be over at any moment is not remembered`(status: Int) {
    var memory = FailureMemory<String>(policy: FailureMemoryPolicy())
    memory.remember(failure(status), for: "a", at: start)
    #expect(memory.count == 0)
  }

  @Test func `errors of the transport, or after a redirect, are not remembered`() {
    var memory = FailureMemory<String>(policy: FailureMemoryPolicy())
    memory.remember(ObjectError(.transport, "reset"), for: "a", at: start)
    memory.remember(ObjectError(.retryLater, "wait", head: LoadHead(status: 404)), for: "a", at: start)
    memory.remember(ObjectError(.left), for: "a", at: start)
    #expect(memory.recall("a", at: start) == nil)
  }

  @Test(arguments: ["max-age=0", "max-age=600", "no-store", "no-cache"])
  func `where the server says how long, its word counts`(control: String) {
    var memory = FailureMemory<String>(policy: FailureMemoryPolicy())
    memory.remember(failure(404, ["Cache-Control": control]), for: "a", at: start)
    memory.remember(failure(404, ["Expires": "0"]), for: "b", at: start)
    #expect(memory.count == 0)
  }

  @Test func `the error says that it is remembered, for how long, and what to do`() throws {
    var memory = FailureMemory<String>(policy: FailureMemoryPolicy())
    memory.remember(failure(404), for: "a", at: start)
    let error = try #require(memory.recall("a", at: start + .seconds(17.5)))
    #expect(error.code == .httpStatus)
    #expect(error.message.hasPrefix("The server answered 404."))
    #expect(error.message.contains("remembered"))
    #expect(error.message.contains("43 s"))
    #expect(error.message.contains("reload"))
    #expect(memory.recall("a", at: start + .seconds(59.9))?.message.contains("1 s") == true)
  }

  @Test func `one or all can be forgotten`() {
    var memory = FailureMemory<String>(policy: FailureMemoryPolicy())
    for key in ["a", "b", "c"] { memory.remember(failure(404), for: key, at: start) }
    memory.forget("b")
    #expect(memory.recall("b", at: start) == nil)
    #expect(memory.recall("c", at: start) != nil)
    memory.forget { _ in true }
    #expect(memory.count == 0)
  }

  @Test func `the policy none remembers nothing`() {
    var memory = FailureMemory<String>(policy: .none)
    memory.remember(failure(404), for: "a", at: start)
    #expect(memory.recall("a", at: start) == nil)
  }

  @Test func `no more than the limit are remembered, the newest`() {
    var policy = FailureMemoryPolicy()
    policy.limitEntries = 10
    var memory = FailureMemory<Int>(policy: policy)
    for key in 0..<1000 { memory.remember(failure(404), for: key, at: start) }
    #expect(memory.count == 10)
    #expect((0..<1000).filter { memory.recall($0, at: start) != nil } == Array(990..<1000))
    policy.limitEntries = -1
    memory = FailureMemory(policy: policy)
    memory.remember(failure(404), for: 1, at: start)
    #expect(memory.count == 0)
  }
}

@Suite struct SuspectMemoryTests {
  private func at(_ seconds: Double) -> Moment { start + .seconds(seconds) }

  @Test func `undecodable bytes are asked about after a second, then after twice as long each time`() {
    var memory = SuspectMemory<String>(policy: FailureMemoryPolicy())
    #expect(!memory.isSuspect("a", at: at(0)))
    var time = 0.0
    for wait in [1.0, 2, 4, 8, 16, 32, 60, 60] {
      memory.note("a", at: at(time))
      #expect(!memory.isSuspect("a", at: at(time + wait - 0.001)), "\(wait)")
      #expect(memory.isSuspect("a", at: at(time + wait)), "\(wait)")
      time += wait
    }
  }

  @Test func `failures while the wait lasts are the same one`() {
    var memory = SuspectMemory<String>(policy: FailureMemoryPolicy())
    for time in [0, 0.1, 0.5, 0.9] { memory.note("a", at: at(time)) }
    #expect(memory.isSuspect("a", at: at(1)))
    memory.note("a", at: at(1))
    #expect(!memory.isSuspect("a", at: at(2.9)))
    #expect(memory.isSuspect("a", at: at(3)))
  }

  @Test func `good bytes clear it`() {
    var memory = SuspectMemory<String>(policy: FailureMemoryPolicy())
    memory.note("a", at: at(0))
    memory.note("a", at: at(1))
    memory.clear("a")
    #expect(!memory.isSuspect("a", at: at(10)))
    memory.note("a", at: at(10))
    #expect(memory.isSuspect("a", at: at(11)))
    memory.clear { _ in true }
    #expect(memory.count == 0)
  }

  @Test func `without a wait the next request asks`() {
    var memory = SuspectMemory<String>(policy: .none)
    memory.note("a", at: at(0))
    #expect(memory.isSuspect("a", at: at(0)))
  }
}

@Suite struct BoundedMemoryTests {
  @Test func `a key that is set again counts as new`() {
    var memory = BoundedMemory<Int, String>(limit: 3)
    for key in [1, 2, 3, 1, 4] { memory.set(key, to: "\(key)") }
    #expect((1...4).filter { memory[$0] != nil } == [1, 3, 4])
  }

  @Test func `a thousand rounds of setting and removing keep to the limit`() {
    var memory = BoundedMemory<Int, Int>(limit: 5)
    for round in 0..<1000 {
      memory.set(round % 7, to: round)
      if round % 3 == 0 { memory.remove(round % 5) }
      #expect(memory.count <= 5)
      if round % 3 != 0 { #expect(memory[round % 7] == round) }
    }
  }
}
