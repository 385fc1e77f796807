public import FoundationEssentials

/// A cache of bodies and their heads, on files or elsewhere. Swappable: give one to `ObjectManager(cache:)`.
///
/// Every call may block; the manager makes them on its I/O pool, from several threads at once. What is thrown costs
/// the caching of one object, never its delivery. An entry is replaced whole or not at all, a reader's lease stays
/// good when its entry is replaced, removed or trimmed, and an entry that is damaged is a miss.
/// Only `lookUp`, `begin`, `remove`, `clear` and `statistics` have to be written.
public protocol CacheBackend: AnyObject, Sendable {
  /// The entry under exactly this key; nil: a miss. Verified as the backend promises.
  func lookUp(_ key: EntryKey) throws -> (any EntryLease)?

  /// Starts an entry; it becomes visible when the writer commits.
  /// - Parameter expectedBytes: length of the body, where known. A backend that cannot ever hold it throws `.tooLarge`.
  func begin(_ key: EntryKey, expectedBytes: Int?) throws -> EntryWriter

  /// Removes the entry if it is there; a key of the manager's choosing that never was there is no error.
  func remove(_ key: EntryKey) throws

  /// Removes all entries.
  func clear() throws

  func statistics() throws -> BackendStatistics

  /// Whether `lookUp` would find it, without reading the body. Default: looks up.
  func contains(_ key: EntryKey) throws -> Bool

  /// False: there is no entry of that kind, put there by whomever, so that none has to be looked for. Default: true.
  func mayHold(_ kind: EntryKey.Kind) -> Bool

  /// New facts for the same body, after a 304. `facts.generation` names the body meant: where another one is stored
  /// by now, nothing changes. Default: writes the entry again.
  func update(_ key: EntryKey, facts: EntryFacts) throws

  /// Renews the entry's last use. Default: nothing; `lookUp` may have done it.
  func touch(_ key: EntryKey) throws

  /// Visits every entry, some at a time, without holding anybody up; entries that come or go meanwhile may be missed.
  /// Default: throws `.cacheBroken`, as a backend that cannot list.
  func forEach(_ visit: (EntrySummary) throws -> EntryVerdict) throws

  /// One bounded step towards the limits. Default: none needed.
  func trim(budget: Duration) throws -> TrimResult

  /// Waits until a trim that is due has been made, at most so long: for the end of a program. Default: nothing.
  func settle(atMost time: Duration)

  /// Reads every entry and removes the damaged ones if `repairs`. Default: looks up all that `forEach` shows.
  func verify(repairs: Bool, progress: (VerifyResult) -> Void) throws -> VerifyResult

  /// 32 random bytes that stay with the stored entries, for keyed digests of credentials.
  /// Default: random for each process, so entries under a secret are not found again by the next one.
  func secret() throws -> [UInt8]

  /// True where `append` only fills a buffer or makes one write, so that it may run on the transfer's thread.
  /// Default: false; chunks then go to the I/O pool, at most two outstanding.
  var appendsQuickly: Bool { get }
}

/// A reader's hold on an entry: facts and bytes stay as they were while it lives. `deinit` lets go.
public protocol EntryLease: AnyObject, Sendable {
  var facts: EntryFacts { get }
  /// Length of the body in bytes.
  var count: Int { get }
  /// The body; large ones are mapped. Throws when it is found damaged: then the entry has been removed.
  func data() throws -> Data
  /// A part of the body, for those who need not have all of it at once; not empty where there is more. Default: of
  /// `data`.
  func read(at offset: Int, atMost count: Int) throws -> Data
  /// A read-only file with just the body, good while the lease lives; nil where there are no files. Default: nil.
  func lendPath() throws -> String?
}

/// What a backend brings to write one entry. Called by one thread at a time. A commit that returns is the last call, else
/// abort is, also after a commit that threw.
public protocol EntryWriting: AnyObject, Sendable {
  func append(_ bytes: RawSpan) throws
  /// Makes the entry visible, replacing one of the same key.
  func commit(_ facts: EntryFacts) throws -> any EntryLease
  /// Gives back all that was written.
  func abort()
  /// What was appended so far, after `append` failed, so that the load can go on without the cache.
  /// Default: throws.
  func salvage() throws -> Data
}

/// An unfinished entry, owned by one place. Dropped without `commit`, it is aborted and leaves nothing behind.
public struct EntryWriter: ~Copyable, Sendable {
  private var writing: (any EntryWriting)?

  public init(_ writing: any EntryWriting) { self.writing = writing }

  public mutating func append(_ bytes: RawSpan) throws { try writing?.append(bytes) }

  public mutating func salvage() throws -> Data {
    guard let writing else { return Data() }
    return try writing.salvage()
  }

  /// Ends the writer, unless it throws: then `salvage` may still be asked.
  public mutating func commit(_ facts: EntryFacts) throws -> any EntryLease {
    guard let writing else { throw ObjectError(.cacheBroken, "The writer has ended.") }
    let lease = try writing.commit(facts)
    self.writing = nil
    return lease
  }

  deinit { writing?.abort() }
}
