import Testing

@testable import ManagedObjects

/// What is told of a series of (received, expected).
private func told(_ steps: [(Int, Int?)]) -> [LoadProgress] {
  var rule = ProgressRule()
  return steps.compactMap { rule.pass(LoadProgress(receivedBytes: $0.0, expectedBytes: $0.1)) }
}

@Suite struct ProgressRuleTests {
  private func expectStory(_ given: [(Int, Int?)], _ expected: [(Int, Int?)]) {
    #expect(told(given) == expected.map { LoadProgress(receivedBytes: $0.0, expectedBytes: $0.1) })
  }

  @Test func `one attempt is told as it is, each value once`() {
    expectStory([(0, 100), (0, 100), (50, 100), (50, 100), (100, 100)], [(0, 100), (50, 100), (100, 100)])
  }

  @Test func `an attempt that begins again is silent until it has caught up`() {
    expectStory([(60, 100), (0, 100), (30, 100), (60, 100), (70, 100)], [(60, 100), (70, 100)])
  }

  @Test func `a body that grew between attempts does not lower the fraction`() {
    expectStory([(50, 100), (60, 1000), (499, 1000), (500, 1000)], [(50, 100), (500, 1000)])
  }

  @Test func `a body that shrank is still told as complete`() throws {
    let last = try #require(told([(900, 1000), (100, 500), (500, 500)]).last)
    #expect(last.fraction == 1)
    #expect(last.receivedBytes == 900)
  }

  @Test func `an unknown total stays unknown, and bytes rise`() {
    expectStory([(0, nil), (10, nil), (10, nil), (20, -1), (5, nil)], [(0, nil), (10, nil), (20, nil)])
  }

  @Test func `a total that becomes known is told`() {
    expectStory([(0, nil), (0, 100), (10, 100)], [(0, nil), (0, 100), (10, 100)])
  }

  @Test func `a total that is lost and found again does not lower the fraction`() {
    expectStory([(50, 100), (60, nil), (61, 1000), (600, 1000)], [(50, 100), (60, nil), (600, 1000)])
  }

  @Test func `an empty body is complete`() {
    expectStory([(0, 0)], [(0, 0)])
    #expect(told([(0, 0)]).first?.fraction == 1)
  }

  @Test func `neither bytes nor fraction ever fall, whatever the attempts report`() {
    for _ in 0..<2000 {
      var rule = ProgressRule()
      var last = (bytes: 0, fraction: 0.0)
      for _ in 0..<30 {
        let expected = [nil, 0, 10, 100, 1000, Int.max].randomElement() ?? nil
        let progress = LoadProgress(
          receivedBytes: Int.random(in: -1...([1, 50, 2000, Int.max].randomElement() ?? 1)), expectedBytes: expected)
        guard let told = rule.pass(progress) else { continue }
        #expect(told.receivedBytes >= last.bytes)
        let fraction = told.fraction ?? last.fraction
        #expect(fraction >= last.fraction && fraction <= 1)
        last = (told.receivedBytes, fraction)
      }
    }
  }
}
