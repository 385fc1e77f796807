import Testing

@testable import ManagedObjects

@Suite struct HeapTests {
  @Test func `elements come out in order, whatever the order they came in`() {
    for count in [0, 1, 2, 3, 10, 1000] {
      let numbers = (0..<count).map { _ in Int.random(in: 0...count) }
      var one = Heap(numbers)
      var other = Heap<Int>()
      for number in numbers { other.insert(number) }
      #expect(one.smallest == numbers.min())
      #expect((0..<count).compactMap { _ in one.popSmallest() } == numbers.sorted())
      #expect((0..<count).compactMap { _ in other.popSmallest() } == numbers.sorted())
      #expect(one.popSmallest() == nil)
      #expect(one.count == 0)
    }
  }

  @Test func `what is not kept is gone`() {
    var heap = Heap(Array(0..<100))
    heap.keep { $0 % 2 == 1 }
    #expect(heap.count == 50)
    #expect((0..<50).compactMap { _ in heap.popSmallest() } == Array(stride(from: 1, to: 100, by: 2)))
  }
}
