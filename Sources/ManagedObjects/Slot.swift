/// A place that shows one object at a time, as a table cell does: `load` replaces only its own former request, whose
/// object never shows. Keep the slot; letting go of it lets go of the request.
public final class Slot<Object: Sendable>: ManagedUser {
  public let delivery: Delivery
  public let wantsUpdates: Bool
  private let manager: ObjectManager
  private let decoder: ObjectDecoder<Object>
  private let show: @Sendable (Ending<Object>) -> Void

  /// - Parameters:
  ///   - showsUpdates: a stale object is followed by a newer one, if the refresh in the background brings one.
  ///   - show: called for each ending but `.cancelled(.superseded)`, where `delivery` says; for a newer object as if the
  ///     request had ended with it.
  public init(
    _ manager: ObjectManager, decodedBy decoder: ObjectDecoder<Object>, delivery: Delivery = .pool,
    showsUpdates: Bool = false, show: @escaping @Sendable (Ending<Object>) -> Void
  ) {
    self.manager = manager
    self.decoder = decoder
    self.delivery = delivery
    wantsUpdates = showsUpdates
    self.show = show
  }

  public func load(_ request: ObjectRequest, from caller: (any Actor)? = #isolation) {
    manager.manage(self, for: request, from: caller)
  }

  /// Shows nothing more of what was asked for.
  public func clear(from caller: (any Actor)? = #isolation) { manager.leave(self, from: caller) }

  // MARK: ManagedUser

  public var representation: Representation { decoder.representation }
  public func readyFromLoaded(_ loaded: Loaded) throws -> Object { try decoder.decode(loaded) }
  public func memoryCost(of object: Object, from loaded: Loaded) -> Int { decoder.cost?(object) ?? loaded.count }

  public func ended(_ ending: Ending<Object>) {
    if case .cancelled(.superseded) = ending.outcome { return }
    show(ending)
  }

  public func updated(_ update: ObjectUpdate<Object>) {
    show(Ending(request: update.request, outcome: .ready(update.object, update.source)))
  }
}
