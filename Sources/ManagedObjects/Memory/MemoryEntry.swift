/// One object in memory, or one that is known to have been there. Never changed, only replaced.
final class MemoryEntry: Sendable {
  enum Hold: Sendable {
    case strong(ReadyObject)
    /// Evicted, but found again while somebody keeps it alive.
    case weak(SleepingObject)
  }

  let key: MemoryKey
  let hold: Hold
  /// At least 1.
  let cost: Int

  init(key: MemoryKey, hold: Hold, cost: Int) {
    self.key = key
    self.hold = hold
    self.cost = max(1, cost)
  }

  /// The same as `self.key == key`, without a copy of the stored key: this is the hot path of every look-up.
  @inline(__always)
  func isOf(_ key: MemoryKey) -> Bool {
    self.key.hash == key.hash && self.key.id.name == key.id.name && self.key.id.kind == key.id.kind
      && self.key.id.namespace == key.id.namespace && self.key.scope == key.scope
      && self.key.representation == key.representation
  }

  /// What is known of the response that the object was made from.
  var facts: EntryFacts {
    switch hold {
    case .strong(let ready): ready.facts
    case .weak(let sleeper): sleeper.facts
    }
  }

  /// What stays of a strong entry when it is evicted; nil where its object is a value.
  func asleep() -> MemoryEntry? {
    guard case .strong(let ready) = hold else { return nil }
    return ready.asleep().map { MemoryEntry(key: key, hold: .weak($0), cost: cost) }
  }

  /// The same object, under a newer response.
  func under(_ facts: EntryFacts) -> MemoryEntry {
    switch hold {
    case .strong(let ready):
      MemoryEntry(key: key, hold: .strong(ReadyObject(box: ready.box, facts: facts, count: ready.count)), cost: cost)
    case .weak(let sleeper): MemoryEntry(key: key, hold: .weak(sleeper.under(facts)), cost: cost)
    }
  }
}
