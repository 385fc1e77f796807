internal import Dispatch
internal import Glibc

/// Where a manager's time comes from, so that tests turn it by hand.
package protocol TimeSource: Sendable {
  /// For waiting: never jumps.
  var now: Moment { get }
  /// For HTTP and file dates: may jump.
  var wallNow: WallTime { get }
  /// The same, up to 10 ms ago: for what is counted in seconds and asked all the time. Not to be compared with file dates.
  var wallLately: WallTime { get }
  /// Runs `work` once, on any thread, not before `delay` has passed; never before this call returned.
  func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledWork
}

extension TimeSource {
  package var wallLately: WallTime { wallNow }
}

extension Moment {
  /// By the machine's clock, which goes on while the machine sleeps.
  package static var now: Moment {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Moment(.seconds(time.tv_sec) + .nanoseconds(time.tv_nsec))
  }
}

/// Work that waits for its time.
package struct ScheduledWork: Sendable {
  private let call: @Sendable () -> Void

  package init(cancel: @escaping @Sendable () -> Void) { call = cancel }

  /// After it returned the work may still be running, but will not start.
  package func cancel() { call() }
}

/// The machine's clocks.
package struct SystemTime: TimeSource {
  package init() {}

  package var now: Moment { .now }

  /// By the system's call: every look-up asks, and `Date` takes twice as long.
  package var wallNow: WallTime { read(CLOCK_REALTIME) }

  /// As of the last tick (clock_gettime(2)): a fifth of the time that the exact one takes.
  package var wallLately: WallTime { read(CLOCK_REALTIME_COARSE) }

  private func read(_ clock: clockid_t) -> WallTime {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledWork {
    let timer = Timer(after: delay, work)
    return ScheduledWork { timer.cancel() }
  }
}

/// One shot of a dispatch timer, which unlike `asyncAfter` gives back what it holds as soon as it is cancelled.
private final class Timer: Sendable {
  /// Holds this timer through its handler, until it fires or is cancelled.
  // Sound: a dispatch source is not marked Sendable, but may be used from any thread (dispatch/source.h).
  private nonisolated(unsafe) let source: any DispatchSourceTimer

  init(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    // A serial queue of its own, which gets a thread at once: the shared ones may all be computing, and what is scheduled
    // may block its own thread only.
    unsafe source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "ManagedObjects.timer"))
    let milliseconds = Int(clamping: min(max(0, delay.wholeMilliseconds), Int64(Int32.max)))
    unsafe source.schedule(deadline: .now() + .milliseconds(milliseconds), leeway: .milliseconds(1))
    unsafe source.setEventHandler { [self] in
      unsafe source.cancel()
      work()
    }
    unsafe source.activate()
  }

  func cancel() { unsafe source.cancel() }
}
