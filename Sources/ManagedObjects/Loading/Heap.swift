/// A binary heap: the smallest element first, O(log n) a step.
struct Heap<Element: Comparable> {
  private var elements: [Element] = []

  var count: Int { elements.count }
  var smallest: Element? { elements.first }

  init() {}

  /// O(n).
  init(_ unordered: [Element]) {
    elements = unordered
    for index in stride(from: elements.count / 2 - 1, through: 0, by: -1) { sink(from: index) }
  }

  mutating func insert(_ element: Element) {
    elements.append(element)
    var index = elements.count - 1
    while index > 0, elements[index] < elements[(index - 1) / 2] {
      elements.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func popSmallest() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let smallest = elements.first else { return last }
    elements[0] = last
    sink(from: 0)
    return smallest
  }

  /// Keeps some of the elements. O(n).
  mutating func keep(where isKept: (Element) -> Bool) { self = Heap(elements.filter(isKept)) }

  private mutating func sink(from start: Int) {
    var index = start
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < elements.count && elements[child] < elements[least] {
        least = child
      }
      if least == index { return }
      elements.swapAt(index, least)
      index = least
    }
  }
}

extension Heap: Sendable where Element: Sendable {}
