import Foundation
import ManagedObjects
import TestSupport
import Testing

struct PosixFileSystemTests {
  /// SCHED_BATCH of sched(7), which the C library's module does not show.
  private static let batch: Int32 = 3

  @Test func `a thread that stands back is a batch thread for that time`() async {
    // On a thread of its own: whatever went wrong stays there.
    let policies = await onOwnThread {
      let before = sched_getscheduler(0)
      let during = PosixFileSystem().standingBack { sched_getscheduler(0) }
      return [before, during, sched_getscheduler(0)]
    }
    #expect(policies == [SCHED_OTHER, Self.batch, SCHED_OTHER])
  }

  @Test func `a thread that stands back already is left as it was`() async {
    let policies = await onOwnThread {
      PosixFileSystem().standingBack {
        [PosixFileSystem().standingBack { sched_getscheduler(0) }, sched_getscheduler(0)]
      }
    }
    #expect(policies == [Self.batch, Self.batch])
  }

  private func onOwnThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: work()) }
    }
  }
}
