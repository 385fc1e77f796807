/// What is named by a number of its own, which we gave out, one after the other.
protocol Numbered: Hashable, Sendable {
  var number: UInt64 { get }
}

/// A dictionary of what is numbered. A handler or a seat is looked for in several of these on its way, and when thousands are
/// called off together that is most of the work: `Hasher` guards against keys that somebody chose, which nobody can here.
///
/// Open addressing: a pair stands at its number's home, or behind it before the next gap; at most two places of three are
/// taken. Homes are spread by the golden ratio (Knuth, The Art of Computer Programming 6.4), since numbers that follow one
/// another would stand in one row, and the next round of them would have to be looked for behind it.
struct NumberMap<Key: Numbered, Value: Sendable>: Sendable {
  private struct Pair: Sendable {
    let key: Key
    var value: Value
  }

  private var places: [Pair?] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var values: some Sequence<Value> { places.lazy.compactMap { $0?.value } }

  subscript(key: Key) -> Value? {
    get { place(of: key).flatMap { places[$0]?.value } }
    set {
      guard let newValue else {
        removeValue(forKey: key)
        return
      }
      if let place = place(of: key) {
        places[place]?.value = newValue
      } else {
        insert(Pair(key: key, value: newValue))
      }
    }
  }

  @discardableResult mutating func removeValue(forKey key: Key) -> Value? {
    guard let place = place(of: key) else { return nil }
    let removed = places[place].take()
    count -= 1
    closeGap(at: place)
    return removed?.value
  }

  // MARK: Places

  /// Their number is a power of two.
  private var mask: Int { places.count - 1 }

  private func home(of key: Key) -> Int {
    Int(truncatingIfNeeded: (key.number &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
  }

  private func place(of key: Key) -> Int? {
    guard count > 0 else { return nil }
    var place = home(of: key)
    while let found = places[place]?.key {
      if found == key { return place }
      place = (place + 1) & mask
    }
    return nil
  }

  private mutating func insert(_ pair: Pair) {
    if (count + 1) * 3 > places.count * 2 { grow() }
    put(pair)
    count += 1
  }

  private mutating func put(_ pair: Pair) {
    var place = home(of: pair.key)
    while places[place] != nil { place = (place + 1) & mask }
    places[place] = pair
  }

  private mutating func grow() {
    let old = places
    places = Array(repeating: nil, count: max(8, old.count * 2))
    for case let pair? in old { put(pair) }
  }

  /// Those behind it that could stand nearer to their homes move up.
  private mutating func closeGap(at start: Int) {
    var gap = start
    var place = (gap + 1) & mask
    while let key = places[place]?.key {
      // How far it is from its home, and from the gap, in the direction of the search.
      if (place - home(of: key)) & mask >= (place - gap) & mask {
        places.swapAt(place, gap)
        gap = place
      }
      place = (place + 1) & mask
    }
  }
}
