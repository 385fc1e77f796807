import Testing

@testable import ManagedObjects

@Suite struct SlotTableTests {
  /// Takes the queue apart from its oldest end.
  private func drained(_ slots: SlotTable, _ queue: SlotTable.QueueName) -> [String] {
    var slots = slots
    var names: [String] = []
    while slots[queue].oldest != SlotTable.none {
      let slot = slots[queue].oldest
      names.append(slots.key(slot).id.name)
      if slots.remove(slot) == nil { break }
    }
    return names
  }

  @Test func `queues keep the order of arrival and their costs`() {
    var slots = SlotTable()
    for number in 0..<4 { slots.insert(number, cost: 10, into: .small) }
    slots.insert(9, cost: 5, into: .main)
    #expect(slots[.small].count == 4)
    #expect(slots[.small].cost == 40)
    #expect(slots[.main].cost == 5)
    #expect(drained(slots, .small) == ["key 0", "key 1", "key 2", "key 3"])
  }

  @Test func `moving goes to the new end, from the middle and both ends`() throws {
    var slots = SlotTable()
    let numbers = (0..<4).map { slots.insert($0, into: .main) }
    slots.move(numbers[1], to: .main)
    slots.move(numbers[0], to: .main)
    slots.move(numbers[0], to: .main)
    slots.move(numbers[3], to: .weak)
    #expect(drained(slots, .main) == ["key 2", "key 1", "key 0"])
    #expect(drained(slots, .weak) == ["key 3"])
    #expect(slots[numbers[3]].queue == .weak)
  }

  @Test func `a freed slot is used again and found under its new key only`() {
    var slots = SlotTable()
    let first = slots.insert(1, into: .main)
    slots[first].wasRead = true
    let other = slots.insert(2, into: .main)
    #expect(slots.key(first) == memoryKey(1))
    #expect(slots.remove(first) != nil)
    #expect(slots.remove(first) == nil)
    #expect(slots.find(memoryKey(1)) == nil)
    #expect(slots.insert(3, into: .small) == first)
    #expect(!slots[first].wasRead)
    #expect(slots.find(memoryKey(3)) == first)
    #expect(slots.find(memoryKey(2)) == other)
    #expect(Set(slots.keys) == [memoryKey(2), memoryKey(3)])
  }
}
