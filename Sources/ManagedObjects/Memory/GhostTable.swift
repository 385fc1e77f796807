/// Remembers, by hash alone, which keys were evicted not long ago.
///
/// A key that comes back while it is remembered was evicted too early. One place of eight bytes per hash, four places
/// for each key to be remembered: a later key may overwrite an earlier one, and two keys of equal hash are taken for one.
/// Either costs a little hit ratio only.
struct GhostTable: Sendable {
  private struct Place: Sendable {
    var tag: UInt32 = 0
    /// The number of the eviction, counted from 1; 0: empty.
    var number: UInt32 = 0
  }

  /// A power of two.
  private var places = Array(repeating: Place(), count: 16)
  private var evictions: UInt32 = 0

  /// - Parameter memory: how many evictions are to be remembered.
  mutating func remember(_ hash: Int, memory: Int) {
    if memory > places.count / 4 { grow() }
    evictions &+= 1
    let tag = UInt32(truncatingIfNeeded: hash)
    places[index(tag)] = Place(tag: tag, number: evictions)
  }

  /// Whether the key was among the last `memory` evictions. It is forgotten by this.
  mutating func recall(_ hash: Int, memory: Int) -> Bool {
    let tag = UInt32(truncatingIfNeeded: hash)
    let place = places[index(tag)]
    guard place.tag == tag, place.number != 0 else { return false }
    places[index(tag)] = Place()
    return Int(evictions &- place.number) < memory
  }

  private func index(_ tag: UInt32) -> Int { Int(tag) & (places.count - 1) }

  private mutating func grow() {
    let old = places
    places = Array(repeating: Place(), count: old.count * 2)
    for place in old where place.number != 0 { places[index(place.tag)] = place }
  }
}
