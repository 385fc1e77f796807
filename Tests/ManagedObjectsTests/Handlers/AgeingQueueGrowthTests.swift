import Testing

@testable import ManagedObjects

struct AgeingQueueGrowthTests {
  @Test func `those who come and go behind one that waits for long leave nothing behind`() {
    var queue = AgeingQueue<Int>()
    let now = Moment.now
    queue.append(0, .normal, at: now)
    for id in 1...10_000 {
      queue.append(id, .normal, at: now)
      queue.remove(id)
    }
    queue.append(20_000, .normal, at: now)
    #expect(kept(queue) < 200)
    #expect(queue.popFirst(at: now) == 0)
    #expect(queue.popFirst(at: now) == 20_000)
    #expect(queue.isEmpty)
  }

  /// Places in all lanes, those of removed ones included.
  private func kept(_ queue: AgeingQueue<Int>) -> Int {
    let lanes = Mirror(reflecting: queue).children.first { $0.label == "lanes" }
    guard let lanes else { return .max }
    return Mirror(reflecting: lanes.value).children.reduce(0) { sum, lane in
      let places = Mirror(reflecting: lane.value).children.first { $0.label == "places" }
      return sum + (places.map { Mirror(reflecting: $0.value).children.count } ?? 1_000_000)
    }
  }
}
