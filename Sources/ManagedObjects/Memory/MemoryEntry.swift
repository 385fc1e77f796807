/// One object in memory, or one that is known to have been there. Never changed, only replaced.
struct MemoryEntry: Sendable {
  enum Hold: Sendable {
    case strong(ReadyObject)
    /// Evicted, but found again while somebody keeps it alive.
    case weak(SleepingObject)
  }

  let key: MemoryKey
  let hold: Hold
  /// At least 1.
  let cost: Int
  /// Whether something stays when it is evicted. Asked here, where the object is at hand: by the time it is evicted nobody
  /// has looked at it for long, and the memory it is in is slow to reach.
  let canSleep: Bool

  init(key: MemoryKey, hold: Hold, cost: Int) {
    self.key = key
    self.hold = hold
    self.cost = max(1, cost)
    canSleep = if case .strong(let ready) = hold { ready.box.isInstance } else { false }
  }
}

extension MemoryEntry.Hold {
  /// What is known of the response that the object was made from.
  var facts: EntryFacts {
    switch self {
    case .strong(let ready): ready.facts
    case .weak(let sleeper): sleeper.facts
    }
  }

  /// What stays of a strong one when its entry is evicted; nil where its object is a value.
  func asleep() -> Self? {
    guard case .strong(let ready) = self else { return nil }
    return ready.asleep().map { .weak($0) }
  }

  /// The same object, under a newer response.
  func under(_ facts: EntryFacts) -> Self {
    switch self {
    case .strong(let ready): .strong(ReadyObject(box: ready.box, facts: facts, count: ready.count))
    case .weak(let sleeper): .weak(sleeper.under(facts))
    }
  }
}
