/// How an object is held that is in memory, or is known to have been there. Never changed, only replaced.
enum MemoryHold: Sendable {
  case strong(ReadyObject)
  /// Evicted, but found again while somebody keeps it alive.
  case weak(SleepingObject)

  /// What is known of the response that the object was made from.
  var facts: EntryFacts {
    switch self {
    case .strong(let ready): ready.facts
    case .weak(let sleeper): sleeper.facts
    }
  }

  /// Whether something stays when it is evicted.
  var canSleep: Bool { if case .strong(let ready) = self { ready.isInstance } else { false } }

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
