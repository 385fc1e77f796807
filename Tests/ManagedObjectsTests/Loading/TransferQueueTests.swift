import Testing

@testable import ManagedObjects

private let start = Moment.now

private func at(_ seconds: Double) -> Moment { start + .seconds(seconds) }

extension TransferQueue {
  fileprivate mutating func add(_ id: ID, _ host: String = "h", _ priority: LoadPriority = .normal, _ time: Double = 0)
  {
    enqueue(id, host: host, priority: priority, at: at(time))
  }

  /// Starts and ends one after the other, as a queue with limit 1 does.
  fileprivate mutating func drain(_ time: Double = 0) -> [ID] {
    var order: [ID] = []
    while let id = startable(at: at(time)).first {
      order.append(id)
      finished(id)
    }
    return order
  }
}

@Suite struct TransferQueueTests {
  @Test func `as many start as the limit allows, in the order they came`() {
    var queue = TransferQueue<Int>(limit: 3, limitPerHost: 8)
    for id in 0..<5 { queue.add(id) }
    #expect(queue.startable(at: at(0)) == [0, 1, 2])
    #expect(queue.startable(at: at(0)) == [])
    #expect(queue.running == 3)
    #expect(queue.waiting == 2)
    queue.finished(1)
    #expect(queue.startable(at: at(0)) == [3])
  }

