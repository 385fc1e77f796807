import Testing

@testable import ManagedObjects

struct MomentTests {
  @Test func `moments are counted from each other`() {
    let start = Moment.now
    var later = start + .milliseconds(1500)
    #expect(start < later && later - start == .milliseconds(1500))
    later += .milliseconds(500)
    #expect(later - .seconds(2) == start)
    #expect(start - later == .seconds(-2))
  }

  @Test func `the clock goes on as the library's other clock does`() {
    let (start, other) = (Moment.now, ContinuousClock.now)
    while ContinuousClock.now - other < .milliseconds(20) {}
    let passed = Moment.now - start
    #expect(passed >= .milliseconds(19) && passed < .seconds(10))
  }
}
