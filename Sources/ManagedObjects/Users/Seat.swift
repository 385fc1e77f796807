/// One request of one user, its types erased. Ends exactly once.
protocol Seat: AnyObject, Sendable {
  var id: SeatID { get }
  /// nil: no object is wanted.
  var representation: Representation? { get }
  var wantsProgress: Bool { get }
  /// True: its decoder only hands on what is there, and may run on the transfer's thread.
  var decodesInline: Bool { get }
  /// What a refresh in the background brings is to be decoded as well, for whoever sits here or for the next.
  var wantsUpdates: Bool { get }
  /// Its user may go without a word, so that it is looked at now and then whether it has.
  var mayDie: Bool { get }
  /// False when its user is gone. Makes a strong reference for a moment: never under a lock.
  var isAlive: Bool { get }

  /// nil: the user is gone, ask another.
  func decode(_ loaded: Loaded) throws -> DecodedObject?
  /// Never under a lock.
  func end(_ ending: SeatEnding, from caller: Caller)
  func progressed(_ progress: LoadProgress)
  /// Who sits in the refresh on behalf of this one, which is about to be given the stale body of that generation; nil:
  /// nobody.
  func seatForUpdate(_ id: SeatID, after generation: UInt64) -> (any Seat)?
}

extension Seat {
  var wantsUpdates: Bool { false }
  func seatForUpdate(_ id: SeatID, after generation: UInt64) -> (any Seat)? { nil }
}

/// A seat whose user may take its request back.
protocol CancellableSeat: Seat {
  /// Ends it with `reason` unless its ending has begun to run, or its user had taken it back before. True: it ends so.
  func cancel(_ reason: CancelReason, from caller: Caller) -> Bool
}

/// What came of a decode: the object, and what it costs in memory.
struct DecodedObject: Sendable {
  let box: any ObjectBoxing
  /// In bytes; nil: not to be kept.
  let cost: Int?
}

enum SeatEnding: Sendable {
  case ready(any ObjectBoxing, Delivered)
  /// A prefetch has what it wanted.
  case content(Delivered)
  indirect case failed(ObjectError)
  case cancelled(CancelReason)
}

/// Where an object came from, for those who ask. A reference: an ending is handed on a few times.
final class Delivered: Sendable {
  let source: ObjectSource
  let reason: AnswerReason
  let head: LoadHead
  /// Length of the body in bytes.
  let count: Int
  /// Of the body.
  let generation: UInt64
  /// Of the load, where there was one that was measured.
  let timings: LoadTimings?

  init(
    source: ObjectSource, reason: AnswerReason, head: LoadHead, count: Int, generation: UInt64 = 0,
    timings: LoadTimings? = nil
  ) {
    self.source = source
    self.reason = reason
    self.head = head
    self.count = count
    self.generation = generation
    self.timings = timings
  }
}

/// On whose thread an ending was decided.
enum Caller: Sendable {
  /// A thread of the library: no callback may run on it but those of `.direct`.
  case library
  /// A thread of the user's, with this isolation: callbacks may run before the call returns.
  case user((any Actor)?)
}
