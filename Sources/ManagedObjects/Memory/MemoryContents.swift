/// All of a memory cache but its lock: which objects there are, which go, and which are found again.
///
/// Always true between two calls: the strong entries cost no more than `limitCost`; each key has one entry; an entry in
/// `weak` is held weakly, all others strongly.
struct MemoryContents: Sendable {
  /// What a change leaves to do once the lock is let go.
  struct Leftovers: Sendable {
    /// What is not kept any more. Its release may run an object's deinit: the user's code.
    private var released: SlotTable.Content?
    /// Mostly there is one at a time, and no memory has to be found for it while others wait for the lock.
    private var alsoReleased: [SlotTable.Content] = []
    private var releasedHolds: [MemoryHold] = []
    /// Objects that may have died; see `forget`.
    var suspects: [(key: MemoryKey, sleeper: SleepingObject)] = []

    fileprivate mutating func release(_ content: consuming SlotTable.Content) {
      if released == nil { released = content } else { alsoReleased.append(content) }
    }

    fileprivate mutating func release(_ hold: MemoryHold) { releasedHolds.append(hold) }
  }

  private let limitCost: Int
  private let limitCount: Int
  private var recalls = RecallCount()
  /// Of what was ever kept.
  private var representations = KnownFew<Representation>()
  private var scopes = KnownFew<String>()
  private var order: Order
  private var slots = SlotTable()

  init(limitCost: Int, eviction: MemoryEviction) {
    self.limitCost = max(0, limitCost)
    // What an entry takes beside its object is not in its cost: some 400 bytes. Many tiny objects must not make that
    // outgrow the limit itself.
    limitCount = min(1 << 28, max(1 << 16, limitCost / 512))
    order =
      switch eviction {
      case .s3FIFO: Order(s3FIFO: S3FIFOOrder(limitCost: self.limitCost, limitCount: limitCount))
      case .lru: Order()
      }
  }

  /// One of the orders, in place: `any EvictionOrder` would be one more place in memory to go to for each read.
  private struct Order: EvictionOrder {
    private let lru = LRUOrder()
    /// nil: `lru`.
    var s3FIFO: S3FIFOOrder?

    func read(_ slot: Int32, in slots: inout SlotTable) {
      if s3FIFO?.read(slot, in: &slots) == nil { lru.read(slot, in: &slots) }
    }

    mutating func queue(forNew hash: Int, in slots: SlotTable) -> SlotTable.QueueName {
      s3FIFO?.queue(forNew: hash, in: slots) ?? lru.queue(forNew: hash, in: slots)
    }

    mutating func victim(in slots: inout SlotTable) -> Int32? {
      s3FIFO == nil ? lru.victim(in: &slots) : s3FIFO?.victim(in: &slots)
    }
  }

  /// Strong entries.
  var count: Int { slots[.small].count + slots[.main].count }
  var cost: Int { slots[.small].cost + slots[.main].cost }
  /// Entries whose objects may still be alive elsewhere.
  var weakCount: Int { slots[.weak].count }
  var keys: [MemoryKey] { slots.keys }

  /// How the key's object is held, if there is one. Holding it strongly counts as a read.
  mutating func find(_ key: MemoryKey) -> MemoryHold? {
    guard let slot = slots.find(key) else { return nil }
    if slots[slot].queue != .weak { order.read(slot, in: &slots) }
    return slots.hold(slot)
  }

  /// What is known of the key's object, without counting as a use.
  func facts(of key: MemoryKey) -> EntryFacts? { slots.find(key).flatMap { slot in slots.hold(slot)?.facts } }

  /// How often something was taken back that may have been of this id.
  func recallCount(of id: ObjectID) -> UInt32 { recalls[id] }

  mutating func noteRecall(of id: ObjectID?) { recalls.note(id) }

  /// Whether what was read from a file, or came, when the recalls were so many may be kept: nothing was taken back since,
  /// and nothing newer is here that somebody still trusts, in this form or another.
  /// - Parameter time: when the body came.
  func mayKeep(_ facts: EntryFacts, for key: MemoryKey, since count: UInt32, bodyFrom time: WallTime) -> Bool {
    guard recalls[key.id] == count else { return false }
    return keys(of: key.id, key.scope).allSatisfy { key in
      guard let now = self.facts(of: key), !now.isInvalidated else { return true }
      return now.generation == facts.generation || now.responseTime <= time
    }
  }

  /// A newer body of this object is stored: those made of others are asked about before they are used again.
  mutating func supersede(_ id: ObjectID, _ scope: String, by facts: EntryFacts, _ leftovers: inout Leftovers) {
    for key in keys(of: id, scope) {
      guard let old = self.facts(of: key), old.generation != facts.generation else { continue }
      replaceFacts(old.invalidated, for: key, &leftovers)
    }
  }

  /// Those that may be here, and perhaps others.
  /// - Parameter scope: nil: of every scope.
  func keys(of id: ObjectID, scope: String? = nil) -> [MemoryKey] {
    guard let scopes = scope.map({ [$0] }) ?? scopes.all else { return keys.filter { $0.id == id } }
    return scopes.flatMap { Array(keys(of: id, $0)) }
  }

  /// The same of one scope. Which forms there are is mostly known, and few.
  private func keys(of id: ObjectID, _ scope: String) -> Few<MemoryKey> {
    guard let representations = representations.all else {
      return Few(all: keys.filter { $0.id == id && $0.scope == scope })
    }
    var found = Few<MemoryKey>()
    for form in representations { found.append(MemoryKey(id: id, scope: scope, representation: form)) }
    return found
  }

