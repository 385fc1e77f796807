/// When a read renews an entry's last use, which is its file's modification time.
///
/// Renewing it at every read makes a hit half as dear again; renewing it only when it is older than a tenth of the
/// turnover keeps the hit ratio of exact LRU.
enum TouchRule {
  static let limitGranularity = Duration.seconds(3600)

  /// - Parameter turnover: how long an unused entry stays before it is evicted; nil: not known, so every use counts.
  static func isDue(lastUse: WallTime, now: WallTime, turnover: Duration?) -> Bool {
    guard let turnover, lastUse <= now else { return true }
    return now - lastUse > min(limitGranularity, turnover / 10)
  }
}
