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
  }

  public let id: ObjectID
  /// Written by the core alone, after each step.
  let published = Lock(Published())

  init(_ id: ObjectID) { self.id = id }

  public var state: State { published.withLock { $0.state } }
  public var progress: LoadProgress { published.withLock { $0.progress } }
  /// Users that have not got their ending yet.
  public var waitingUsers: Int { published.withLock { $0.waitingUsers } }
}