  /// Makes this the object of the key. Returns whether it is held strongly.
  mutating func insert(_ ready: ReadyObject, for key: MemoryKey, cost given: Int, _ leftovers: inout Leftovers) -> Bool
  {
    let cost = max(1, given)
    representations.note(key.representation)
    scopes.note(key.scope)
    var old: SlotTable.Link?
    if let slot = slots.find(key) {
      old = slots[slot]
      remove(slot, &leftovers)
    }
    guard fits(cost) else {
      insertWeak(ready, for: key, cost: cost, &leftovers)
      return false
    }
    makeRoom(for: cost, &leftovers)
    // The place that the old one earned goes to the new one.
    if let old, old.queue != .weak {
      let slot = slots.insert(key, .strong(ready), cost: cost, into: old.queue)
      slots[slot].wasRead = old.wasRead
    } else {
      slots.insert(key, .strong(ready), cost: cost, into: order.queue(forNew: key.hash, in: slots))
    }
    return true
  }

  /// The object that was found asleep is alive: it is kept again, unless its entry was replaced meanwhile or it costs
  /// too much.
  mutating func wake(_ sleeper: SleepingObject, of key: MemoryKey, as ready: ReadyObject, _ leftovers: inout Leftovers)
  {
    guard let slot = slot(of: sleeper, key), fits(slots[slot].cost) else { return }
    let cost = slots[slot].cost
    _ = slots.remove(slot)
    makeRoom(for: cost, &leftovers)
    slots.insert(key, .strong(ready), cost: cost, into: .main)
  }

  /// The object that was found asleep is dead: its entry goes, unless it was replaced meanwhile.
  mutating func forget(_ sleeper: SleepingObject, of key: MemoryKey) {
    if let slot = slot(of: sleeper, key) { _ = slots.remove(slot) }
  }

  mutating func replaceFacts(_ facts: EntryFacts, for key: MemoryKey, _ leftovers: inout Leftovers) {
    guard let slot = slots.find(key), let hold = slots.hold(slot) else { return }
    if let old = slots.replace(slot, by: hold.under(facts)) { leftovers.release(old) }
  }

  /// But for the recalls, which go on being counted.
  mutating func forgetAll(as fresh: MemoryContents) {
    let recalls = recalls
    self = fresh
    self.recalls = recalls
  }

  mutating func remove(_ key: MemoryKey, _ leftovers: inout Leftovers) {
    if let slot = slots.find(key) { remove(slot, &leftovers) }
  }

  private mutating func remove(_ slot: Int32, _ leftovers: inout Leftovers) {
    if let content = slots.remove(slot) { leftovers.release(content) }
  }

  /// Evicts so many, or all there are.
  mutating func evict(_ count: Int, _ leftovers: inout Leftovers) {
    for _ in 0..<count {
      guard let slot = order.victim(in: &slots) else { return }
      evict(slot, &leftovers)
    }
  }

  private func fits(_ cost: Int) -> Bool { cost <= limitCost / 4 }

  /// What fits is at most a quarter of the limit, so there is room before all is evicted.
  private mutating func makeRoom(for cost: Int, _ leftovers: inout Leftovers) {
    while self.cost > limitCost - cost || count >= limitCount {
      guard let slot = order.victim(in: &slots) else { return }
      evict(slot, &leftovers)
    }
  }

  private mutating func evict(_ slot: Int32, _ leftovers: inout Leftovers) {
    guard slots[slot].canSleep, let asleep = slots.hold(slot)?.asleep() else { return remove(slot, &leftovers) }
    if let old = slots.replace(slot, by: asleep) { leftovers.release(old) }
    slots.move(slot, to: .weak)
    suspectOldest(&leftovers)
  }

  private mutating func insertWeak(
    _ ready: ReadyObject, for key: MemoryKey, cost: Int, _ leftovers: inout Leftovers
  ) {
    guard let asleep = ready.asleep() else { return }
    slots.insert(key, .weak(asleep), cost: cost, into: .weak)
    suspectOldest(&leftovers)
  }

  /// For each entry that falls asleep the two oldest sleepers are looked at, in turn. So there are never many more than
  /// twice as many as there are living objects, and no sweep ever takes long.
  private mutating func suspectOldest(_ leftovers: inout Leftovers) {
    for _ in 0..<min(2, weakCount) {
      let slot = slots[.weak].oldest
      slots.move(slot, to: .weak)
      if case .weak(let sleeper) = slots.hold(slot) { leftovers.suspects.append((slots.key(slot), sleeper)) }
    }
  }

  private func slot(of sleeper: SleepingObject, _ key: MemoryKey) -> Int32? {
    guard let slot = slots.find(key), case .weak(let stored)? = slots.hold(slot), stored === sleeper else {
      return nil
    }
    return slot
  }
}

/// What there was of something, as long as that is little.
private struct KnownFew<Element: Equatable & Sendable>: Sendable {
  private static var limit: Int { 16 }
  /// nil: too many to be looked through one by one.
  private(set) var all: [Element]? = []

  mutating func note(_ element: Element) {
    guard let known = all, !known.contains(element) else { return }
    if known.count < Self.limit { all?.append(element) } else { all = nil }
  }
}

/// How often what was kept of an object was taken back, counted for 64 groups of objects.
private struct RecallCount: Sendable {
  private var counts = InlineArray<64, UInt32>(repeating: 0)

  subscript(id: ObjectID) -> UInt32 { counts[Self.group(of: id)] }

  /// - Parameter id: nil: of any.
  mutating func note(_ id: ObjectID?) {
    if let id {
      counts[Self.group(of: id)] &+= 1
      return
    }
    for group in counts.indices { counts[group] &+= 1 }
  }

  private static func group(of id: ObjectID) -> Int { id.hashValue & 63 }
}
