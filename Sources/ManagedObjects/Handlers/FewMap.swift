/// A dictionary of mostly one: the users of one object are seldom more. The first pair costs neither an allocation nor a
/// hash; a crowd stands in a dictionary.
struct FewMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Element = (key: Key, value: Value)

  private var one: Element?
  /// All others; none of them has the key of `one`.
  private var others: [Key: Value] = [:]

  var count: Int { (one == nil ? 0 : 1) + others.count }
  var isEmpty: Bool { one == nil && others.isEmpty }
  /// The one that is there; nil: none, or several.
  var only: Element? { others.isEmpty ? one : others.count == 1 && one == nil ? others.first : nil }

  subscript(key: Key) -> Value? {
    get {
      if let one, one.key == key { return one.value }
      return others.isEmpty ? nil : others[key]
    }
    set {
      if let newValue { set(key, to: newValue) } else { removeValue(forKey: key) }
    }
  }

  private mutating func set(_ key: Key, to value: Value) {
    if isEmpty || one?.key == key { one = (key, value) } else { others[key] = value }
  }

  @discardableResult mutating func removeValue(forKey key: Key) -> Value? {
    guard let one, one.key == key else { return others.isEmpty ? nil : others.removeValue(forKey: key) }
    self.one = nil
    return one.value
  }
}

extension FewMap: Sequence {
  struct Iterator: IteratorProtocol {
    fileprivate var one: Element?
    fileprivate var others: Dictionary<Key, Value>.Iterator

    mutating func next() -> Element? { one.take() ?? others.next() }
  }

  func makeIterator() -> Iterator { Iterator(one: one, others: others.makeIterator()) }
}
