/// Entries in numbered slots, each in one queue, found by key.
///
/// The queues are doubly linked through slot numbers, so moving an entry costs a few stores and no allocation. What is
/// needed to find, move and choose lies apart from the entries, in small plain values.
/// Bookkeeping only: it decides nothing, and hands back what it removes.
struct SlotTable: Sendable {
  enum QueueName: UInt8, Sendable {
    /// Newcomers, until they have proved themselves.
    case small
    case main
    /// Evicted ones that may still be alive.
    case weak
  }

  struct Queue: Sendable {
    fileprivate(set) var newest = none
    fileprivate(set) var oldest = none
    fileprivate(set) var count = 0
    fileprivate(set) var cost = 0
  }

  /// A slot's place in its queue.
  struct Link: Sendable {
    fileprivate(set) var queue = QueueName.small
    fileprivate(set) var canSleep = false
    /// Whether it was read lately; what that means is for the eviction order to say.
    var wasRead = false
    /// The low half of the key's hash, which is all that tables go by. In the key it would take reading all of that.
    fileprivate var hash: UInt32 = 0
    fileprivate var newer = none
    /// In a free slot: the next free one.
    fileprivate var older = none
    fileprivate(set) var cost = 0
  }

  static let none = Int32(-1)

  /// What is in a slot beside its link. It stands there as it is: behind a reference it would be one more place in memory
  /// that each look-up has to wait for.
  struct Content: Sendable {
    fileprivate(set) var key = nobody
    /// nil: the slot is free.
    fileprivate(set) var hold: MemoryHold?

    private static let nobody = MemoryKey(id: ObjectID(""), representation: Representation(of: Never.self, variant: ""))
  }

  private var links: [Link] = []
  private var contents: [Content] = []
  private var firstFree = none
  private var index = KeyTable()
  private var queues = InlineArray<3, Queue>(repeating: Queue())

  subscript(slot: Int32) -> Link {
    get { links[Int(slot)] }
    set { links[Int(slot)] = newValue }
  }

  subscript(name: QueueName) -> Queue { queues[Int(name.rawValue)] }

  var keys: [MemoryKey] { contents.filter { $0.hold != nil }.map(\.key) }

  func key(_ slot: Int32) -> MemoryKey { contents[Int(slot)].key }

  func hash(_ slot: Int32) -> Int { Int(links[Int(slot)].hash) }

  func hold(_ slot: Int32) -> MemoryHold? { contents[Int(slot)].hold }

  @inline(__always)
  func find(_ key: MemoryKey) -> Int32? {
    index.find(key.hash) { isOf(Int($0), key) }
  }

  /// The same as `contents[slot].key == key`, field by field where they stand: the hot path of every look-up would
  /// otherwise copy the whole key first.
  @inline(__always)
  private func isOf(_ slot: Int, _ key: MemoryKey) -> Bool {
    contents[slot].key.hash == key.hash && contents[slot].key.id.name == key.id.name
      && contents[slot].key.id.kind == key.id.kind && contents[slot].key.id.namespace == key.id.namespace
      && contents[slot].key.scope == key.scope && contents[slot].key.representation == key.representation
  }

  /// The key must not be in the table.
  @discardableResult
  mutating func insert(_ key: MemoryKey, _ hold: MemoryHold, cost: Int, into queue: QueueName) -> Int32 {
    let slot = takeFreeSlot()
    index.insert(slot, hash: key.hash)
    contents[Int(slot)] = Content(key: key, hold: hold)
    links[Int(slot)] = Link(canSleep: hold.canSleep, hash: UInt32(truncatingIfNeeded: key.hash), cost: cost)
    link(slot, into: queue)
    return slot
  }

  /// Frees the slot. What was in it is moved out as it is: not even a count of references is changed.
  mutating func remove(_ slot: Int32) -> Content? {
    guard contents[Int(slot)].hold != nil else { return nil }
    index.remove(slot, hash: hash(slot))
    unlink(slot)
    links[Int(slot)].older = firstFree
    firstFree = slot
    var content = Content()
    swap(&content, &contents[Int(slot)])
    return content
  }

  /// To the new end of `queue`, from wherever it is.
  mutating func move(_ slot: Int32, to queue: QueueName) {
    unlink(slot)
    link(slot, into: queue)
  }

  /// The same key and cost. Returns what was held.
  mutating func replace(_ slot: Int32, by new: MemoryHold) -> MemoryHold? {
    var hold: MemoryHold? = new
    swap(&hold, &contents[Int(slot)].hold)
    return hold
  }

  private mutating func takeFreeSlot() -> Int32 {
    guard firstFree != Self.none else {
      links.append(Link())
      contents.append(Content())
      return Int32(links.count - 1)
    }
    let slot = firstFree
    firstFree = links[Int(slot)].older
    return slot
  }

  private mutating func link(_ slot: Int32, into name: QueueName) {
    var queue = self[name]
    links[Int(slot)].queue = name
    links[Int(slot)].newer = Self.none
    links[Int(slot)].older = queue.newest
    if queue.newest != Self.none { links[Int(queue.newest)].newer = slot } else { queue.oldest = slot }
    queue.newest = slot
    queue.count += 1
    // What sleeps costs nothing, and may be of any size: only what is bounded by the limit can be summed up.
    if name != .weak { queue.cost += links[Int(slot)].cost }
    queues[Int(name.rawValue)] = queue
  }

  private mutating func unlink(_ slot: Int32) {
    let link = links[Int(slot)]
    var queue = self[link.queue]
    if link.newer != Self.none { links[Int(link.newer)].older = link.older } else { queue.newest = link.older }
    if link.older != Self.none { links[Int(link.older)].newer = link.newer } else { queue.oldest = link.newer }
    queue.count -= 1
    if link.queue != .weak { queue.cost -= link.cost }
    queues[Int(link.queue.rawValue)] = queue
  }
}
