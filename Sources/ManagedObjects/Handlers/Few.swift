/// A list of mostly one or two: what follows from an event, whom it ends. The first two cost no allocation.
struct Few<Element: Sendable>: Sendable, Sequence {
  private(set) var first: Element?
  private var second: Element?
  private var rest: [Element] = []

  init() {}
  init(_ only: Element) { first = only }
  init(all elements: some Sequence<Element>) { for element in elements { append(element) } }

  var isEmpty: Bool { first == nil }
  var count: Int { (first == nil ? 0 : 1) + (second == nil ? 0 : 1) + rest.count }

  mutating func append(_ element: Element) {
    if first == nil {
      first = element
    } else if second == nil {
      second = element
    } else {
      rest.append(element)
    }
  }

  /// Unlike a loop, which copies the list for its iterator.
  func each(_ body: (Element) -> Void) {
    if let first { body(first) }
    if let second { body(second) }
    for element in rest { body(element) }
  }

  struct Iterator: IteratorProtocol {
    private var left: Few
    private var index = 0

    fileprivate init(_ elements: Few) { left = elements }

    mutating func next() -> Element? {
      if let next = left.first.take() ?? left.second.take() { return next }
      guard index < left.rest.count else { return nil }
      defer { index += 1 }
      return left.rest[index]
    }
  }

  func makeIterator() -> Iterator { Iterator(self) }
}
