import Testing

@testable import ManagedObjects

@Suite struct EvictionOrderTests {
  private func insert(_ number: Int, cost: Int = 1, into queue: SlotTable.QueueName, _ slots: inout SlotTable) -> Int32
  {
    slots.insert(number, cost: cost, into: queue)
  }

  @Test func `LRU evicts what was not read for the longest time`() {
    var slots = SlotTable()
    let order = LRUOrder()
    let a = insert(1, into: .main, &slots)
    let b = insert(2, into: .main, &slots)
    order.read(a, in: &slots)
    #expect(order.victim(in: &slots) == b)
    #expect(order.queue(forNew: 0, in: slots) == .main)
  }

  @Test func `with nothing to evict there is no victim`() {
    var slots = SlotTable()
    var order = S3FIFOOrder(limitCost: 100, limitCount: 100)
    #expect(order.victim(in: &slots) == nil)
    #expect(LRUOrder().victim(in: &slots) == nil)
  }

  @Test func `a newcomer that was not read goes, one that was read moves on`() {
    var slots = SlotTable()
    var order = S3FIFOOrder(limitCost: 10, limitCount: 100)
    let read = insert(1, into: .small, &slots)
    let unread = insert(2, into: .small, &slots)
    order.read(read, in: &slots)
    #expect(order.victim(in: &slots) == unread)
    #expect(slots[read].queue == .main)
    #expect(!slots[read].wasRead)
  }

  @Test func `main is spared while small has more than its tenth`() {
    var slots = SlotTable()
    var order = S3FIFOOrder(limitCost: 100, limitCount: 1_000)
    let main = insert(1, cost: 50, into: .main, &slots)
    let small = insert(2, cost: 9, into: .small, &slots)
    #expect(order.victim(in: &slots) == main)
    _ = insert(3, cost: 1, into: .small, &slots)
    #expect(order.victim(in: &slots) == small)
  }

  @Test func `having been read, however often, saves an object in main once`() {
    var slots = SlotTable()
    var order = S3FIFOOrder(limitCost: 100, limitCount: 1_000)
    let read = insert(1, into: .main, &slots)
    for _ in 0..<9 { order.read(read, in: &slots) }
    #expect(slots[read].wasRead)
    let other = insert(2, into: .main, &slots)
    #expect(order.victim(in: &slots) == other)
    _ = slots.remove(other)
    #expect(order.victim(in: &slots) == read)
  }

  @Test func `an evicted newcomer that comes back soon starts in main`() {
    var slots = SlotTable()
    var order = S3FIFOOrder(limitCost: 10, limitCount: 100)
    let slot = insert(1, into: .small, &slots)
    let first = order.queue(forNew: memoryKey(1).hash, in: slots)
    let victim = order.victim(in: &slots)
    let second = order.queue(forNew: memoryKey(1).hash, in: slots)
    let third = order.queue(forNew: memoryKey(1).hash, in: slots)
    #expect(victim == slot)
    #expect([first, second, third] == [.small, .main, .small])
  }

  @Test func `a search for a victim is bounded when everything was read`() {
    var slots = SlotTable()
    var order = S3FIFOOrder(limitCost: 1 << 20, limitCount: 1 << 20)
    let all = (0..<1_000).map { insert($0, into: .main, &slots) }
    for slot in all { order.read(slot, in: &slots) }
    let victim = order.victim(in: &slots)
    #expect(victim == all[256])
  }
}

@Suite struct GhostTableTests {
  /// Which of the hashes are remembered. Asking makes them forgotten.
  private func recalled(_ hashes: some Sequence<Int>, _ ghosts: inout GhostTable, memory: Int) -> [Int] {
    hashes.filter { ghosts.recall($0, memory: memory) }
  }

  @Test func `remembers as many evictions as asked for, once each`() {
    var ghosts = GhostTable()
    for hash in 1...100 { ghosts.remember(hash, memory: 100) }
    #expect(recalled([101, 100, 100], &ghosts, memory: 100) == [100])
    #expect(recalled([10, 60], &ghosts, memory: 50) == [60])
  }

  @Test func `nothing was evicted in the beginning`() {
    var ghosts = GhostTable()
    #expect(recalled(-20..<20, &ghosts, memory: .max) == [])
  }

  @Test func `a later eviction may take the place of an earlier one, never its name`() {
    var ghosts = GhostTable()
    for hash in 0..<1_000 { ghosts.remember(hash << 32 | hash % 3, memory: 8) }
    #expect(recalled([0, 1, 2, 3, 16], &ghosts, memory: 8) == [0, 1, 2])
  }
}
