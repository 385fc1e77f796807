/// When a read renews an entry's last use, which is its file's modification time.
///
/// Renewing it at every read makes a hit half as dear again; renewing it only when it is older than a tenth of the
/// turnover keeps the hit ratio of exact LRU. Times are milliseconds, since `Duration` takes as long to divide as a
/// path to spell.
enum TouchRule {
  static let limitGranularity: Int64 = 3_600_000

  /// - Parameters:
  ///   - age: since the last use; less than nothing where the date is in the future.
  ///   - turnover: how long an unused entry stays before it is evicted; nil: not known, so every use counts.
  ///   - limitUnused: how long it may stay unused in any case; nil: no such limit.
  static func isDue(age: Int64, turnover: Int64?, limitUnused: Int64? = nil) -> Bool {
    guard let turnover, age >= 0 else { return true }
    return age > min(limitGranularity, turnover / 10, (limitUnused ?? .max) / 10)
  }

  /// How long an unused entry will stay, by what is known before the first eviction: in the time that the oldest entry
  /// has been here the cache filled up to this part of its limits.
  static func turnover(oldestAge: Int64, fill: Double) -> Int64 {
    guard fill < 1 else { return oldestAge }
    return Int64(exactly: (Double(oldestAge) / max(fill, 1e-6)).rounded()) ?? .max
  }
}
