/// An ending that somebody awaits, once. Knows no object's type: what is generic is slow where it is not specialised.
enum AwaitedEnding: Sendable {
  /// What whoever awaits it is given.
  enum Told: Sendable {
    /// Where nothing else is asked for. What stands for the load is then dropped where it was made.
    case object(any ObjectBoxing)
    case ended(SeatEnding)
  }

  /// Not awaited yet.
  case early
  case waiting(CheckedContinuation<Told, Never>)
  /// It ended before it was awaited.
  case ended(Told)
  case over

  var hasEnded: Bool {
    switch self {
    case .early, .waiting: false
    case .ended, .over: true
    }
  }

  /// Whom to tell; nil: nobody waits yet, or it had ended before.
  mutating func end(_ ending: Told) -> CheckedContinuation<Told, Never>? {
    switch self {
    case .early: self = .ended(ending)
    case .waiting(let continuation):
      self = .over
      return continuation
    case .ended, .over: break
    }
    return nil
  }

  /// What it has ended with already; nil: the continuation is resumed later.
  mutating func wait(_ continuation: CheckedContinuation<Told, Never>) -> Told? {
    if case .ended(let ending) = self {
      self = .over
      return ending
    }
    self = .waiting(continuation)
    return nil
  }
}

/// What a `WaiterSeat` is without its object's type: how it ends, and who awaits that.
///
/// Sound although unchecked: it and its one subclass have nothing that changes but what is in the lock.
class AwaitedSeat: @unchecked Sendable {
  let id: SeatID
  private let wantsDelivered: Bool
  private let onProgress: (@Sendable (LoadProgress) -> Void)?
  private let ending = Lock(AwaitedEnding.early)

  fileprivate init(_ id: SeatID, wantsDelivered: Bool, _ onProgress: (@Sendable (LoadProgress) -> Void)?) {
    self.id = id
    self.wantsDelivered = wantsDelivered
    self.onProgress = onProgress
  }

  final var hasEnded: Bool { ending.withLock { $0.hasEnded } }
  final var wantsProgress: Bool { onProgress != nil }

  final func progressed(_ progress: LoadProgress) {
    if let onProgress, !hasEnded { onProgress(progress) }
  }

  final func end(_ ending: SeatEnding, from caller: Caller) {
    let told: AwaitedEnding.Told =
      if case .ready(let box, _) = ending, !wantsDelivered { .object(box) } else { .ended(ending) }
    self.ending.withLock { $0.end(told) }?.resume(returning: told)
  }

  /// The one awaiting of the end.
  final func wait(_ continuation: CheckedContinuation<AwaitedEnding.Told, Never>) {
    if let early = ending.withLock({ $0.wait(continuation) }) { continuation.resume(returning: early) }
  }
}

/// The seat of an async call: alive as long as the call waits, and told by resuming it.
final class WaiterSeat<Object: Sendable>: AwaitedSeat, Seat, @unchecked Sendable {
  private let decoder: ObjectDecoder<Object>

  /// - Parameter wantsDelivered: not the object alone.
  init(
    _ id: SeatID, _ decoder: ObjectDecoder<Object>, wantsDelivered: Bool,
    _ onProgress: (@Sendable (LoadProgress) -> Void)? = nil
  ) {
    self.decoder = decoder
    super.init(id, wantsDelivered: wantsDelivered, onProgress)
  }

  var representation: Representation? { decoder.representation }
  var decodesInline: Bool { decoder.isInline }
  var mayDie: Bool { false }
  var isAlive: Bool { true }
  var wantsUpdates: Bool { decoder.isKept }

  func decode(_ loaded: Loaded) throws -> DecodedObject? { try decoder.decoded(loaded) }

  /// The call itself is over by then, but the next finds the object in memory.
  func seatForUpdate(_ id: SeatID, after generation: UInt64) -> (any Seat)? {
    decoder.isKept ? KeepingSeat(id, decoder) : nil
  }

  @inline(never) func answer(of told: AwaitedEnding.Told) throws(ObjectError) -> Answer<Object> {
    guard case .ended(let ending) = told else { throw Self.otherType }
    let (box, delivered) = try ready(ending)
    return Answer(try object(in: box), delivered)
  }

  @inline(never) func object(of told: AwaitedEnding.Told) throws(ObjectError) -> Object {
    switch told {
    case .object(let box): try object(in: box)
    case .ended(let ending): try object(in: ready(ending).0)
    }
  }

  private func ready(_ ending: SeatEnding) throws(ObjectError) -> (any ObjectBoxing, Delivered) {
    switch ending {
    case .ready(let box, let delivered): return (box, delivered)
    case .content: throw ObjectError(.undecodable, "Only the bytes were asked for.")
    case .failed(let error): throw error
    case .cancelled(let reason): throw ObjectError(reason)
    }
  }

  private func object(in box: any ObjectBoxing) throws(ObjectError) -> Object {
    guard let object = box.object(as: Object.self) else { throw Self.otherType }
    return object
  }

  private static var otherType: ObjectError {
    ObjectError(.undecodable, "Another type was decoded under the same representation.")
  }
}

/// The seat of a prefetch: wants the bytes stored, and no object.
final class PrefetchSeat: Seat {
  let id: SeatID
  private let onEnd: @Sendable (SeatEnding) -> Void
  private let hasEnded = Lock(false)

  init(_ id: SeatID, onEnd: @escaping @Sendable (SeatEnding) -> Void) {
    self.id = id
    self.onEnd = onEnd
  }

  var representation: Representation? { nil }
  var wantsProgress: Bool { false }
  var decodesInline: Bool { true }
  var mayDie: Bool { false }
  var isAlive: Bool { true }
  func decode(_ loaded: Loaded) -> DecodedObject? { nil }
  func progressed(_ progress: LoadProgress) {}

  func end(_ ending: SeatEnding, from caller: Caller) {
    let isFirst = hasEnded.withLock { hasEnded in
      defer { hasEnded = true }
      return !hasEnded
    }
    if isFirst { onEnd(ending) }
  }
}

/// A seat of the manager's own in a refresh: wants the object in memory, and nobody told.
final class KeepingSeat<Object: Sendable>: Seat {
  let id: SeatID
  private let decoder: ObjectDecoder<Object>

  init(_ id: SeatID, _ decoder: ObjectDecoder<Object>) {
    self.id = id
    self.decoder = decoder
  }

  var representation: Representation? { decoder.representation }
  var wantsProgress: Bool { false }
  var decodesInline: Bool { decoder.isInline }
  var mayDie: Bool { false }
  var isAlive: Bool { true }
  func decode(_ loaded: Loaded) throws -> DecodedObject? { try decoder.decoded(loaded) }
  func progressed(_ progress: LoadProgress) {}
  func end(_ ending: SeatEnding, from caller: Caller) {}
}

extension ObjectDecoder {
  fileprivate func decoded(_ loaded: Loaded) throws -> DecodedObject {
    let object = try decode(loaded)
    return DecodedObject(box: ObjectBox(object), cost: isKept ? cost?(object) ?? loaded.count : nil)
  }
}
