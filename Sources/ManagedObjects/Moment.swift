/// A point in time on a clock that never jumps, for waiting.
///
/// As `ContinuousClock.Instant`, which the standard library keeps to itself what it consists of: whatever holds one, as
/// most of the core's state does, would be laid out, copied and compared by looking that up at run time.
package struct Moment: Hashable, Comparable, Sendable {
  private let sinceStart: Duration

  /// - Parameter sinceStart: of the clock.
  init(_ sinceStart: Duration) { self.sinceStart = sinceStart }

  package static func < (left: Moment, right: Moment) -> Bool { left.sinceStart < right.sinceStart }
  package static func + (moment: Moment, time: Duration) -> Moment { Moment(moment.sinceStart + time) }
  package static func += (moment: inout Moment, time: Duration) { moment = moment + time }
  package static func - (moment: Moment, time: Duration) -> Moment { Moment(moment.sinceStart - time) }
  package static func - (left: Moment, right: Moment) -> Duration { left.sinceStart - right.sinceStart }
}
