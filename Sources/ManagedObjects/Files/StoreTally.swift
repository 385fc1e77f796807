internal import Synchronization

/// What an instance of a file cache has done since it was made.
final class StoreTally: Sendable {
  private let hits = Atomic(0)
  private let misses = Atomic(0)
  private let evicted = Atomic(0)
  private let healed = Atomic(0)
  /// Commits, and bytes committed, since the limits were looked at.
  private let commits = Atomic(0)
  private let bytes = Atomic(0)
  private let checks = Atomic(0)
  /// Millionths; less than nothing: not known yet.
  private let filled = Atomic(-1)

  func hit() { hits.wrappingAdd(1, ordering: .relaxed) }
  func miss() { misses.wrappingAdd(1, ordering: .relaxed) }
  func evict() { evicted.wrappingAdd(1, ordering: .relaxed) }
  func heal() { healed.wrappingAdd(1, ordering: .relaxed) }

  /// Adds a commit; true where the limits have to be looked at, after so many commits or bytes.
  func commit(bytes new: Int, interval: Int, intervalBytes: Int) -> Bool {
    let isDue =
      commits.wrappingAdd(1, ordering: .relaxed).newValue >= interval
      || bytes.wrappingAdd(new, ordering: .relaxed).newValue >= intervalBytes
    if isDue {
      commits.store(0, ordering: .relaxed)
      bytes.store(0, ordering: .relaxed)
    }
    return isDue
  }

  /// True once in 64 calls: asking for the room on the disk is a system call.
  func isSpaceDue() -> Bool { checks.wrappingAdd(1, ordering: .relaxed).oldValue.isMultiple(of: 64) }

  /// The part of the limits that was in use when they were looked at last; nil: they were not yet.
  var fill: Double? {
    get {
      let millionths = filled.load(ordering: .relaxed)
      return millionths < 0 ? nil : Double(millionths) / 1e6
    }
    set { filled.store(newValue.map { Int($0 * 1e6) } ?? -1, ordering: .relaxed) }
  }

  func fill(_ statistics: inout BackendStatistics) {
    statistics.hits = hits.load(ordering: .relaxed)
    statistics.misses = misses.load(ordering: .relaxed)
    statistics.evictedEntries = evicted.load(ordering: .relaxed)
    statistics.healedEntries = healed.load(ordering: .relaxed)
  }
}
