internal import FoundationEssentials

/// Feeds a body store from a pool, for backends whose `append` may take its time: the transfer's thread never waits.
///
/// Two pieces may be outstanding; then the loader is asked to hold back.
final class AppendQueue: Sendable {
  private struct State: ~Copyable, Sendable {
    var store: BodyStore?
    var pieces: [Data] = []
    var isRunning = false
    var error: ObjectError?
    var isAborted = false
    var whenNotFull: [@Sendable () -> Void] = []
    var whenEmpty: (@Sendable (Result<ReceivedBody, ObjectError>) -> Void)?
  }

  static let limitPieces = 2

  private let state: Lock<State>
  private let run: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(
    _ store: consuming sending BodyStore, run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    state = Lock(State(store: store))
    self.run = run
  }

  var isFull: Bool { state.withLock { $0.pieces.count >= Self.limitPieces && $0.error == nil && !$0.isAborted } }

  func whenNotFull(_ call: @escaping @Sendable () -> Void) {
    let isFull = state.withLock { state in
      guard state.pieces.count >= Self.limitPieces, state.error == nil, !state.isAborted else { return false }
      state.whenNotFull.append(call)
      return true
    }
    if !isFull { call() }
  }

  func append(_ piece: Data) throws(ObjectError) {
    let (error, starts) = state.withLock { state -> (ObjectError?, Bool) in
      if state.error != nil || state.isAborted { return (state.error, false) }
      state.pieces.append(piece)
      defer { state.isRunning = true }
      return (nil, !state.isRunning)
    }
    if let error { throw error }
    if starts { run { [self] in drain() } }
  }

  /// Calls when all pieces are in the store, or it failed.
  func finish(_ call: @escaping @Sendable (Result<ReceivedBody, ObjectError>) -> Void) {
    let starts = state.withLock { state in
      state.whenEmpty = call
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { run { [self] in drain() } }
  }

  func abort() {
    var store: BodyStore?
    let calls = state.withLock { state in
      state.isAborted = true
      state.pieces = []
      if !state.isRunning { swap(&store, &state.store) }
      let calls = state.whenNotFull
      state.whenNotFull = []
      state.whenEmpty = nil
      return calls
    }
    for call in calls { call() }
  }

  private enum Turn: Sendable {
    case append(Data)
    case end(@Sendable (Result<ReceivedBody, ObjectError>) -> Void, ObjectError?)
    case pause
  }

  private func drain() {
    while true {
      var store: BodyStore?
      // Decided in one look: between two, another thread could add the last piece and the end, and that piece be lost.
      let turn = state.withLock { state -> Turn in
        if let piece = state.pieces.first {
          swap(&store, &state.store)
          return .append(piece)
        }
        guard let call = state.whenEmpty else {
          state.isRunning = false
          // Called off while it wrote: the unfinished entry is let go, out here.
          if state.isAborted { swap(&store, &state.store) }
          return .pause
        }
        state.whenEmpty = nil
        swap(&store, &state.store)
        return .end(call, state.error)
      }
      switch turn {
      case .pause: return
      case .append(let piece): write(piece, store.take())
      case .end(let call, let error):
        if let error { return call(.failure(error)) }
        if let whole = store.take() { call(.success(whole.finish())) }
        return
      }
    }
  }

  private func write(_ piece: Data, _ taken: consuming BodyStore?) {
    var store = taken
    var failure: ObjectError?
    do { try store?.append(piece.bytes) } catch { failure = error }
    let calls = state.withLock { state -> [@Sendable () -> Void] in
      swap(&store, &state.store)
      if !state.pieces.isEmpty { state.pieces.removeFirst() }
      if let failure {
        state.error = failure
        state.pieces = []
      }
      let calls = state.whenNotFull
      state.whenNotFull = []
      return calls
    }
    for call in calls { call() }
  }
}
