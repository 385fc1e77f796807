/// A point in calendar time, in whole milliseconds since 1970-01-01 00:00 UTC.
///
/// What HTTP dates, stored entries and file dates are compared in. It may jump when the clock is set; waiting is
/// measured with `ContinuousClock` instead.
public struct WallTime: Hashable, Comparable, Sendable {
  public var milliseconds: Int64

  /// Before everything.
  public static let distantPast = WallTime(milliseconds: .min)

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }
  public init(seconds: Int64) { milliseconds = seconds.clampedMultiply(by: 1000) }

  /// Whole seconds, rounded down: the resolution of HTTP's dates.
  public var seconds: Int64 { milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0) }

  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

  public static func + (time: Self, duration: Duration) -> Self {
    WallTime(milliseconds: time.milliseconds.clampedAdd(duration.wholeMilliseconds))
  }

  public static func - (later: Self, earlier: Self) -> Duration {
    let (difference, overflow) = later.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
    return .milliseconds(overflow ? (later < earlier ? .min : .max) : difference)
  }
}

extension Duration {
  /// Milliseconds, rounded towards zero; the nearest representable value where they do not fit.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.clampedMultiply(by: 1000).clampedAdd(attoseconds / 1_000_000_000_000_000)
  }

  /// Seconds as a fraction, for printing and for rates.
  package var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

extension Int64 {
  /// Addition that stops at the ends instead of trapping.
  package func clampedAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// Multiplication that stops at the ends instead of trapping.
  package func clampedMultiply(by factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? ((self < 0) == (factor < 0) ? .max : .min) : product
  }
}
