/// The seat, in a refresh in the background, of a user that was given a stale object and asked to be told of a newer one.
///
/// Holds its user weakly, as every seat. It tells at most once, and not where the refresh brought the same body again.
/// With `leave`, or the user's next request, the desk forgets it: whatever comes then is nobody's.
final class UpdateSeat<User: ManagedUser>: Seat {
  let id: SeatID
  let representation: Representation?
  private let request: ObjectRequest
  /// Of the body that the user has already.
  private let generation: UInt64
  private weak let user: User?
  private let desk: UserDesk

  init(
    _ user: User, _ id: SeatID, _ request: ObjectRequest, _ representation: Representation?,
    after generation: UInt64, at desk: UserDesk
  ) {
    self.user = user
    self.id = id
    self.request = request
    self.representation = representation
    self.generation = generation
    self.desk = desk
  }

  var wantsProgress: Bool { false }
  var decodesInline: Bool { false }
  var mayDie: Bool { true }
  var isAlive: Bool { user != nil }
  func progressed(_ progress: LoadProgress) {}

  func decode(_ loaded: Loaded) throws -> DecodedObject? {
    guard let user else { return nil }
    let object = try user.readyFromLoaded(loaded)
    return DecodedObject(box: ObjectBox(object), cost: user.memoryCost(of: object, from: loaded))
  }

  func end(_ ending: SeatEnding, from caller: Caller) {
    guard case .ready(let box, let delivered) = ending, delivered.generation != generation,
      let object = box.object(as: User.Object.self), let user
    else {
      if desk.finish(self) { desk.closeIfUnused() }
      return
    }
    let update = ObjectUpdate(request: request, object: object, source: delivered.source)
    desk.callbacks.post(user.delivery, here: false) { [self] in tell(update) }
  }

  private func tell(_ update: ObjectUpdate<User.Object>) {
    guard desk.finish(self, tells: true) else { return }
    user?.updated(update)
    desk.leave()
  }
}
