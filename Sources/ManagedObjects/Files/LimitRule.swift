/// How much a whole cache may hold now, of its limits and of the room on its file system.
struct LimitRule: Hashable, Sendable {
  var limitBytes: Int?
  var limitEntries: Int?

  /// - Parameter space: nil: not asked.
  init(_ limits: CacheLimits, total: SharedCounters.Count, space: FileSpace?) {
    limitBytes = limits.limitBytes.map { max(0, $0) }
    limitEntries = limits.limitEntries.map { max(0, $0) }
    if let space {
      let kept = limits.keepFreeBytes.map { max(0, $0) } ?? min(1 << 30, space.total / 20)
      let shortage = kept - space.free
      if shortage > 0 { limitBytes = min(limitBytes ?? .max, max(0, total.bytes - shortage)) }
    }
  }

  func isOver(_ total: SharedCounters.Count) -> Bool {
    limitBytes.map { total.bytes > $0 } ?? false || limitEntries.map { total.entries > $0 } ?? false
  }

  /// The part of the limits that is in use, the larger of bytes and entries; at most 2, and 0 where there is no limit.
  func fill(_ total: SharedCounters.Count) -> Double {
    let bytes = limitBytes.map { Double(total.bytes) / Double(max(1, $0)) } ?? 0
    let entries = limitEntries.map { Double(total.entries) / Double(max(1, $0)) } ?? 0
    return min(2, max(bytes, entries))
  }

  /// Over by nearly a hundredth, or by one object: those who commit wait for the trimmer. Nearly, since the limits are
  /// looked at only after each five-hundredth.
  func isFarOver(_ total: SharedCounters.Count, object bytes: Int) -> Bool {
    limitBytes.map { total.bytes - $0 > max($0 / 125, bytes) } ?? false
      || limitEntries.map { total.entries - $0 > max($0 / 125, 1) } ?? false
  }

  /// What is left of all entries: the low water.
  func goalOfAll(lowWater: Double) -> TrimGoal {
    TrimGoal(
      bytes: limitBytes.map { Self.lowered($0, to: lowWater) },
      entries: limitEntries.map { Self.lowered($0, to: lowWater) })
  }

  /// What is left of a part of the cache. Of its entries goes a tenth (as the low water says), since to look at it has
  /// its price; as many more as bring the whole below its limits; but no more than a fifth, so that what was used lately
  /// does not go for having come to the same place as a large body.
  /// - Parameter part: what it holds.
  func goal(of part: SharedCounters.Count, total: SharedCounters.Count, lowWater: Double) -> TrimGoal {
    TrimGoal(
      bytes: limitBytes.map { part.bytes - max(0, total.bytes - $0) },
      entries: min(
        Self.lowered(part.entries, to: lowWater),
        part.entries - max(0, limitEntries.map { total.entries - $0 } ?? 0)),
      limitVictims: max(1, part.entries / 5))
  }

  private static func lowered(_ count: Int, to lowWater: Double) -> Int {
    Int(exactly: (Double(count) * min(1, max(0, lowWater))).rounded(.down)) ?? count
  }

  /// After how many commits the limits have to be looked at again, so that they are not exceeded by more than a part
  /// of the tolerance in between.
  static func checkInterval(_ limits: CacheLimits, shards: Int) -> Int {
    max(1, min(shards / 16, (limits.limitEntries ?? .max) / 500))
  }
}

/// What a visit may leave of the entries that it looks at; nil: no limit.
struct TrimGoal: Hashable, Sendable {
  var bytes: Int?
  var entries: Int?
  /// No more of them go at once.
  var limitVictims = Int.max
}
