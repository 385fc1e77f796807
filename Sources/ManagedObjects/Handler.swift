/// One id on its way, shared by its users: what the public may see of it. Knows no manager.
public final class Handler: Sendable {
  public enum State: String, Sendable {
    /// Waiting for a place among the live handlers, or for the file cache.
    case new
    case loading
    /// Bytes are here; they are being stored or decoded.
    case loaded
    case ready, failed
  }

  struct Published: Sendable {
    var state = State.new
    var progress = LoadProgress(receivedBytes: 0, expectedBytes: nil)
    var waitingUsers = 0
    /// Somebody wants to be told of progress.
    var isWatched = false
    var rule = ProgressRule()
    /// Of the attempt that runs, or ran last.
    var attemptBytes = 0
  }

  public let id: ObjectID
  /// Written by the core after each step, and by the running attempt as bytes come: for each piece of a large body the
  /// core has no time.
  let published = Lock(Published())

  init(_ id: ObjectID) { self.id = id }

  /// What to tell those who watch; nil: nothing new, or nobody does.
  func note(_ progress: LoadProgress) -> LoadProgress? {
    published.withLock { published in
      published.attemptBytes = progress.receivedBytes
      guard let shown = published.rule.pass(progress) else { return nil }
      published.progress = shown
      return published.isWatched ? shown : nil
    }
  }

  public var state: State { published.withLock { $0.state } }
  public var progress: LoadProgress { published.withLock { $0.progress } }
  /// Users that have not got their ending yet.
  public var waitingUsers: Int { published.withLock { $0.waitingUsers } }
}
