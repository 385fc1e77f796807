internal import Dispatch
internal import Glibc

/// Where a manager's time comes from, so that tests turn it by hand.
package protocol TimeSource: Sendable {
  /// For waiting: never jumps.
  var now: ContinuousClock.Instant { get }
  /// For HTTP and file dates: may jump.
  var wallNow: WallTime { get }
  /// Runs `work` once, on any thread, not before `delay` has passed; never before this call returned.
  func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledWork
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

  package var now: ContinuousClock.Instant { .now }

  package var wallNow: WallTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledWork {
    let item = DispatchWorkItem(block: work)
    let nanoseconds = min(Int64(Int32.max) * 1_000_000, max(0, delay.wholeMilliseconds) &* 1_000_000)
    DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds)), execute: item)
    // Sound: DispatchWorkItem is not marked Sendable, but its `cancel` may be called from any thread (dispatch/block.h).
    nonisolated(unsafe) let shared = item
    return ScheduledWork { unsafe shared.cancel() }
  }
}
