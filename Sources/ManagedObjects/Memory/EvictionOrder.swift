/// Which entry goes next. A rule over the queues of a `SlotTable`; holds no entries itself.
protocol EvictionOrder: Sendable {
  /// A stored entry was read.
  func read(_ slot: Int32, in slots: inout SlotTable)

  /// The queue for an entry that is new, or new again.
  mutating func queue(forNew hash: Int, in slots: SlotTable) -> SlotTable.QueueName

  /// The next to go; nil when nothing is left in `small` and `main`.
  mutating func victim(in slots: inout SlotTable) -> Int32?
}

/// Least recently used: `main` in order of last use.
struct LRUOrder: EvictionOrder {
  func read(_ slot: Int32, in slots: inout SlotTable) { slots.move(slot, to: .main) }

  func queue(forNew hash: Int, in slots: SlotTable) -> SlotTable.QueueName { .main }

  func victim(in slots: inout SlotTable) -> Int32? { slots[.main].oldest.asSlot }
}

/// S3-FIFO: Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023.
///
/// Newcomers pass through `small`, a tenth of the cache. Those read there go on to `main`; the others go, so that a scan
/// cannot flush `main`, and are remembered as ghosts: one that comes back soon starts in `main`. There, having been read
/// saves it from going once. A read only leaves a mark, which keeps the locked section of a hit short.
///
/// The paper asks a newcomer for two reads, and counts up to three in `main`. This forgets sooner what was popular once:
/// where popularity moves it hits 1 to 2 of a hundred requests more, and elsewhere half a one less.
struct S3FIFOOrder: EvictionOrder {
  private let smallCost: Int
  private let smallCount: Int
  private var ghosts = GhostTable()

  init(limitCost: Int, limitCount: Int) {
    smallCost = max(1, limitCost / 10)
    smallCount = max(1, limitCount / 10)
  }

  func read(_ slot: Int32, in slots: inout SlotTable) {
    // What is read often is marked already, and writing would take its line of memory from the other processors' caches.
    if !slots[slot].wasRead { slots[slot].wasRead = true }
  }

  mutating func queue(forNew hash: Int, in slots: SlotTable) -> SlotTable.QueueName {
    ghosts.recall(hash, memory: memory(of: slots)) ? .main : .small
  }

  /// At most this many entries are spared in one search. It bounds the time the lock is held when nearly all of a large
  /// cache was read; on ordinary loads a search spares one or two.
  private static let limitSpared = 256

  mutating func victim(in slots: inout SlotTable) -> Int32? {
    for _ in 0..<Self.limitSpared {
      guard let slot = candidate(in: slots) else { return nil }
      if !spares(slot, in: &slots) { return chosen(slot, in: slots) }
    }
    return candidate(in: slots).map { chosen($0, in: slots) }
  }

  private func candidate(in slots: SlotTable) -> Int32? {
    let small = slots[.small]
    let isSmallFull = small.cost >= smallCost || small.count >= smallCount
    return isSmallFull || slots[.main].count == 0 ? small.oldest.asSlot : slots[.main].oldest.asSlot
  }

  /// Whether a read saves the entry; if so it is at the new end of `main` now.
  private func spares(_ slot: Int32, in slots: inout SlotTable) -> Bool {
    guard slots[slot].wasRead else { return false }
    slots[slot].wasRead = false
    slots.move(slot, to: .main)
    return true
  }

  /// Ghosts are for those that had no time to prove themselves, not for those that did and failed.
  private mutating func chosen(_ slot: Int32, in slots: SlotTable) -> Int32 {
    if slots[slot].queue == .small { ghosts.remember(slots.hash(slot), memory: memory(of: slots)) }
    return slot
  }

  /// As many ghosts as there are objects.
  private func memory(of slots: SlotTable) -> Int { slots[.small].count + slots[.main].count }
}

extension Int32 {
  fileprivate var asSlot: Int32? { self == SlotTable.none ? nil : self }
}
