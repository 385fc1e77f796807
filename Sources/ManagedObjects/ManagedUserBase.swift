/// A user to subclass: override `readyFromLoaded`, and of `ready`, `failed`, `cancelled` and `progressed` what you need.
///
/// Bound to no actor, since in a server nobody may run a main loop. The price: the compiler cannot guard a subclass's
/// state, so a subclass restates `@unchecked Sendable` and keeps variables of its own in a `Lock`:
///
///     final class Table: ManagedUserBase<[[Substring]]>, @unchecked Sendable {
///       let rowCount = Lock(0)
///       override func readyFromLoaded(_ loaded: Loaded) throws -> [[Substring]] { … }
///       override func ready(_ rows: [[Substring]]) { rowCount.withLock { $0 = rows.count } }
///     }
///
/// Sound although unchecked: all its own state is in locks; what subclasses add is theirs to guard.
open class ManagedUserBase<Object: Sendable>: ManagedUser, @unchecked Sendable {
  private struct State: Sendable {
    var oid: String?
    var url: String?
    var object: Object?
    /// One for each manager that was asked.
    var watches: [ObjectIdentifier: DeathWatch] = [:]
  }

  private let state: Lock<State>

  public init(url: String? = nil, oid: String? = nil) { state = Lock(State(oid: oid, url: url)) }

  /// The object's name where it is not its URL. Read by `manage(_:)` when it is called.
  public final var oid: String? {
    get { state.withLock { $0.oid } }
    set { state.withLock { $0.oid = newValue } }
  }

  /// Where the bytes are. Read by `manage(_:)` when it is called.
  public final var url: String? {
    get { state.withLock { $0.url } }
    set { state.withLock { $0.url = newValue } }
  }

  /// The object last delivered.
  public final var object: Object? { state.withLock { $0.object } }

  /// Turns loaded bytes into the object, on the decode pool. Override it.
  open func readyFromLoaded(_ loaded: Loaded) throws -> Object {
    throw ObjectError(.undecodable, "\(type(of: self)) must override readyFromLoaded(_:).")
  }

  /// The object is here; it is `object` already.
  open func ready(_ object: Object) {}
  open func failed(_ error: ObjectError) {}
  open func cancelled(_ reason: CancelReason) {}
  open func progressed(_ progress: LoadProgress) {}
  /// Whether to tell of a newer object than the stale one that it was given; see `ManagedUser`.
  open var wantsUpdates: Bool { false }
  /// A newer object is here; it is `object` already.
  open func updated(_ object: Object) {}
  open var representation: Representation { Representation(of: Object.self, madeBy: type(of: self)) }
  open var delivery: Delivery { .pool }
  open func memoryCost(of object: Object, from loaded: Loaded) -> Int { loaded.count }

  /// Splits the ending; override the three above instead.
  public final func ended(_ ending: Ending<Object>) {
    switch ending.outcome {
    case .ready(let object, _): take(object) { ready(object) }
    case .failed(let error): failed(error)
    case .cancelled(let reason): cancelled(reason)
    }
  }

  /// Override the one with the object alone instead.
  public final func updated(_ update: ObjectUpdate<Object>) { take(update.object) { updated(update.object) } }

  private func take(_ object: Object, _ tell: () -> Void) {
    let old = state.withLock { state in
      let old = state.object
      state.object = object
      return old
    }
    withExtendedLifetime(old) { tell() }
  }

  /// What `manage(_:)` asks for.
  final var request: ObjectRequest {
    state.withLock { state in
      var request = ObjectRequest(state.url ?? "", oid: state.oid)
      if state.url == nil { request.locations = [] }
      return request
    }
  }
}

extension ManagedUserBase: DeathNotifying {
  func watch(_ watch: DeathWatch) {
    let old = state.withLock { $0.watches.updateValue(watch, forKey: watch.owner) }
    withExtendedLifetime(old) {}
  }
}
