import TestSupport
import Testing

@Suite struct WaitingTests {
  @Test func `a latch opens when all have happened`() async throws {
    let latch = Latch(2)
    latch.countDown()
    #expect(!latch.isOpen)
    await #expect(throws: TimedOut.self) { try await latch.wait(seconds: 0.01) }
    Task { latch.countDown() }
    try await latch.wait()
    latch.countDown()
    #expect(latch.isOpen)
  }

  @Test func `a blocked thread wakes as well, and gives up in time`() throws {
    let latch = Latch()
    #expect(throws: TimedOut.self) { try latch.wait(seconds: 0.01) }
    Task.detached { latch.countDown() }
    try latch.wait()
  }

  @Test func `many waiters wake once each`() async throws {
    let collector = Collector<Int>()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for count in 1...50 { group.addTask { try await collector.wait(count).count } }
      for number in 1...50 { collector.append(number) }
      for try await count in group { #expect(count >= 1) }
    }
    #expect(collector.elements == Array(1...50))
  }

  @Test func `a condition that holds already does not wait`() async throws {
    let watched = Watched(1)
    #expect(try await watched.wait(for: "1", seconds: 0) { $0 == 1 } == 1)
    #expect(try await watched.wait(for: "1") { $0 == 1 } == 1)
  }

  @Test func `a cancelled wait ends, also one that begins cancelled`() async {
    let watched = Watched(1)
    let waiting = Task { try await watched.wait(for: "2", seconds: 60) { $0 == 2 } }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test func `a waiter sees the value that met its condition, not a later one`() async throws {
    let watched = Watched(0)
    let waiting = Task { try await watched.wait(for: "an odd number") { $0 % 2 == 1 } }
    while watched.value < 1000 { watched.update { $0 += 1 } }
    watched.update { $0 = 1001 }
    #expect(try await waiting.value % 2 == 1)
  }

  @Test func `a failed wait says for what`() async {
    let error = await #expect(throws: TimedOut.self) {
      try await Watched(0).wait(for: "the moon", seconds: 0.01) { $0 == 1 }
    }
    #expect(error?.description == "Waited 0.01 s in vain for the moon.")
  }

  @Test func `asking again and again has an end`() async throws {
    let count = Watched(0)
    try await until("three") {
      count.update {
        $0 += 1
        return $0 == 3
      }
    }
    await #expect(throws: TimedOut.self) { try await until("never", seconds: 0.01) { false } }
  }
}
