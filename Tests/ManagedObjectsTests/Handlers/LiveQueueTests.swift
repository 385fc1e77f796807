import Testing

@testable import ManagedObjects

struct LiveQueueTests {
  private let now = Moment.now

  private func filled(_ limit: Int, _ standing: LiveQueue<Int>.Standing = .bumpable) -> LiveQueue<Int> {
    var queue = LiveQueue<Int>(limit: limit)
    for id in 0..<limit {
      #expect(queue.enter(id, .bumpOldest, .normal, at: now) == .admitted)
      queue.update(id, .normal, standing)
    }
    return queue
  }

  @Test func `the oldest falls off when one more enters`() {
    var queue = filled(3)
    #expect(queue.enter(9, .bumpOldest, .normal, at: now) == .admittedBumping(0))
    #expect(queue.ids == [1, 2, 9])
  }

  @Test func `a finished one leaves no hole, so a slow one is not bumped while there is room`() {
    var queue = filled(12)
    for id in 1..<12 { queue.leave(id) }
    for id in 20..<31 { #expect(queue.enter(id, .bumpOldest, .normal, at: now) == .admitted) }
    #expect(queue.contains(0))
    #expect(queue.enter(31, .bumpOldest, .normal, at: now) == .admittedBumping(0))
  }

  @Test func `who is asked for again is the newest again`() {
    var queue = filled(3)
    #expect(queue.enter(0, .bumpOldest, .normal, at: now) == .admitted)
    #expect(queue.enter(9, .bumpOldest, .normal, at: now) == .admittedBumping(1))
  }

  @Test func `one without users goes before an older one with users`() {
    var queue = filled(3)
    queue.update(2, .veryLow, .hasNobody)
    #expect(queue.enter(9, .bumpOldest, .normal, at: now) == .admittedBumping(2))
  }

  @Test func `one that somebody waited for is never bumped`() {
    var queue = filled(3)
    queue.update(0, .normal, .held)
    #expect(queue.enter(9, .bumpOldest, .normal, at: now) == .admittedBumping(1))
  }

  @Test func `when none can be bumped the newcomer waits and comes in when one leaves`() {
    var queue = filled(2, .held)
    #expect(queue.enter(9, .bumpOldest, .normal, at: now) == .waits)
    #expect(queue.waitingCount == 1 && !queue.contains(9))
    queue.leave(1)
    #expect(queue.admitWaiting(at: now) == [9])
    #expect(queue.contains(9))
  }

  @Test func `those who wait come in by priority, then in order`() {
    var queue = filled(1)
    for (id, priority) in [(10, LoadPriority.normal), (11, .low), (12, .high), (13, .normal)] {
      #expect(queue.enter(id, .wait, priority, at: now) == .waits)
    }
    var order: [Int] = []
    var current = 0
    while true {
      queue.leave(current)
      guard let next = queue.admitWaiting(at: now).first else { break }
      order.append(next)
      current = next
    }
    #expect(order == [12, 10, 13, 11])
  }

  @Test func `a newcomer that waits does not overtake those outside`() {
    var queue = filled(1)
    #expect(queue.enter(10, .wait, .normal, at: now) == .waits)
    queue.leave(0)
    #expect(queue.enter(11, .wait, .normal, at: now) == .waits)
    #expect(queue.admitWaiting(at: now) == [10])
  }

  @Test func `one that leaves while waiting is never admitted`() {
    var queue = filled(1)
    _ = queue.enter(10, .wait, .normal, at: now)
    queue.leave(10)
    queue.leave(0)
    #expect(queue.admitWaiting(at: now).isEmpty)
  }

  @Test func `ten thousand renewals keep the queue small and in order`() {
    var queue = filled(4)
    for round in 0..<10_000 { _ = queue.enter(round % 4, .bumpOldest, .normal, at: now) }
    #expect(queue.ids == [0, 1, 2, 3])
    #expect(queue.count == 4)
  }
}

struct AgeingQueueTests {
  private let start = Moment.now

  @Test func `the highest level goes first and first in is first out`() {
    var queue = AgeingQueue<Int>()
    let (low, a, b, high) = (1, 2, 3, 4)
    queue.append(low, .low, at: start)
    queue.append(a, .normal, at: start)
    queue.append(b, .normal, at: start)
    queue.append(high, .veryHigh, at: start)
    var order: [Int?] = []
    for _ in 0..<5 { order.append(queue.popFirst(at: start)) }
    #expect(order == [high, a, b, low, nil])
  }

  @Test func `one that has waited long overtakes higher newcomers, so low never starves`() {
    var queue = AgeingQueue<Int>(step: .seconds(5))
    let (oldAndLow, newAndHigh, newerAndHigh) = (1, 2, 3)
    queue.append(oldAndLow, .veryLow, at: start)
    queue.append(newAndHigh, .high, at: start + .seconds(14))
    #expect(queue.popFirst(at: start + .seconds(14)) == newAndHigh)
    queue.append(newerAndHigh, .high, at: start + .seconds(15))
    #expect(queue.popFirst(at: start + .seconds(15)) == oldAndLow)
  }

  @Test func `a removed one never comes out`() {
    var queue = AgeingQueue<Int>()
    for id in 0..<1000 { queue.append(id, .normal, at: start) }
    var removed = 0
    for id in 0..<999 where queue.remove(id) { removed += 1 }
    let again = queue.remove(0)
    #expect(removed == 999 && !again)
    #expect(queue.count == 1)
    #expect(queue.popFirst(at: start) == 999)
    #expect(queue.popFirst(at: start) == nil)
  }

  @Test func `a raised one goes before those it stood behind`() {
    var queue = AgeingQueue<Int>()
    for id in 0..<20 { queue.append(id, .low, at: start) }
    queue.changePriority(15, to: .normal)
    #expect(queue.popFirst(at: start) == 15)
    #expect(queue.popFirst(at: start) == 0)
    #expect(queue.count == 18)
  }

  @Test func `adding one twice only changes its level`() {
    var queue = AgeingQueue<Int>()
    queue.append(1, .low, at: start)
    queue.append(1, .high, at: start)
    #expect(queue.count == 1)
    #expect(queue.popFirst(at: start) == 1)
    #expect(queue.popFirst(at: start) == nil)
  }
}
