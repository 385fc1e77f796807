internal import Glibc

/// Runs work one after the other on a thread, never one inside the other.
///
/// A callback may call the manager, which may have an answer at once; a load that ends at once lets the next begin. Done
/// there and then, that would go ever deeper into the stack. What is asked to run inside other work runs when the
/// outermost has returned, on the same thread.
final class Trampoline: Sendable {
  typealias Work = @Sendable () -> Void

  /// A thread that is inside such work, and what is to run there when that has returned.
  private struct Frame: Sendable {
    let thread: UInt
    var waiting: [Work] = []
  }

  /// Of one thread the innermost is the last. Few: those that run just now.
  private let frames = Lock<[Frame]>([])

  /// - Parameter mayWait: false: it must run before this returns, since only now the thread is where the work belongs,
  ///   on an actor or a queue. What is asked for inside it then waits for its end.
  func run(mayWait: Bool = true, _ work: @escaping Work) {
    let thread = UInt(pthread_self())
    guard begin(work, thread, mayWait) else { return }
    work()
    runWaiting(thread)
  }

  /// The same for work that runs now or not at all. False: this thread is inside other work.
  func runAtOnce(_ work: () -> Void) -> Bool {
    let thread = UInt(pthread_self())
    let isOutermost = frames.withLock { frames in
      if frames.contains(where: { $0.thread == thread }) { return false }
      frames.append(Frame(thread: thread))
      return true
    }
    guard isOutermost else { return false }
    work()
    runWaiting(thread)
    return true
  }

  private func runWaiting(_ thread: UInt) {
    while let waiting = takeWaiting(thread) {
      for next in waiting { next() }
    }
  }

  /// False: it runs later.
  private func begin(_ work: @escaping Work, _ thread: UInt, _ mayWait: Bool) -> Bool {
    frames.withLock { frames in
      if mayWait, let innermost = frames.lastIndex(where: { $0.thread == thread }) {
        frames[innermost].waiting.append(work)
        return false
      }
      frames.append(Frame(thread: thread))
      return true
    }
  }

  /// nil: nothing waits, and the innermost has ended.
  private func takeWaiting(_ thread: UInt) -> [Work]? {
    frames.withLock { frames in
      guard let innermost = frames.lastIndex(where: { $0.thread == thread }) else { return nil }
      if frames[innermost].waiting.isEmpty {
        frames.remove(at: innermost)
        return nil
      }
      defer { frames[innermost].waiting = [] }
      return frames[innermost].waiting
    }
  }
}
