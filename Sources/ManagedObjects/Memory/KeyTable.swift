/// Finds a slot by its key's hash: open addressing with linear probing, at most half full.
///
/// A dictionary would keep a second copy of each key and hash it again. This holds eight bytes a place, and as 32 bits
/// of the hash are among them, a slot is looked at only when it almost surely is the right one. Removal shifts the
/// later members of a run back, so there are no tombstones and nothing to rebuild.
struct KeyTable: Sendable {
  private struct Place: Sendable {
    /// The low bits of the hash; they also say where the search for it begins.
    var tag: UInt32 = 0
    var slot: Int32 = free

    var isFree: Bool { slot == free }
  }

  private static let free = Int32(-1)

  /// A power of two, of which at least half are free, so that every search ends.
  private var places = Array(repeating: Place(), count: 16)
  private(set) var count = 0

  /// The slot for which `matches` is true, among those that may have this hash.
  @inline(__always)
  func find(_ hash: Int, matches: (Int32) -> Bool) -> Int32? {
    let tag = UInt32(truncatingIfNeeded: hash)
    var at = home(of: tag)
    while !places[at].isFree {
      if places[at].tag == tag, matches(places[at].slot) { return places[at].slot }
      at = next(at)
    }
    return nil
  }

  mutating func insert(_ slot: Int32, hash: Int) {
    if (count + 1) * 2 > places.count { grow() }
    put(Place(tag: UInt32(truncatingIfNeeded: hash), slot: slot))
    count += 1
  }

  /// Does nothing when the slot is not there.
  mutating func remove(_ slot: Int32, hash: Int) {
    var hole = home(of: UInt32(truncatingIfNeeded: hash))
    while places[hole].slot != slot {
      guard !places[hole].isFree else { return }
      hole = next(hole)
    }
    close(hole)
    count -= 1
  }

  /// Fills the hole with a later member of its run, then that one's place, until the run ends.
  private mutating func close(_ first: Int) {
    var hole = first
    var at = next(hole)
    while !places[at].isFree {
      // A member may not go before its home: seen along the ring, home ... hole ... at.
      let fromHome = (at &- home(of: places[at].tag)) & mask
      if fromHome >= (at &- hole) & mask {
        places[hole] = places[at]
        hole = at
      }
      at = next(at)
    }
    places[hole] = Place()
  }

  private var mask: Int { places.count - 1 }

  @inline(__always)
  private func home(of tag: UInt32) -> Int { Int(tag) & mask }

  @inline(__always)
  private func next(_ at: Int) -> Int { (at &+ 1) & mask }

  private mutating func put(_ place: Place) {
    var at = home(of: place.tag)
    while !places[at].isFree { at = next(at) }
    places[at] = place
  }

  private mutating func grow() {
    let old = places
    places = Array(repeating: Place(), count: old.count * 2)
    for place in old where !place.isFree { put(place) }
  }
}
