import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct LoadAttemptRaceTests {
  /// The first response's sink is full and stands still between its end and the telling of it, until the interceptor
  /// has sent another request in its place.
  @Test func `a response that fails while it is being replaced does not end the load`() async throws {
    let (failing, replaced) = (Latch(), Latch())
    let loader = HeldLoader { request, _ in if request.location == "mem:second" { replaced.countDown() } }
    let outcomes = Collector<String>()
    var plan = IntakePlan()
    plan.limits.inMemoryBytes = 0
    plan.open = { _ in { _ in throw Broken() } }
    plan.pool = { _ in }
    let attempt = LoadAttempt(
      loaders: [loader], interceptors: [Replacing(when: failing)], plan: plan, number: 1,
      LoadAttempt.Listener(progress: { _ in }) { outcome, _ in
        outcomes.append("\(outcome)")
      })
    attempt.start(LoadRequest(location: "mem:first"))
    try await loader.waitForStarts(1)
    let sink = try #require(loader.sink("mem:first"))
    sink.head(LoadHead())
    for _ in 0..<3 { sink.append(Data([1])) }
    #expect(sink.isFull)
    sink.whenNotFull {
      failing.countDown()
      try? replaced.wait()
    }
    Thread.detachNewThread {
      sink.fail(ObjectError(.transport, "cut"))
      loader.head("mem:second", LoadHead(status: 404))
      loader.finish("mem:second")
    }
    #expect(try await outcomes.wait().first?.hasPrefix("status") == true)
    #expect(outcomes.elements.count == 1)
  }
}

private struct Replacing: Interceptor {
  let failing: Latch

  init(when failing: Latch) { self.failing = failing }

  func didReceive(_ head: LoadHead, for request: LoadRequest, attempt: Int) async throws -> HeadVerdict {
    guard request.location == "mem:first" else { return .accept }
    try await failing.wait()
    return .retry(LoadRequest(location: "mem:second"))
  }
}
