/// Which of the entries looked at have to go: those past their time, then the least recently used until the goals
/// are met. A date in the future says nothing about use, so such an entry is the first to go.
struct TrimRule: Sendable {
  struct Item: Hashable, Sendable {
    var name: EntryName
    var inode: UInt64
    /// What it counts against the limit, in bytes.
    var charge: Int
    /// Nanoseconds since 1970.
    var lastUse: Int64
    /// When it was stored; 0: unknown.
    var stored: Int64
  }

  /// What may be left of the entries looked at; nil: no limit.
  var goalBytes: Int?
  var goalEntries: Int?
  /// No more entries go for the sake of the goals at once; those past their time go in any case.
  var limitVictims = Int.max
  var limitAge: Duration?
  var limitUnused: Duration?
  var now: WallTime

  /// Clocks of two machines, or of the kernel and us, differ by so much without anybody having set one.
  static let tolerance = Duration.seconds(120)

  /// Sorts the victims to the front, in no order among themselves, and tells how many they are. Takes a time in
  /// proportion to the number of items: they are partitioned around the border, not sorted.
  func select(_ items: inout [Item]) -> Int {
    let expired = items.partition { !isExpired($0) }
    var excess = Excess(of: items[expired...], over: self)
    var low = expired
    var high = items.count
    // All before `low` are victims; the border is somewhere in low...high.
    while low < high, excess.isThere {
      let (start, end) = partition(&items, low..<high)
      if excess.after(items[low..<start]).isThere {
        excess = excess.after(items[low..<start])
        low = start
        // Items of equal date have no order: they go one by one.
        while low < end, excess.isThere {
          excess.take(items[low])
          low += 1
        }
        if low < end { break }
      } else {
        high = start
      }
    }
    return low
  }

  /// The value an item is ordered by: smaller goes first.
  private func rank(_ item: Item) -> Int64 { isInFuture(item) ? Int64.min : item.lastUse }

  /// Its date says nothing about use.
  func isInFuture(_ item: Item) -> Bool {
    item.lastUse > (now + Self.tolerance).milliseconds.clampedMultiply(by: 1_000_000)
  }

  func isExpired(_ item: Item) -> Bool {
    isPast(item.stored, limitAge) || isPast(item.lastUse, limitUnused)
  }

  private func isPast(_ time: Int64, _ limit: Duration?) -> Bool {
    guard let limit, time != 0 else { return false }
    return now - WallTime(milliseconds: time / 1_000_000) > limit
  }

  /// How much is left to remove.
  private struct Excess {
    var bytes: Int
    var entries: Int
    var victims: Int

    init(of items: ArraySlice<Item>, over rule: TrimRule) {
      bytes = rule.goalBytes.map { goal in items.reduce(0) { $0 + $1.charge } - goal } ?? 0
      entries = rule.goalEntries.map { items.count - $0 } ?? 0
      victims = rule.limitVictims
    }

    var isThere: Bool { victims > 0 && (bytes > 0 || entries > 0) }

    mutating func take(_ item: Item) {
      bytes -= item.charge
      entries -= 1
      victims -= 1
    }

    func after(_ items: ArraySlice<Item>) -> Excess {
      var left = self
      for item in items { left.take(item) }
      return left
    }
  }

  /// Three parts: less than the pivot, equal to it (the range returned), more.
  private func partition(_ items: inout [Item], _ range: Range<Int>) -> (start: Int, end: Int) {
    let middle = range.lowerBound + range.count / 2
    let pivot = [rank(items[range.lowerBound]), rank(items[middle]), rank(items[range.upperBound - 1])].sorted()[1]
    var start = range.lowerBound
    var at = start
    var end = range.upperBound
    while at < end {
      let rank = rank(items[at])
      if rank < pivot {
        items.swapAt(at, start)
        start += 1
        at += 1
      } else if rank > pivot {
        end -= 1
        items.swapAt(at, end)
      } else {
        at += 1
      }
    }
    return (start, end)
  }
}
