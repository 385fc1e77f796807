internal import FoundationEssentials

/// Where variants of one URL that come at once agree on their index: all of them are filed under one generation, and are
/// noted one after the other, so that none is lost.
///
/// For this process: of what two processes write in the same moment one may be out of reach, and is loaded again.
final class VariantDesk: Sendable {
  fileprivate struct Index: Sendable {
    var writers = 0
    var generation: UInt64?
    /// Once it was there, and then is not, somebody has removed it: made anew under its generation it would lead to what
    /// was removed.
    var isWritten = false
    var isBusy = false
    var waiting: [@Sendable () -> Void] = []
  }

  fileprivate let indexes = Lock<[EntryKey: Index]>([:])

  /// To be held as long as the variant is being written. Before the index is looked for: whoever writes it meanwhile is then
  /// known.
  func enter(_ base: EntryKey) -> VariantSeat {
    indexes.withLock { $0[base, default: Index()].writers += 1 }
    return VariantSeat(at: self, base)
  }
}

/// One variant that is being written.
final class VariantSeat: Sendable {
  private let desk: VariantDesk
  private let base: EntryKey

  fileprivate init(at desk: VariantDesk, _ base: EntryKey) { (self.desk, self.base) = (desk, base) }

  deinit {
    desk.indexes.withLock { indexes in
      indexes[base]?.writers -= 1
      if indexes[base]?.writers == 0 { indexes[base] = nil }
    }
  }

  /// What to file it under.
  /// - Parameter stored: of the index that was found; nil: there is none yet.
  func generation(stored: UInt64?) -> UInt64 {
    change { index in
      if let stored { (index.generation, index.isWritten) = (stored, true) }
      let generation = index.generation ?? .random(in: .min ... .max)
      index.generation = generation
      return generation
    }
  }

  /// Whether an index that is not there is to be made. True once.
  func mayMakeIndex(of generation: UInt64) -> Bool {
    change { index in
      guard !index.isWritten, index.generation == generation else { return false }
      index.isWritten = true
      return true
    }
  }

  /// Now, or on the thread that is at it just now.
  func inTurn(_ work: @escaping @Sendable () -> Void) {
    let isTurn = change { index in
      if index.isBusy { index.waiting.append(work) }
      defer { index.isBusy = true }
      return !index.isBusy
    }
    guard isTurn else { return }
    work()
    while let next = next() { for work in next { work() } }
  }

  private func next() -> [@Sendable () -> Void]? {
    change { index in
      defer { index.waiting = [] }
      if index.waiting.isEmpty { index.isBusy = false }
      return index.waiting.isEmpty ? nil : index.waiting
    }
  }

  private func change<Result: Sendable>(_ change: (inout VariantDesk.Index) -> Result) -> Result {
    desk.indexes.withLock { change(&$0[base, default: VariantDesk.Index()]) }
  }
}

/// Writes an answer that varies: the answer first, then the index that leads to it.
final class VariantWriter: EntryWriting {
  private let answer: Lock<EntryWriter?>
  private let note: @Sendable (EntryFacts) -> Void

  init(_ answer: consuming sending EntryWriter, note: @escaping @Sendable (EntryFacts) -> Void) {
    self.answer = Lock(answer)
    self.note = note
  }

  func append(_ bytes: RawSpan) throws { try use { writer in try writer.append(bytes) } }

  func commit(_ facts: EntryFacts) throws -> any EntryLease {
    let lease = try use { writer in try writer.commit(facts) }
    note(facts)
    return lease
  }

  func abort() {
    var unfinished: EntryWriter?
    answer.withLock { swap(&unfinished, &$0) }
    // Dropped out of the lock, since that removes files.
    _ = consume unfinished
  }

  func salvage() throws -> Data { try use { writer in try writer.salvage() } }

  /// Out of the lock while it works; called by one thread at a time.
  private func use<Value>(_ work: (inout EntryWriter) throws -> Value) throws -> Value {
    var taken: EntryWriter?
    answer.withLock { swap(&taken, &$0) }
    guard var writer = taken.take() else { throw ObjectError(.cacheBroken, "The writer has ended.") }
    let result: Result<Value, any Error>
    do { result = .success(try work(&writer)) } catch { result = .failure(error) }
    taken = consume writer
    answer.withLock { swap(&taken, &$0) }
    return try result.get()
  }
}
