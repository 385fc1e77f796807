import Testing

@testable import ManagedObjects

struct RefillRuleTests {
  private var rule = RefillRule()
  private let pause = RefillRule.Turn.lookAgain(after: .milliseconds(1))

  @Test mutating func `after one who left the next has its turn at once`() {
    for _ in 0..<3 {
      let (isToBeLooked, turn) = (rule.left(), rule.look())
      #expect(isToBeLooked && turn == .give)
    }
  }

  @Test mutating func `while more leave it is put off, and looked at once for all`() {
    let looks = [rule.left(), rule.left(), rule.left()]
    #expect(looks == [true, false, false])
    var turns = [rule.look()]
    let isAnotherLook = rule.left()
    turns += [rule.look(), rule.look()]
    #expect(!isAnotherLook && turns == [pause, pause, .give])
    let isLookedAnew = rule.left()
    #expect(isLookedAnew)
  }

  @Test mutating func `those who stay wait 20 ms at most for those who go`() {
    var turns: [RefillRule.Turn] = []
    _ = rule.left()
    while turns.last != .give {
      _ = rule.left()
      turns.append(rule.look())
    }
    #expect(turns.count == 21)
  }
}
