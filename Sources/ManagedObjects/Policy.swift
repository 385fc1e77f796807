/// What a manager may use and how it behaves. A value, read when the manager is made.
public struct Policy: Sendable {
  // Live handlers
  /// Handlers that may be looking up, loading or decoding at once.
  public var limitLiveHandlers = 64
  /// What becomes of a load when its last user leaves.
  public var whenLastLeaves = WhenLastLeaves.cancel

  // Transfers
  /// Transfers at once, in all; never more than a quarter of the process's descriptor limit.
  public var limitTransfers = 64
  public var limitTransfersPerHost = 8
  /// Time for a whole load where the request does not say; nil: no limit.
  public var timeout: Duration?
  public var retry = RetryPolicy()
  /// A server that asks to wait longer than this ends the request with `.retryLater` at once.
  public var limitRetryAfter = Duration.seconds(300)
  public var failureMemory = FailureMemoryPolicy()

  // Bodies
  /// Larger bodies go to a file of the backend while they arrive.
  public var limitBodyInMemoryBytes = 1 << 20
  /// The largest body where it cannot go to a file.
  public var limitMemoryOnlyBodyBytes = 1 << 30

  // Ready objects
  /// Cost of all ready objects kept; nil: a tenth of the memory there is (cgroup limit or RAM), at most 512 MB.
  public var limitMemoryCost: Int?
  public var memoryEviction = MemoryEviction.s3FIFO
  public var freshness = Freshness.http

  // Work
  /// Decoders at once; nil: one per core.
  public var limitDecoders: Int?
  public var decodeTimeout = Duration.seconds(60)
  /// Threads replaced because a decoder hung on them; after that decodes fail at once.
  public var limitReplacedThreads = 4
  /// Threads for the file cache.
  public var limitFileThreads = 4

  /// Header fields beside Authorization, Cookie and Proxy-Authorization that carry secrets: they choose the credential
  /// scope and are dropped when a redirect leaves the origin.
  public var secretFields: Set<String> = []

  public enum WhenLastLeaves: Sendable { case cancel, finish }

  public init() {}
}

/// Which object goes when memory is full.
public enum MemoryEviction: Sendable {
  /// S3-FIFO (Yang et al., SOSP 2023): resists scans, the better hit ratio for most loads.
  case s3FIFO
  /// Least recently used: better where popularity drifts fast.
  case lru
}

/// Retries of GET after transport errors and the statuses 408, 429, 502, 503 and 504.
public struct RetryPolicy: Sendable {
  /// Attempts in all, per location, that bring no new bytes.
  public var limitTries = 3
  /// Time from the first attempt to the start of the last.
  public var limitTime = Duration.seconds(30)
  /// Before the second attempt a random wait of up to this; doubled for each further one.
  public var firstDelay = Duration.milliseconds(250)
  public var limitDelay = Duration.seconds(10)

  public init() {}

  public static var never: RetryPolicy {
    var policy = RetryPolicy()
    policy.limitTries = 1
    return policy
  }
}

/// How long a failed answer without freshness of its own is repeated without asking again. Reload asks all the same.
public struct FailureMemoryPolicy: Sendable {
  /// 404 and 410.
  public var missing = Duration.seconds(60)
  /// Other 4xx, but for 408 and 429.
  public var refused = Duration.seconds(10)
  /// Bytes that no representation could decode: revalidated although fresh after this, doubled up to `limitUndecodable`.
  public var undecodable = Duration.seconds(1)
  public var limitUndecodable = Duration.seconds(60)
  /// Failures remembered at once.
  public var limitEntries = 4096

  public init() {}

  public static var none: FailureMemoryPolicy {
    var policy = FailureMemoryPolicy()
    policy.missing = .zero
    policy.refused = .zero
    policy.undecodable = .zero
    policy.limitUndecodable = .zero
    return policy
  }
}