  @Test func `who finds a free slot and nobody waiting needs no line`() {
    var queue = TransferQueue<Int>(limit: 3, limitPerHost: 2)
    #expect(queue.startOrEnqueue(0, host: "a", priority: .normal, at: at(0)) == true)
    #expect(queue.startOrEnqueue(1, host: "a", priority: .normal, at: at(0)) == true)
    #expect(queue.startOrEnqueue(2, host: "a", priority: .veryHigh, at: at(0)) == false)
    #expect(queue.startOrEnqueue(3, host: "b", priority: .veryLow, at: at(0)) == true)
    #expect(queue.startOrEnqueue(4, host: "b", priority: .normal, at: at(0)) == false)
    #expect(queue.running == 3 && queue.waiting == 2 && queue.startable(at: at(0)) == [])
    queue.finished(0)
    #expect(
      queue.startOrEnqueue(5, host: "a", priority: .veryHigh, at: at(0)) == false, "two wait, one of them at that host")
    #expect(queue.drain() == [2, 5, 4])
  }

  @Test func `a slot that came free belongs to who waits, also for another host`() {
    var queue = TransferQueue<Int>(limit: 1, limitPerHost: 1)
    #expect(queue.startOrEnqueue(0, host: "a", priority: .normal, at: at(0)) == true)
    #expect(queue.startOrEnqueue(1, host: "b", priority: .normal, at: at(0)) == false)
    queue.finished(0)
    #expect(queue.startOrEnqueue(2, host: "c", priority: .normal, at: at(1)) == false)
    #expect(queue.drain(1) == [1, 2])
  }

  @Test func `a host that is held lets nobody past its line`() {
    var queue = TransferQueue<Int>(limit: 3, limitPerHost: 2)
    queue.hold(host: "a", until: at(5))
    #expect(queue.startOrEnqueue(0, host: "a", priority: .normal, at: at(0)) == false)
    #expect(queue.startOrEnqueue(1, host: "b", priority: .normal, at: at(0)) == true)
    #expect(queue.startable(at: at(5)) == [0])
  }

  @Test func `a host gets no more than its share, others go on`() {
    var queue = TransferQueue<String>(limit: 8, limitPerHost: 2)
    for id in ["a1", "a2", "a3", "b1", "b2", "b3"] { queue.add(id, String(id.prefix(1))) }
    #expect(queue.startable(at: at(0)) == ["a1", "a2", "b1", "b2"])
    queue.finished("b1")
    #expect(queue.startable(at: at(0)) == ["b3"])
    queue.finished("a2")
    #expect(queue.startable(at: at(0)) == ["a3"])
  }

  @Test func `the higher priority goes first, and the earlier one among equals`() {
    var queue = TransferQueue<String>(limit: 1, limitPerHost: 1)
    queue.add("low", "a", .low)
    queue.add("normal 1", "b")
    queue.add("very low", "c", .veryLow)
    queue.add("high", "a", .high)
    queue.add("normal 2", "a")
    queue.add("very high", "b", .veryHigh)
    #expect(queue.drain() == ["very high", "high", "normal 1", "normal 2", "low", "very low"])
  }

  @Test func `one that waits rises a level every five seconds`() {
    var queue = TransferQueue<String>(limit: 1, limitPerHost: 1)
    queue.add("low", "h", .low, 0)
    queue.add("normal at 4.9", "h", .normal, 4.9)
    queue.add("normal at 5.1", "h", .normal, 5.1)
    #expect(queue.drain(5.2) == ["normal at 4.9", "low", "normal at 5.1"])
  }

  @Test func `low never starves under a stream of high`() {
    var queue = TransferQueue<Int>(limit: 1, limitPerHost: 1)
    queue.add(-1, "h", .veryLow, 0)
    var startedAt: Int?
    for second in 0..<60 where startedAt == nil {
      queue.add(second, "h", .veryHigh, Double(second))
      for id in queue.startable(at: at(Double(second))) {
        if id == -1 { startedAt = second }
        queue.finished(id)
      }
      queue.add(1000 + second, "h", .veryHigh, Double(second))
    }
    #expect(startedAt.map { (20...45).contains($0) } == true)
  }

  @Test func `a prefetch that is really wanted goes next`() {
    var queue = TransferQueue<Int>(limit: 1, limitPerHost: 1)
    for id in 0..<20 { queue.add(id, "h", .low, 0) }
    #expect(queue.startable(at: at(0)) == [0])
    queue.changePriority(15, to: .normal)
    queue.finished(0)
    #expect(queue.startable(at: at(0)) == [15])
    queue.changePriority(3, to: .high)
    queue.changePriority(4, to: .high)
    queue.changePriority(3, to: .veryLow)
    queue.finished(15)
    #expect(queue.drain() == [4, 1, 2] + Array(5...14) + Array(16...19) + [3])
  }

  @Test func `a change of priority keeps the place in the order of arrival`() {
    var queue = TransferQueue<String>(limit: 1, limitPerHost: 1)
    queue.add("a", "h", .low)
    queue.add("b")
    queue.changePriority("a", to: .normal)
    queue.changePriority("none", to: .normal)
    #expect(queue.drain() == ["a", "b"])
  }

  @Test func `cancelling tells whether it was waiting`() {
    var queue = TransferQueue<String>(limit: 1, limitPerHost: 1)
    queue.add("a")
    queue.add("b")
    queue.add("c")
    #expect(queue.startable(at: at(0)) == ["a"])
    #expect(queue.cancel("b") == true)
    #expect(queue.cancel("b") == false)
    #expect(queue.cancel("a") == false)
    #expect(queue.cancel("x") == false)
    #expect(queue.running == 1)
    #expect(queue.waiting == 1)
    queue.finished("a")
    queue.finished("x")
    #expect(queue.startable(at: at(0)) == ["c"])
  }

  @Test func `one that was cancelled may come again, at the end`() {
    var queue = TransferQueue<String>(limit: 1, limitPerHost: 1)
    for id in ["a", "b", "c"] { queue.add(id) }
    #expect(queue.cancel("a") == true)
    queue.add("a")
    #expect(queue.drain() == ["b", "c", "a"])
    queue.add("b")
    #expect(queue.drain() == ["b"])
  }

  @Test func `the same transfer stands in line once`() {
    var queue = TransferQueue<String>(limit: 1, limitPerHost: 1)
    queue.add("a", "h", .low)
    queue.add("b", "h", .normal)
    queue.add("a", "h", .high)
    #expect(queue.waiting == 2)
    #expect(queue.startable(at: at(0)) == ["a"])
    queue.add("a", "h", .high)
    #expect(queue.waiting == 1)
    queue.finished("a")
    #expect(queue.drain() == ["b"])
  }

  @Test func `a held host waits, others do not`() {
    var queue = TransferQueue<String>(limit: 8, limitPerHost: 8)
    queue.add("a1", "a")
    queue.hold(host: "a", until: at(2))
    queue.add("a2", "a")
    queue.add("b1", "b")
    #expect(queue.startable(at: at(0)) == ["b1"])
    #expect(queue.nextWake(after: at(0)) == at(2))
    #expect(queue.startable(at: at(1.9)) == [])
    #expect(queue.startable(at: at(2)) == ["a1", "a2"])
    #expect(queue.nextWake(after: at(2)) == nil)
  }

  @Test func `the later of two holds counts`() {
    var queue = TransferQueue<String>(limit: 8, limitPerHost: 8)
    queue.hold(host: "a", until: at(5))
    queue.hold(host: "a", until: at(3))
    queue.add("a1", "a")
    queue.hold(host: "a", until: at(7))
    #expect(queue.nextWake(after: at(0)) == at(7))
    #expect(queue.startable(at: at(6)) == [])
    #expect(queue.startable(at: at(7)) == ["a1"])
  }

  @Test func `nobody is woken for a host that nobody waits for`() {
    var queue = TransferQueue<String>(limit: 8, limitPerHost: 8)
    queue.hold(host: "a", until: at(2))
    #expect(queue.nextWake(after: at(0)) == nil)
    queue.add("a1", "a")
    #expect(queue.nextWake(after: at(0)) == at(2))
    #expect(queue.cancel("a1") == true)
    #expect(queue.nextWake(after: at(0)) == nil)
    queue.add("a2", "a")
    #expect(queue.nextWake(after: at(3)) == at(3))
    #expect(queue.startable(at: at(3)) == ["a2"])
  }

  @Test func `a hold while transfers run keeps the rest back`() {
    var queue = TransferQueue<String>(limit: 8, limitPerHost: 1)
    queue.add("a1", "a")
    queue.add("a2", "a")
    #expect(queue.startable(at: at(0)) == ["a1"])
    queue.hold(host: "a", until: at(2))
    queue.finished("a1")
    #expect(queue.startable(at: at(1)) == [])
    #expect(queue.startable(at: at(2)) == ["a2"])
  }

  @Test func `limits below one are one`() {
    var queue = TransferQueue<String>(limit: 0, limitPerHost: -1)
    queue.add("a")
    #expect(queue.startable(at: at(0)) == ["a"])
  }

  @Test func `ten thousand waiting are cancelled within milliseconds`() {
    for hosts in [1, 3000] {
      var queue = TransferQueue<Int>(limit: 64, limitPerHost: 8)
      for id in 0..<10_000 { queue.add(id, "host \(id % hosts)") }
      let started = queue.startable(at: at(0))
      #expect(started.count == (hosts == 1 ? 8 : 64))
      let duration = ContinuousClock().measure {
        for id in 0..<10_000 { _ = queue.cancel(id) }
      }
      #expect(queue.waiting == 0)
      #expect(queue.startable(at: at(0)) == [])
      #expect(duration < .milliseconds(500), "a few ms in a release build; this bound finds a quadratic one")
    }
  }

  @Test func `a queue of a hundred thousand drains in order without slowing down`() {
    var queue = TransferQueue<Int>(limit: 64, limitPerHost: 8)
    for id in 0..<100_000 { queue.add(id, "host \(id % 2000)", LoadPriority.allCases[id % 5]) }
    var priorities: [Int] = []
    while true {
      let ids = queue.startable(at: at(0))
      if ids.isEmpty { break }
      for id in ids {
        priorities.append(id % 5)
        queue.finished(id)
      }
    }
    #expect(priorities.count == 100_000)
    #expect(priorities == priorities.sorted(by: >))
  }

  /// The same rules, slow and plain: search all that wait.
  private struct Model {
    struct Waiting { var id: Int, host: String, priority: LoadPriority, since: Moment, number: Int }
    var waiting: [Waiting] = []
    var running: [Int: String] = [:]
    var holds: [String: Moment] = [:]
    var number = 0

    mutating func startable(_ now: Moment, _ limit: Int, _ limitPerHost: Int) -> [Int] {
      var ids: [Int] = []
      while running.count < limit {
        let open = waiting.filter { entry in
          running.values.count { $0 == entry.host } < limitPerHost && holds[entry.host].map { $0 <= now } ?? true
        }
        func rank(_ entry: Waiting) -> (Moment, Int) {
          (entry.since + .seconds(5) * (4 - entry.priority.rawValue), entry.number)
        }
        guard let next = open.min(by: { rank($0) < rank($1) }) else { break }
        waiting.removeAll { $0.id == next.id }
        running[next.id] = next.host
        ids.append(next.id)
      }
      return ids
    }
  }

  @Test func `random life agrees with a plain model`() throws {
    for _ in 0..<30 {
      var queue = TransferQueue<Int>(limit: 4, limitPerHost: 2)
      var model = Model()
      var time = 0.0
      for step in 0..<400 {
        time += Double.random(in: 0...0.3)
        let host = "h\(Int.random(in: 0...4))"
        let priority = try #require(LoadPriority.allCases.randomElement())
        switch Int.random(in: 0...9) {
        case 0...4:
          queue.add(step, host, priority, time)
          model.waiting.append(.init(id: step, host: host, priority: priority, since: at(time), number: step))
        case 5:
          guard let entry = model.waiting.randomElement() else { continue }
          queue.changePriority(entry.id, to: priority)
          for index in model.waiting.indices where model.waiting[index].id == entry.id {
            model.waiting[index].priority = priority
          }
        case 6:
          let id = Int.random(in: 0...step)
          #expect(queue.cancel(id) == model.waiting.contains { $0.id == id })
          model.waiting.removeAll { $0.id == id }
        case 7:
          let until = at(time + Double.random(in: 0...2))
          queue.hold(host: host, until: until)
          if until > model.holds[host] ?? start { model.holds[host] = until }
        default:
          guard let id = model.running.keys.randomElement() else { continue }
          queue.finished(id)
          model.running[id] = nil
        }
        if Bool.random() { #expect(queue.startable(at: at(time)) == model.startable(at(time), 4, 2)) }
        #expect(queue.waiting == model.waiting.count)
        #expect(queue.running == model.running.count)
      }
    }
  }
}
