/// The seat of an async call: alive as long as the call waits, and told by resuming it.
final class WaiterSeat<Object: Sendable>: Seat {
  typealias Result = Swift.Result<Answer<Object>, ObjectError>

  private enum State: Sendable {
    /// Not awaited yet.
    case early
    case waiting(CheckedContinuation<Result, Never>)
    /// It ended before it was awaited.
    case ended(Result)
    case over
  }

  let id: SeatID
  private let decoder: ObjectDecoder<Object>
  private let onProgress: (@Sendable (LoadProgress) -> Void)?
  private let state = Lock(State.early)

  init(_ id: SeatID, _ decoder: ObjectDecoder<Object>, _ onProgress: (@Sendable (LoadProgress) -> Void)?) {
    self.id = id
    self.decoder = decoder
    self.onProgress = onProgress
  }

  var representation: Representation? { decoder.representation }
  var wantsProgress: Bool { onProgress != nil }
  var decodesInline: Bool { decoder.isInline }
  var isAlive: Bool { true }
  var wantsUpdates: Bool { decoder.isKept }

  func decode(_ loaded: Loaded) throws -> DecodedObject? { try decoder.decoded(loaded) }

  /// The call itself is over by then, but the next finds the object in memory.
  func seatForUpdate(_ id: SeatID, after generation: UInt64) -> (any Seat)? {
    decoder.isKept ? KeepingSeat(id, decoder) : nil
  }

  func progressed(_ progress: LoadProgress) { onProgress?(progress) }

  func end(_ ending: SeatEnding, from caller: Caller) {
    let result = result(ending)
    let continuation = state.withLock { state -> CheckedContinuation<Result, Never>? in
      switch state {
      case .early:
        state = .ended(result)
        return nil
      case .waiting(let continuation):
        state = .over
        return continuation
      case .ended, .over: return nil
      }
    }
    continuation?.resume(returning: result)
  }

  /// The one awaiting of the end.
  func wait(_ continuation: CheckedContinuation<Result, Never>) {
    let early = state.withLock { state -> Result? in
      if case .ended(let result) = state {
        state = .over
        return result
      }
      state = .waiting(continuation)
      return nil
    }
    if let early { continuation.resume(returning: early) }
  }

  private func result(_ ending: SeatEnding) -> Result {
    switch ending {
    case .ready(let box, let delivered):
      if let object = box.object(as: Object.self) { return .success(Answer(object, delivered)) }
      return .failure(ObjectError(.undecodable, "Another type was decoded under the same representation."))
    case .content: return .failure(ObjectError(.undecodable, "Only the bytes were asked for."))
    case .failed(let error): return .failure(error)
    case .cancelled(let reason): return .failure(ObjectError(reason))
    }
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
