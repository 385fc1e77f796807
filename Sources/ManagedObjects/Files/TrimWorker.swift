internal import Dispatch

/// The one background thread of a cache, borrowed while there is work: runs one piece at a time, and of any number of
/// requests while one waits only one.
final class TrimWorker: Sendable {
  private let queue = DispatchQueue(label: "ManagedObjects.trim")
  private let running = DispatchGroup()
  private let isWaiting = Lock(false)

  /// Runs `work` soon; once more as long as it says that there is more to do.
  func wake(_ work: @escaping @Sendable () -> Bool) {
    let wasWaiting = isWaiting.withLock { isWaiting in
      let was = isWaiting
      isWaiting = true
      return was
    }
    guard !wasWaiting else { return }
    queue.async(group: running) { [self] in
      isWaiting.withLock { $0 = false }
      if work() { wake(work) }
    }
  }

  /// Waits until nothing is running or waiting; false: it took longer.
  @discardableResult
  func wait(atMost time: Duration) -> Bool {
    let microseconds = Int(clamping: min(time, .seconds(3600)).wholeMilliseconds) * 1000
    return running.wait(timeout: .now() + .microseconds(microseconds)) == .success
  }
}
