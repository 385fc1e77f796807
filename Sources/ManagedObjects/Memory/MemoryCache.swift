/// Ready objects, bounded by cost, with a lock of its own: a hit waits for nobody who coordinates loads.
///
/// An object that is evicted while somebody still uses it is found again, if it is an instance of a class: its entry
/// stays behind, holding it weakly, and `find` takes it back. So there is never a second copy of an object in use, and
/// entries of dead objects go by themselves.
///
/// The lock is held for bookkeeping only. Two things that look harmless run the user's code, namely an object's deinit,
/// and so happen outside it, always: letting go of a box, and loading a weak reference (what is loaded may turn out to
/// be the last strong one).
package final class MemoryCache: Sendable {
  private let contents: Lock<MemoryContents>
  private let fresh: MemoryContents

  /// - Parameters:
  ///   - limitCost: what all objects together may cost; 0 or less: nothing is kept.
  ///   - eviction: which object goes when a new one needs the room.
  package init(limitCost: Int, eviction: MemoryEviction) {
    fresh = MemoryContents(limitCost: limitCost, eviction: eviction)
    contents = Lock(fresh)
  }

  var count: Int { contents.withLock { $0.count } }

  /// Never above the limit.
  var cost: Int { contents.withLock { $0.cost } }

  /// Entries of evicted objects that are, or not long ago were, in use.
  var weakCount: Int { contents.withLock { $0.weakCount } }

  package func find(_ key: MemoryKey) -> ReadyObject? {
    switch contents.withLock({ $0.find(key) }) {
    case nil: nil
    case .strong(let ready): ready
    case .weak(let sleeper): awaken(sleeper, of: key)
    }
  }

  /// Makes this the object of its key.
  ///
  /// - Parameter cost: of the object, in bytes; 0 or less counts as 1.
  /// - Returns: false when it costs over a quarter of the limit. It is not kept then, and what was there is gone all the
  ///   same; while somebody uses it, it is found.
  @discardableResult
  package func insert(_ ready: ReadyObject, for key: MemoryKey, cost: Int) -> Bool {
    let entry = MemoryEntry(key: key, hold: .strong(ready), cost: cost)
    return change { contents, leftovers in contents.insert(entry, &leftovers) }
  }

  /// The same object under a newer response, after a 304. Nothing happens when there is none.
  func replaceFacts(_ facts: EntryFacts, for key: MemoryKey) {
    change { contents, leftovers in contents.replaceFacts(facts, for: key, &leftovers) }
  }

  /// Whether another answer is kept now than when these facts were found; nil: than when nothing was.
  func hasChanged(_ key: MemoryKey, since facts: EntryFacts?) -> Bool {
    let now = contents.withLock { contents -> EntryFacts? in contents.facts(of: key) }
    guard let now else { return false }
    return now.generation != facts?.generation || now.responseTime != facts?.responseTime
  }

  /// Changes what is known of all whose keys fit.
  func updateFacts(where fits: (MemoryKey) -> Bool, to change: (EntryFacts) -> EntryFacts) {
    for key in contents.withLock({ $0.keys }).filter(fits) {
      if let facts = contents.withLock({ $0.facts(of: key) }) { replaceFacts(change(facts), for: key) }
    }
  }

  /// The object is not found afterwards, even while somebody uses it.
  func remove(_ key: MemoryKey) {
    change { contents, leftovers in contents.remove(key, &leftovers) }
  }

  /// Removes all whose keys fit. Objects that come meanwhile may stay.
  func removeAll(where fits: (MemoryKey) -> Bool) {
    let chosen = contents.withLock { $0.keys }.filter(fits)
    change { contents, leftovers in
      for key in chosen { contents.remove(key, &leftovers) }
    }
  }

  /// Lets go of all objects. Those that somebody uses are still found. Objects that come meanwhile may stay.
  func evictAll() {
    // Some at a time, so that nobody waits long for the lock.
    for _ in 0...(count / Self.evictedAtOnce) {
      change { contents, leftovers in contents.evict(Self.evictedAtOnce, &leftovers) }
    }
  }

  private static let evictedAtOnce = 256

  /// Forgets everything: nothing is found afterwards, even while somebody uses it.
  func removeAll() {
    let old = contents.withLock { contents in
      let old = contents
      contents = fresh
      return old
    }
    withExtendedLifetime(old) {}
  }

  private func awaken(_ sleeper: SleepingObject, of key: MemoryKey) -> ReadyObject? {
    guard let ready = sleeper.awake() else {
      contents.withLock { $0.forget(sleeper, of: key) }
      return nil
    }
    change { contents, leftovers in contents.wake(sleeper, of: key, as: ready, &leftovers) }
    return ready
  }

  /// Changes the contents under the lock, then does outside what must not be done under it.
  @discardableResult
  private func change<Result: Sendable>(
    _ body: (inout MemoryContents, inout MemoryContents.Leftovers) -> Result
  ) -> Result {
    let (result, leftovers) = contents.withLock { contents in
      var leftovers = MemoryContents.Leftovers()
      let result = body(&contents, &leftovers)
      return (result, leftovers)
    }
    bury(leftovers.suspects)
    withExtendedLifetime(leftovers) {}
    return result
  }

  /// Forgets those among the suspects whose objects are dead.
  private func bury(_ suspects: [(key: MemoryKey, sleeper: SleepingObject)]) {
    let dead = suspects.filter { $0.sleeper.awake() == nil }
    guard !dead.isEmpty else { return }
    contents.withLock { contents in
      for (key, sleeper) in dead { contents.forget(sleeper, of: key) }
    }
  }
}
