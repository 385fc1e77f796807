import Testing

@testable import ManagedObjects

struct WallTimeTests {
  @Test func `whole seconds are rounded down, also before 1970`() {
    #expect(WallTime(milliseconds: 1999).seconds == 1)
    #expect(WallTime(milliseconds: -1).seconds == -1)
    #expect(WallTime(milliseconds: -1000).seconds == -1)
    #expect(WallTime(milliseconds: -1001).seconds == -2)
    #expect(WallTime(seconds: 5).milliseconds == 5000)
  }

  @Test func `times and durations add up`() {
    let time = WallTime(seconds: 100)
    #expect(time + .milliseconds(1500) == WallTime(milliseconds: 101_500))
    #expect(time + .seconds(-101) == WallTime(seconds: -1))
    #expect(WallTime(seconds: 7) - time == .seconds(-93))
    #expect(WallTime(seconds: 7) < time && WallTime.distantPast < WallTime(seconds: Int64.min / 1000))
  }

  @Test func `what does not fit stops at the ends and never traps`() {
    let ends = [WallTime.distantPast, WallTime(milliseconds: .max), WallTime(seconds: .max), WallTime(seconds: .min)]
    let durations: [Duration] = [.seconds(Int64.max), .seconds(Int64.min), .zero, .nanoseconds(1)]
    for time in ends {
      for duration in durations { _ = time + duration }
      for other in ends { _ = time - other }
      _ = time.seconds
    }
    #expect(ends[1] + .seconds(1) == ends[1] && ends[0] + .seconds(-1) == ends[0])
    #expect(ends[1] - ends[0] == .milliseconds(Int64.max))
    #expect(ends[2].milliseconds == .max && ends[3].milliseconds == .min)
    #expect(ends[0] - ends[1] == .milliseconds(Int64.min))
    for time in ends { #expect(time - time == .zero) }
  }

  @Test func `durations become whole milliseconds towards zero, and fractions`() {
    #expect(Duration.microseconds(1999).wholeMilliseconds == 1)
    #expect(Duration.microseconds(-1999).wholeMilliseconds == -1)
    #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
    #expect(abs(Duration.milliseconds(1250).inSeconds - 1.25) < 1e-9)
  }

  @Test func `clamped arithmetic stops at the right end`() {
    #expect(Int64.max.clampedAdd(1) == .max && Int64.min.clampedAdd(-1) == .min && Int64(1).clampedAdd(2) == 3)
    #expect(Int64.max.clampedMultiply(by: 2) == .max && Int64.max.clampedMultiply(by: -2) == .min)
    #expect(Int64.min.clampedMultiply(by: -1) == .max && Int64(3).clampedMultiply(by: -4) == -12)
  }
}
