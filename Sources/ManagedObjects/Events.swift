/// What happened inside a manager, in the order in which it did. For logs and gauges; never needed for control.
public enum ObjectEvent: Sendable {
  /// A load began; `attempt` counts from 1.
  case loadStarted(ObjectID, location: String, attempt: Int)
  /// Bytes are here and good; `bytes` is the length of the body. `timings` are there where it came over the network by
  /// `CurlLoader`, revalidations included.
  case loadFinished(ObjectID, ObjectSource, bytes: Int, timings: LoadTimings?)
  /// An attempt failed; another follows after `delay`.
  case loadRetried(ObjectID, ObjectError, delay: Duration)
  case decoded(ObjectID)
  case failed(ObjectID, ObjectError)
  case bumped(ObjectID)
  /// The last user left and the load was stopped.
  case abandoned(ObjectID)
  /// The cache could not be used; the object is delivered all the same. nil where no one object was concerned.
  /// One event for each kind of fault until the cache works again.
  case cacheFailed(ObjectID?, ObjectError)
}

/// Counts since the manager was made.
public struct ManagerStatistics: Hashable, Sendable {
  /// Requests answered from memory, before `manage` returned.
  public internal(set) var memoryHits = 0
  /// Handlers answered from the file cache without a load.
  public internal(set) var fileHits = 0
  /// Requests that found their handler already on its way.
  public internal(set) var joins = 0
  /// Attempts to load, retries included.
  public internal(set) var loads = 0
  /// Loads answered by 304.
  public internal(set) var revalidations = 0
  /// Calls of `readyFromLoaded` or of a decoder.
  public internal(set) var decodes = 0
  public internal(set) var bumps = 0
  public internal(set) var retries = 0
  public internal(set) var failures = 0
  /// Handlers now live, and waiting for a place in the FIFO.
  public internal(set) var liveHandlers = 0
  public internal(set) var waitingHandlers = 0
  public internal(set) var runningTransfers = 0
  /// Ready objects in memory, and their cost.
  public internal(set) var memoryObjects = 0
  public internal(set) var memoryCost = 0

  public init() {}
}
