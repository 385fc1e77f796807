import TestSupport
import Testing

@testable import ManagedObjects

/// What ends at once lets the next begin: thousands in a row must not go ever deeper into the stack.
struct CoreDepthTests {
  private let count = 5000

  @Test func `thousands of loads that a loader answers at once need no deep stack`() async {
    let loader = HeldLoader { _, sink in
      sink.head(LoadHead())
      sink.finish()
    }
    var policy = Policy()
    policy.limitTransfers = 1
    let manager = ObjectManager(loaders: [loader], policy: policy)
    let errors = await manager.prefetch((0..<count).map { ObjectRequest("mem:\($0)") })
    #expect(errors.isEmpty && loader.starts == count)
  }

  @Test func `thousands that wait and fail without a load need no deep stack`() async throws {
    let loader = HeldLoader()
    var policy = Policy()
    policy.limitLiveHandlers = 1
    let manager = ObjectManager(loaders: [loader], policy: policy)
    async let first = manager.data(for: ObjectRequest("mem:first"))
    try await loader.waitForStarts(1)
    let requests = (0..<count).map { number in
      var request = ObjectRequest("mem:\(number)")
      request.mode = .onlyIfCached
      return request
    }
    let waiting = Task { await manager.prefetch(requests) }
    try await until("all wait") { [count] in manager.statistics.waitingHandlers == count }
    loader.answer("mem:first", "x")
    _ = try await first
    let errors = await waiting.value
    #expect(errors.count == count && errors.values.allSatisfy { $0.code == .notCached })
  }
}
