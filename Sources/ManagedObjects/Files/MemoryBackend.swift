internal import FoundationEssentials

/// Entries in memory, without limits: for tests, and the smallest example of a backend.
public final class MemoryBackend: CacheBackend {
  private struct State {
    var entries: [EntryKey: Lease] = [:]
    var hits = 0
    var misses = 0
  }

  private let state = Lock(State())
  private let ownSecret = randomBytes(32)

  public init() {}

  public func lookUp(_ key: EntryKey) -> (any EntryLease)? {
    state.withLock { state in
      let lease = state.entries[key]
      if lease == nil { state.misses += 1 } else { state.hits += 1 }
      return lease
    }
  }

  public func contains(_ key: EntryKey) -> Bool { state.withLock { $0.entries[key] != nil } }

  public func begin(_ key: EntryKey, expectedBytes: Int?) -> EntryWriter {
    EntryWriter(Writer { [self] lease in put(lease, for: key) })
  }

  public func update(_ key: EntryKey, facts: EntryFacts) {
    let old = state.withLock { state -> Lease? in
      guard let old = state.entries[key], old.facts.generation == facts.generation else { return nil }
      state.entries[key] = Lease(facts: facts, body: old.body)
      return old
    }
    withExtendedLifetime(old) {}
  }

  public func remove(_ key: EntryKey) { put(nil, for: key) }

  public func clear() {
    let old = state.withLock { state in
      let old = state.entries
      state.entries = [:]
      return old
    }
    withExtendedLifetime(old) {}
  }

  public func statistics() -> BackendStatistics {
    state.withLock { state in
      var statistics = BackendStatistics(entries: state.entries.count)
      statistics.bytes = state.entries.values.reduce(0) { $0 + $1.count }
      statistics.hits = state.hits
      statistics.misses = state.misses
      return statistics
    }
  }

  public func forEach(_ visit: (EntrySummary) throws -> EntryVerdict) throws {
    for (key, lease) in state.withLock({ $0.entries }) {
      let summary = EntrySummary(key: key, facts: lease.facts, count: lease.count, lastUse: lease.facts.responseTime)
      switch try visit(summary) {
      case .keep: continue
      case .remove: remove(key)
      case .stop: return
      }
    }
  }

  public func secret() -> [UInt8] { ownSecret }

  public var appendsQuickly: Bool { true }

  /// The old lease outlives the lock, since its end may run code of others.
  private func put(_ lease: Lease?, for key: EntryKey) {
    let old = state.withLock { state in
      let old = state.entries[key]
      state.entries[key] = lease
      return old
    }
    withExtendedLifetime(old) {}
  }

  private final class Lease: EntryLease {
    let facts: EntryFacts
    let body: Data
    var count: Int { body.count }

    init(facts: EntryFacts, body: Data) {
      self.facts = facts
      self.body = body
    }

    func data() -> Data { body }
  }

  private final class Writer: EntryWriting {
    private let bytes = Lock([UInt8]())
    private let put: @Sendable (Lease) -> Void

    init(put: @escaping @Sendable (Lease) -> Void) { self.put = put }

    func append(_ more: RawSpan) {
      let more = [UInt8](more)
      bytes.withLock { $0 += more }
    }

    func commit(_ facts: EntryFacts) -> any EntryLease {
      let body = bytes.withLock { $0 }
      var facts = facts
      facts.checksum = body.withRawSpan { StreamingChecksum.of($0) }
      let lease = Lease(facts: facts, body: Data(body))
      put(lease)
      return lease
    }

    func abort() {}

    func salvage() -> Data { Data(bytes.withLock { $0 }) }
  }
}
