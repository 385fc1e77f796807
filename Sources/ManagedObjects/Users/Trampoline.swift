internal import Glibc

/// Runs work one after the other on a thread, never one inside the other.
///
/// A callback may call the manager, which may have an answer at once; a load that ends at once lets the next begin. Done
/// there and then, that would go ever deeper into the stack. What is asked to run inside other work runs when the
/// outermost has returned, on the same thread.
final class Trampoline: Sendable {
  typealias Work = @Sendable () -> Void

  /// For each thread that is inside such work: what is to run when it has returned, for the innermost last.
  private let pending = Lock<[UInt: [[Work]]]>([:])

  /// - Parameter mayWait: false: it must run before this returns, since only now the thread is where the work belongs,
  ///   on an actor or a queue. What is asked for inside it then waits for its end.
  func run(mayWait: Bool = true, _ work: @escaping Work) {
    let thread = UInt(pthread_self())
    if mayWait, defers(work, thread) { return }
    pending.withLock { $0[thread, default: []].append([]) }
    work()
    while let waiting = takeWaiting(thread) {
      for next in waiting { next() }
    }
  }

  private func defers(_ work: @escaping Work, _ thread: UInt) -> Bool {
    pending.withLock { pending in
      guard let innermost = pending[thread]?.indices.last else { return false }
      pending[thread]?[innermost].append(work)
      return true
    }
  }

  /// nil: nothing waits, and the innermost has ended.
  private func takeWaiting(_ thread: UInt) -> [Work]? {
    pending.withLock { pending in
      guard let waiting = pending[thread]?.popLast() else { return nil }
      if !waiting.isEmpty {
        pending[thread]?.append([])
        return waiting
      }
      if pending[thread]?.isEmpty == true { pending[thread] = nil }
      return nil
    }
  }
}
