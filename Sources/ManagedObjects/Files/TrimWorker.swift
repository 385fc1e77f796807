internal import Dispatch

/// The one background thread of a cache, borrowed while there is work: runs one piece at a time, and of any number of
/// requests for one kind of work while one waits only one.
final class TrimWorker: Sendable {
  enum Work: Hashable {
    /// Down to the limits, a slice at a time.
    case slice
    /// A step over the next shards.
    case step
  }

  private let queue = DispatchQueue(label: "ManagedObjects.trim")
  private let running = DispatchGroup()
  /// Each kind by itself: a slice that has more to do would otherwise be dropped for a step that waits.
  private let waiting = Lock(Set<Work>())

  /// Runs `work` soon; once more as long as it says that there is more to do.
  func wake(_ kind: Work, _ work: @escaping @Sendable () -> Bool) {
    guard waiting.withLock({ $0.insert(kind).inserted }) else { return }
    queue.async(group: running) { [self] in
      waiting.withLock { _ = $0.remove(kind) }
      if work() { wake(kind, work) }
    }
  }

  /// Waits until nothing is running or waiting; false: it took longer.
  @discardableResult
  func wait(atMost time: Duration) -> Bool {
    let microseconds = Int(clamping: min(time, .seconds(3600)).wholeMilliseconds) * 1000
    return running.wait(timeout: .now() + .microseconds(microseconds)) == .success
  }
}
