internal import FoundationEssentials

/// What a cache folder holds for a request, and what the manager would do with it now: found out by the manager's own
/// rules, without asking any server, and without changing the folder.
package struct CacheExplanation: Sendable {
  /// A stored answer, whoever may have it.
  package struct Entry: Sendable {
    package let key: EntryKey
    package let facts: EntryFacts
    /// Length of the body in bytes.
    package let count: Int
    /// Credentials and Vary let it answer this request.
    package let answersRequest: Bool
    /// nil: nobody knows, since the clock was ahead when it came, or it was invalidated.
    package let age: Duration?
    package let grant: FreshnessRule.Grant
    /// How long it will bridge an outage of its server from now on; nil: not at all.
    package let bridges: Duration?
  }

  package enum Outcome: Sendable {
    /// What is stored is given.
    case served(AnswerReason)
    /// The stored error is told again.
    case failed(status: Int)
    /// The server is asked; with conditions it may answer 304.
    case asked(AnswerReason, conditions: HeaderFields)
    /// Nothing may be given, and the mode forbids to ask.
    case refused(AnswerReason)
  }

  package let id: ObjectID
  package let entries: [Entry]
  package let outcome: Outcome

  /// - Parameter visited: called for each entry of the folder.
  /// - Throws: `.invalidURL` and the like for the request, and what the folder throws.
  package init(
    of request: ObjectRequest, in cache: any StoredCache, policy: Policy = Policy(), visited: () -> Void = {}
  ) throws {
    let time = SystemTime()
    let copy = EntryCopies(secret: cache.core.existingSecret)
    let core = Core(loaders: [], backend: copy, interceptors: [], policy: policy, time: time)
    let key = try core.handlerKey(request)
    func look(_ entry: EntrySummary) -> EntryVerdict {
      if entry.key.id == key.id { copy.add(entry) }
      visited()
      return .keep
    }
    // The digests of entries tell nothing of their id, so all have to be looked at.
    try cache.forEach(look)
    let kinds = [EntryKey.Kind.good, .error]
    let answering = Set(try kinds.flatMap { try core.answers(to: key, $0, in: copy).all.map(\.0) })
    id = key.id
    entries = copy.answers.map { Entry($0, answersRequest: answering.contains($0.key), key.freshness, time.wallNow) }
    outcome = Outcome(core.lookedUp(key, in: copy), key.mode)
  }
}

extension CacheExplanation.Entry {
  fileprivate init(_ entry: EntrySummary, answersRequest: Bool, _ freshness: Freshness, _ now: WallTime) {
    key = entry.key
    facts = entry.facts
    count = entry.count
    self.answersRequest = answersRequest
    age = facts.isInvalidated ? nil : FreshnessRule.age(of: facts, at: now)
    grant = FreshnessRule.grant(of: facts)
    bridges = StaleRule.timeLeft(of: facts, on: .unreachable, freshness: freshness, now: now)
  }
}

extension CacheExplanation.Outcome {
  fileprivate init(_ found: CoreState.LookUp, _ mode: CacheMode) {
    switch found {
    case .usable(let body): self = .served(body.reason)
    case .failed(let error): self = .failed(status: error.head?.status ?? 0)
    case .base(let base): self = .asked(base.reason, conditions: base.conditions)
    case .nothing(let reason): self = mode == .onlyIfCached ? .refused(reason) : .asked(reason, conditions: [:])
    }
  }
}

extension Core {
  /// As a request finds it, where the mode lets it look.
  fileprivate func lookedUp(_ key: HandlerKey, in backend: any CacheBackend) -> CoreState.LookUp {
    let why = key.mode.reasonToLoad
    return why == .absent ? find(key, in: backend) : .nothing(why)
  }
}

extension FileStoreCore {
  /// Random where the folder has none yet: then nothing is stored under it.
  fileprivate var existingSecret: [UInt8] {
    store.existingSecret() ?? (0..<32).map { _ in UInt8.random(in: .min ... .max) }
  }
}

/// Heads of a folder's entries, as a backend that can be looked at and not changed.
private final class EntryCopies: CacheBackend {
  private final class Lease: EntryLease {
    let facts: EntryFacts
    let count: Int

    init(_ entry: EntrySummary) {
      facts = entry.facts
      count = entry.count
    }

    func data() -> Data { Data() }
  }

  private let entries = Lock<[EntryKey: EntrySummary]>([:])
  private let knownSecret: [UInt8]

  init(secret: [UInt8]) { knownSecret = secret }

  func add(_ entry: EntrySummary) { entries.withLock { $0[entry.key] = entry } }

  /// Without what only leads to answers; the newest first.
  var answers: [EntrySummary] {
    entries.withLock { Array($0.values) }.filter { VariantIndex($0.facts) == nil }
      .sorted { $0.facts.responseTime > $1.facts.responseTime }
  }

  func lookUp(_ key: EntryKey) -> (any EntryLease)? { entries.withLock { $0[key] }.map { Lease($0) } }
  func secret() -> [UInt8] { knownSecret }
  func statistics() -> BackendStatistics { BackendStatistics(entries: entries.withLock { $0.count }) }
  func begin(_ key: EntryKey, expectedBytes: Int?) throws -> EntryWriter { throw Self.refusal }
  func remove(_ key: EntryKey) throws { throw Self.refusal }
  func clear() throws { throw Self.refusal }

  private static var refusal: ObjectError { ObjectError(.cacheBroken, "These are copies; nothing is changed.") }
}
