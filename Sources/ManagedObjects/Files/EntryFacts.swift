/// What is known of a stored body: the response's head, when it came, and what its reuse depends on.
public struct EntryFacts: Hashable, Sendable {
  /// The final response as received. Content-Encoding stays, although the stored bytes are decoded.
  public var head: LoadHead
  /// When the request was sent and its response received (RFC 9111 section 4.2.3).
  public var requestTime: WallTime
  public var responseTime: WallTime
  /// The request's fields that Vary names, as sent; secret ones as a keyed digest. Also the Accept-Encoding that the caller
  /// set, where the server has coded the body, which is then stored as it was sent.
  public var varying: HeaderFields
  /// Names the body: 304 keeps it, new bytes get a new one. Random, so that no two processes give the same.
  public var generation: UInt64
  /// XXH3-64 of the body; nil: not known yet, the backend computes it.
  public var checksum: UInt64?

  public init(
    head: LoadHead, requestTime: WallTime = WallTime(milliseconds: 0),
    responseTime: WallTime = WallTime(milliseconds: 0),
    varying: HeaderFields = [:], generation: UInt64 = .random(in: .min ... .max), checksum: UInt64? = nil
  ) {
    self.head = head
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.varying = varying
    self.generation = generation
    self.checksum = checksum
  }
}

extension EntryFacts {
  /// Asked for again before it is used, under every freshness: as if it had come at the beginning of time.
  package var invalidated: EntryFacts {
    var facts = self
    facts.responseTime = .distantPast
    return facts
  }

  package var isInvalidated: Bool { responseTime == .distantPast }
}

/// One entry as `forEach` shows it.
public struct EntrySummary: Sendable {
  public let key: EntryKey
  public let facts: EntryFacts
  /// Length of the body in bytes.
  public let count: Int
  public let lastUse: WallTime

  public init(key: EntryKey, facts: EntryFacts, count: Int, lastUse: WallTime) {
    self.key = key
    self.facts = facts
    self.count = count
    self.lastUse = lastUse
  }
}

/// What becomes of an entry that was visited.
public enum EntryVerdict: Sendable { case keep, remove, stop }

public struct TrimResult: Hashable, Sendable {
  public var lookedAtEntries = 0
  public var removedEntries = 0
  public var removedBytes = 0
  /// False: over the limit still, another step is due.
  public var isDone = true
  /// The longest time in which other threads were not let run; zero where the backend does not say.
  package var longestPiece = Duration.zero

  public init() {}
}

public struct VerifyResult: Hashable, Sendable {
  public var goodEntries = 0
  public var badEntries = 0
  public var bytes = 0

  public init() {}
}

public struct BackendStatistics: Hashable, Sendable {
  public var entries: Int
  /// Charged bytes: what counts against the limit.
  public var bytes: Int
  public var hits = 0
  public var misses = 0
  public var evictedEntries = 0
  /// Entries found damaged and removed.
  public var healedEntries = 0

  public init(entries: Int = 0, bytes: Int = 0) {
    self.entries = entries
    self.bytes = bytes
  }
}

/// What bounds a cache; nil: no such limit.
public struct CacheLimits: Sendable {
  /// Charged bytes: each entry's size rounded up to 4 KiB. Default 1 GiB.
  public var limitBytes: Int?
  public var limitEntries: Int?
  /// Since the entry was stored.
  public var limitAge: Duration?
  /// Since the entry was last used.
  public var limitUnused: Duration?
  /// Left free on the file system; nil: the smaller of 1 GiB and a twentieth of it.
  public var keepFreeBytes: Int?
  /// A trim goes down to this part of the limit.
  public var lowWater = 0.9
  /// Leftovers of dead writers are removed when older.
  public var graceForLeftovers = Duration.seconds(3600)

  public init(bytes: Int? = 1 << 30, entries: Int? = nil, age: Duration? = nil) {
    limitBytes = bytes
    limitEntries = entries
    limitAge = age
  }
}

/// What a commit waits for.
public enum Durability: Sendable {
  /// Nothing: after a power cut an entry may be torn, which its checksum finds.
  case none
  /// The body and its name have reached the disk.
  case data
}
