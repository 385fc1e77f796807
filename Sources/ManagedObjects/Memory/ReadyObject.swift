internal import Synchronization

/// An object in memory, with the response it was decoded from, so that its freshness can be judged without the file.
///
/// Never changed, only replaced. A class, so that a reader takes all of it from under a lock by one reference.
package final class ReadyObject: Sendable {
  /// In milliseconds; 0: nobody has noted it.
  private let freshUntilMilliseconds = Atomic<Int64>(0)
  /// Whether something can stay of it when it is evicted: what the box says, noted beside the count of references, which the
  /// cache reaches for anyway. To ask the box and its type are two more waits for memory.
  let isInstance: Bool
  let box: any ObjectBoxing
  let facts: EntryFacts
  /// Length of the body in bytes.
  package let count: Int

  package init(box: any ObjectBoxing, facts: EntryFacts, count: Int, freshUntil: WallTime? = nil) {
    isInstance = box.isInstance
    self.box = box
    self.facts = facts
    self.count = count
    if let freshUntil { self.freshUntil = freshUntil }
  }

  /// `ReuseRule.Decision.freshUntil`, for whoever judges it next. It is not found out here.
  var freshUntil: WallTime {
    get { WallTime(milliseconds: freshUntilMilliseconds.load(ordering: .relaxed)) }
    set { freshUntilMilliseconds.store(newValue.milliseconds, ordering: .relaxed) }
  }

  /// What finds the object again while somebody else keeps it alive; nil where it is a value.
  func asleep() -> SleepingObject? {
    box.weakBox().map { SleepingObject(weak: $0, facts: facts, count: count) }
  }
}

/// An object that was evicted and may still be in use.
final class SleepingObject: Sendable {
  private let weak: any WeakBoxing
  let facts: EntryFacts
  let count: Int

  init(weak: any WeakBoxing, facts: EntryFacts, count: Int) {
    self.weak = weak
    self.facts = facts
    self.count = count
  }

  /// nil: the object is dead. Never to be called under a lock; see `WeakBoxing`.
  func awake() -> ReadyObject? {
    weak.box().map { ReadyObject(box: $0, facts: facts, count: count) }
  }

  /// The same object, under a newer response.
  func under(_ facts: EntryFacts) -> SleepingObject { SleepingObject(weak: weak, facts: facts, count: count) }
}
