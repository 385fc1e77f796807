import ManagedObjects
import Testing

@testable import mobj

struct SummaryTests {
  private func text(_ outcomes: [Outcome], took duration: Duration = .milliseconds(3200)) -> String {
    var summary = Summary()
    for outcome in outcomes { summary.add(outcome) }
    return summary.text(took: duration)
  }

  private func good(_ source: ObjectSource, bytes: Int = 1000) -> Outcome {
    var outcome = Outcome(url: "u")
    outcome.source = source
    outcome.bytes = bytes
    return outcome
  }

  private func failed(_ error: ObjectError) -> Outcome {
    var outcome = Outcome(url: "u")
    outcome.error = error
    return outcome
  }

  @Test func `one object is told in the singular`() {
    #expect(
      text([good(.network, bytes: 1300)], took: .milliseconds(45)) == "mobj: 1 object, 1.3 kB, 45 ms (from the network)"
    )
    #expect(text([good(.revalidated)]) == "mobj: 1 object, 1.0 kB, 3.2 s (revalidated)")
  }

  @Test func `many are counted by their source`() {
    let outcomes = (0..<1200).map { _ in good(.network) } + [good(.file), good(.file), good(.stale), good(.memory)]
    #expect(
      text(outcomes)
        == "mobj: 1,204 objects, 1.2 MB, 3.2 s (1,200 from the network, 2 from the cache, 1 from memory, 1 stale)")
  }

  @Test func `failures and what was given up are told apart`() {
    let outcomes = [good(.file), failed(ObjectError(.transport, "")), failed(ObjectError(.left))]
    #expect(text(outcomes) == "mobj: 1 object, 1.0 kB, 3.2 s (from the cache); 1 failed; 1 given up")
  }

  @Test func `nothing at all is said too`() {
    #expect(text([], took: .zero) == "mobj: 0 objects, 0 B, 0 ms")
  }
}
