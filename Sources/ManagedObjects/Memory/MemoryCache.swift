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

  /// To be asked before bytes are looked up that objects are made of, for `insert` and `renew`.
  func recallCount(of id: ObjectID) -> UInt32 { contents.withLock { $0.recallCount(of: id) } }

  /// Makes this the object of its key.
  ///
  /// - Parameters:
  ///   - cost: of the object, in bytes; 0 or less counts as 1.
  ///   - count: the recalls when its bytes were looked up, or came: where there were more since, or a newer object is
  ///     here, nothing happens. nil: it is kept in any case.
  ///   - time: when the bytes came; nil: when the response did, which for a 304 is later.
  /// - Returns: false when it costs over a quarter of the limit. It is not kept then, and what was there is gone all the
  ///   same; while somebody uses it, it is found.
  @discardableResult
  package func insert(
    _ ready: ReadyObject, for key: MemoryKey, cost: Int, ifNoRecallSince count: UInt32? = nil,
    bodyFrom time: WallTime? = nil
  ) -> Bool {
    change { contents, leftovers in
      if let count,
        !contents.mayKeep(ready.facts, for: key, since: count, bodyFrom: time ?? ready.facts.responseTime)
      {
        return false
      }
      return contents.insert(ready, for: key, cost: cost, &leftovers)
    }
  }

  /// The same object under a newer response, after a 304. Nothing happens when there is none.
  /// - Parameter count: as for `insert`.
  func replaceFacts(
    _ facts: EntryFacts, for key: MemoryKey, ifNoRecallSince count: UInt32? = nil, bodyFrom time: WallTime? = nil
  ) {
    change { contents, leftovers in
      if let count, !contents.mayKeep(facts, for: key, since: count, bodyFrom: time ?? facts.responseTime) { return }
      contents.replaceFacts(facts, for: key, &leftovers)
    }
  }

  /// A newer body of this object came: objects made of others are asked about before they are used again.
  /// - Returns: `recallCount`, for the object that is made of it.
  @discardableResult
  func supersede(_ id: ObjectID, scope: String, by facts: EntryFacts) -> UInt32 {
    change { contents, leftovers in
      contents.supersede(id, scope, by: facts, &leftovers)
      return contents.recallCount(of: id)
    }
  }

  /// Whether another answer is kept now than when these facts were found; nil: than when nothing was.
  func hasChanged(_ key: MemoryKey, since facts: EntryFacts?) -> Bool {
    let now = contents.withLock { contents -> EntryFacts? in contents.facts(of: key) }
    guard let now else { return false }
    return now.generation != facts?.generation || now.responseTime != facts?.responseTime
  }

  /// All of this id are asked about before they are used again, and those that are being made are not kept.
  func invalidate(_ id: ObjectID) {
    change { contents, _ in contents.noteRecall(of: id) }
    updateFacts(of: id, to: { $0.invalidated })
  }

  /// Changes what is known of all objects of this id, of one scope or of all; nil: it stays.
  func updateFacts(of id: ObjectID, scope: String? = nil, to new: (EntryFacts) -> EntryFacts?) {
    for key in contents.withLock({ $0.keys(of: id, scope: scope) }) {
      change { contents, leftovers in
        if let facts = contents.facts(of: key).flatMap(new) { contents.replaceFacts(facts, for: key, &leftovers) }
      }
    }
  }

  /// The object is not found afterwards, even while somebody uses it.
  func remove(_ key: MemoryKey) {
    change { contents, leftovers in contents.remove(key, &leftovers) }
  }

  /// Removes all whose keys fit. Objects that come meanwhile may stay, but for those that are being made of what was looked
  /// up before.
  func removeAll(where fits: (MemoryKey) -> Bool) {
    let all = contents.withLock { contents in
      contents.noteRecall(of: nil)
      return contents.keys
    }
    remove(all.filter(fits))
  }

  /// The same of one id.
  func removeAll(of id: ObjectID) {
    let all = contents.withLock { contents in
      contents.noteRecall(of: id)
      return contents.keys(of: id)
    }
    remove(all)
  }

  private func remove(_ keys: [MemoryKey]) {
    change { contents, leftovers in
      for key in keys { contents.remove(key, &leftovers) }
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
      contents.noteRecall(of: nil)
      contents.forgetAll(as: fresh)
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
    var leftovers = MemoryContents.Leftovers()
    let result = contents.withLock { contents in body(&contents, &leftovers) }
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
