import ManagedObjects
import TestSupport
import Testing

@Suite struct ManualClockTests {
  private let clock = ManualClock(wallNow: WallTime(seconds: 1000))
  private let ran = Collector<String>()

  private func schedule(_ name: String, after delay: Duration) -> ScheduledWork {
    let began = clock.now
    return clock.schedule(after: delay) { [clock, ran] in ran.append("\(name) at \(clock.now - began)") }
  }

  @Test func `work runs in order of time, at its own time, on the calling thread`() {
    _ = schedule("late", after: .seconds(3))
    _ = schedule("early", after: .seconds(1))
    _ = schedule("also early", after: .seconds(1))
    #expect(clock.scheduledCount == 3)
    #expect(clock.nextDue == .seconds(1))
    clock.advance(by: .seconds(2))
    #expect(ran.elements == ["early at 1.0 seconds", "also early at 1.0 seconds"])
    #expect(clock.nextDue == .seconds(1))
    clock.advance(by: .seconds(1))
    #expect(ran.elements.last == "late at 3.0 seconds")
    #expect(clock.nextDue == nil)
  }

  @Test func `work without delay waits for the next turn`() {
    _ = schedule("now", after: .seconds(-5))
    #expect(ran.elements.isEmpty)
    #expect(clock.nextDue == .zero)
    clock.advance()
    #expect(ran.elements == ["now at 0.0 seconds"])
  }

  @Test func `work that schedules work in time is followed`() {
    _ = clock.schedule(after: .seconds(1)) { [clock, ran] in
      _ = clock.schedule(after: .seconds(1)) { ran.append("second") }
      _ = clock.schedule(after: .seconds(9)) { ran.append("never") }
    }
    clock.advance(by: .seconds(2))
    #expect(ran.elements == ["second"])
    #expect(clock.scheduledCount == 1)
  }

  @Test func `cancelled work does not run, and lets go of what it captured`() {
    final class Thing: Sendable {}
    weak var thing: Thing?
    var work: ScheduledWork?
    do {
      let captured = Thing()
      thing = captured
      work = clock.schedule(after: .seconds(1)) { [ran] in
        withExtendedLifetime(captured) { ran.append("ran") }
      }
    }
    #expect(thing != nil)
    work?.cancel()
    work?.cancel()
    #expect(thing == nil)
    clock.advance(by: .seconds(2))
    #expect(ran.elements.isEmpty)
  }

  @Test func `calendar time goes along and can be set apart`() {
    let began = clock.now
    clock.advance(by: .milliseconds(1500))
    #expect(clock.wallNow == WallTime(milliseconds: 1_001_500))
    clock.wallNow = WallTime(seconds: 5)
    clock.advance(by: .seconds(1))
    #expect(clock.wallNow == WallTime(seconds: 6))
    #expect(clock.now - began == .milliseconds(2500))
  }

  @Test func `a test can wait until something is scheduled elsewhere`() async throws {
    Task { [clock] in _ = clock.schedule(after: .seconds(1)) {} }
    try await clock.waitForScheduled(1)
    await #expect(throws: TimedOut.self) { try await clock.waitForScheduled(2, seconds: 0.01) }
  }
}
