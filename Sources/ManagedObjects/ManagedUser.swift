/// Whoever wants an object. Held weakly: keep it alive as long as you want the object; nothing to do in `deinit`.
public protocol ManagedUser<Object>: AnyObject, Sendable {
  associatedtype Object: Sendable

  /// Turns loaded bytes into the object. Called on the decode pool, on one user per representation; all others of that
  /// representation share the result. What it throws reaches them as `.undecodable` (an `ObjectError` as it is).
  func readyFromLoaded(_ loaded: Loaded) throws -> Object

  /// The one ending of a request. Where it runs: see `delivery`. Any call of the library may be made from inside.
  func ended(_ ending: Ending<Object>)

  /// More bytes are here; the fraction never falls. Default: nothing.
  func progressed(_ progress: LoadProgress)

  /// Whether to tell of a newer object than the stale one it was given. Asked when that one is given. Default: false.
  var wantsUpdates: Bool { get }

  /// The object was stale, as the server allows (`stale-while-revalidate`), and the refresh in the background has brought
  /// other bytes: here is what they are decoded to. At most once for a request, after `ended` and where that runs; never
  /// after `leave` or a new request, and not where the refresh failed or brought nothing new. Default: nothing.
  func updated(_ update: ObjectUpdate<Object>)

  /// Which users share an object. Default: those of the same class with the same object type.
  var representation: Representation { get }

  /// Where callbacks run. Default: `.pool`. Callbacks of one user never overlap.
  var delivery: Delivery { get }

  /// What the object costs in the memory cache, in bytes. Default: the length of the body.
  func memoryCost(of object: Object, from loaded: Loaded) -> Int
}

extension ManagedUser {
  public func progressed(_ progress: LoadProgress) {}
  public var wantsUpdates: Bool { false }
  public func updated(_ update: ObjectUpdate<Object>) {}
  public var representation: Representation { Representation(of: Object.self, madeBy: type(of: self)) }
  public var delivery: Delivery { .pool }
  public func memoryCost(of object: Object, from loaded: Loaded) -> Int { loaded.count }
}

/// An actor that wants objects: `received` runs isolated to it.
public protocol ActorUser<Object>: ManagedUser, Actor {
  func received(_ ending: Ending<Object>)
  /// See `ManagedUser.updated`. Default: nothing.
  func received(_ update: ObjectUpdate<Object>)
}

extension ActorUser {
  public nonisolated var delivery: Delivery { .on(self) }
  public nonisolated func ended(_ ending: Ending<Object>) { assumeIsolated { $0.received(ending) } }
  public nonisolated func updated(_ update: ObjectUpdate<Object>) { assumeIsolated { $0.received(update) } }
  public func received(_ update: ObjectUpdate<Object>) {}
}

/// A class of the main actor that wants objects: `received` runs on the main actor.
/// Needs a process whose main actor runs: one with an async `main`, or with `dispatchMain()`.
public protocol MainActorUser<Object>: ManagedUser {
  @MainActor func received(_ ending: Ending<Object>)
  /// See `ManagedUser.updated`. Default: nothing.
  @MainActor func received(_ update: ObjectUpdate<Object>)
}

extension MainActorUser {
  public var delivery: Delivery { .mainActor }
  public func ended(_ ending: Ending<Object>) { MainActor.assumeIsolated { received(ending) } }
  public func updated(_ update: ObjectUpdate<Object>) { MainActor.assumeIsolated { received(update) } }
  @MainActor public func received(_ update: ObjectUpdate<Object>) {}
}
