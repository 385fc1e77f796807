internal import Glibc

/// Runs work one after the other on a thread, never one inside the other.
///
/// A callback may call the manager, which may have an answer at once; a load that ends at once lets the next begin. Done
/// there and then, that would go ever deeper into the stack. What is asked to run inside other work runs when the
/// outermost has returned, on the same thread.
final class Trampoline: Sendable {
  /// For each thread that is inside some work: what is to run when it has returned.
  private let pending = Lock<[UInt: [@Sendable () -> Void]]>([:])

  func run(_ work: @escaping @Sendable () -> Void) {
    let thread = UInt(pthread_self())
    let isNested = pending.withLock { pending in
      if pending[thread] != nil {
        pending[thread]?.append(work)
        return true
      }
      pending[thread] = []
      return false
    }
    if isNested { return }
    work()
    while let next = takeNext(thread) { next() }
  }

  private func takeNext(_ thread: UInt) -> (@Sendable () -> Void)? {
    pending.withLock { pending in
      guard var waiting = pending[thread], !waiting.isEmpty else {
        pending[thread] = nil
        return nil
      }
      let next = waiting.removeFirst()
      pending[thread] = waiting
      return next
    }
  }
}
