import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct UserRegistryTests {
  private let registry = UserRegistry()

  private func seat(_ user: AnyObject, isAlive: Bool = true) -> (PlainSeat, (any CancellableSeat)?) {
    let (seat, former) = registry.seat(user) { PlainSeat($0, isAlive: isAlive) }
    return (seat, former.seat)
  }

  @Test func `a user's request is found until it is vacated, then nobody's is`() {
    let (user, other) = (NSObject(), NSObject())
    #expect(registry.current(user) == nil)
    let (first, before) = seat(user)
    #expect(before == nil && registry.current(user) === first && registry.current(other) == nil)
    first.desk.vacate(first)
    #expect(registry.current(user) == nil)
  }

  @Test func `a new request gives back the one before, and an old one cannot vacate it`() {
    let user = NSObject()
    let (first, _) = seat(user)
    let (second, before) = seat(user)
    #expect(before === first)
    first.desk.vacate(first)
    #expect(registry.current(user) === second)
  }

  @Test func `a desk is kept while anybody sits there, and replaced once it was closed`() {
    let user = NSObject()
    let (first, _) = seat(user)
    first.desk.closeIfUnused()
    first.desk.vacate(first)
    let (second, _) = seat(user)
    #expect(second.desk === first.desk, "vacated is not closed: a callback may still run")
    first.desk.leave()
    second.desk.vacate(second)
    second.desk.leave()
    let (third, before) = seat(user)
    #expect(third.desk !== first.desk && before == nil)
  }

  @Test func `a desk waits for a superseded request that has not been told yet`() {
    let user = NSObject()
    let (first, _) = seat(user)
    let (second, _) = seat(user)
    // Another thread took the place of the first, and has not come to cancel it.
    second.desk.vacate(second)
    second.desk.leave()
    let (third, _) = seat(user)
    #expect(third.desk === first.desk, "what the first is told may not run beside what the third is told")
    #expect(!registry.runAtOnce(for: user) {})
    third.desk.vacate(third)
    third.desk.leave()
    first.desk.leave()
    #expect(registry.runAtOnce(for: user) {})
  }

  @Test func `a desk is closed though its update ends while the last callback returns`() {
    let user = NSObject()
    let (first, _) = seat(user)
    let update = PlainSeat(first.desk, isAlive: true)
    #expect(first.desk.reserve(update, behind: first))
    first.desk.vacate(first)
    first.desk.callbacks.post(.direct, here: true) {
      first.desk.leave()
      // The queue has this callback still to end.
      #expect(first.desk.finish(update))
      first.desk.closeIfUnused()
    }
    #expect(seat(user).0.desk !== first.desk)
  }

  @Test func `a desk stays while its user is told of an update`() {
    let user = NSObject()
    let (first, _) = seat(user)
    let update = PlainSeat(first.desk, isAlive: true)
    #expect(first.desk.reserve(update, behind: first))
    first.desk.vacate(first)
    first.desk.leave()
    #expect(first.desk.finish(update, tells: true))
    first.desk.closeIfUnused()
    #expect(!registry.runAtOnce(for: user) {})
    first.desk.leave()
    #expect(registry.runAtOnce(for: user) {})
  }

  @Test func `a callback runs at once for a user that has nothing under way, and leaves no desk behind`() {
    let user = NSObject()
    var inside: PlainSeat?
    let hasRun = registry.runAtOnce(for: user) {
      #expect(registry.current(user) == nil)
      let nested = registry.runAtOnce(for: user) {}
      inside = seat(user).0
      #expect(!nested, "whoever asks meanwhile gets the same queue")
    }
    #expect(hasRun && registry.current(user) === inside)
    #expect(!registry.runAtOnce(for: user) {}, "it has a request")
    if let inside { inside.desk.vacate(inside) }
    inside?.desk.leave()
    #expect(registry.runAtOnce(for: user) {} && registry.runAtOnce(for: user) {})
    #expect(seat(user).0.desk !== inside?.desk)
  }

  @Test func `the request of a dead user is not taken for that of its successor of the same identity`() {
    let user = NSObject()
    let (dead, _) = seat(user, isAlive: false)
    #expect(registry.current(user) == nil)
    #expect(registry.orphaned(ObjectIdentifier(user)) === dead)
    let (living, before) = seat(user)
    #expect(before === dead && registry.current(user) === living)
    #expect(registry.orphaned(ObjectIdentifier(user)) == nil)
  }

  @Test func `eight threads that come and go never sit at a closed desk, and leave none behind`() throws {
    let users = (0..<3).map { _ in UserToken() }
    let done = Latch(8)
    for thread in 0..<8 {
      Thread { [registry] in
        var random = SeededRandom(seed: UInt64(thread))
        for _ in 0..<2000 {
          let user = users[Int.random(in: 0..<3, using: &random)]
          let (seat, former) = registry.seat(user) { PlainSeat($0, isAlive: true) }
          if let former = former.seat as? PlainSeat {
            #expect(former.desk === seat.desk && former.timesReplaced.withLock { $0 } == 0)
            former.timesReplaced.withLock { $0 += 1 }
            former.leave()
          }
          if Bool.random(using: &random) { seat.leave() }
        }
        done.countDown()
      }.start()
    }
    try done.wait()
    for user in users {
      (registry.current(user) as? PlainSeat)?.leave()
      #expect(registry.current(user) == nil)
      let (fresh, before) = registry.seat(user) { PlainSeat($0, isAlive: true) }
      #expect(before.seat == nil && registry.current(user) === fresh)
    }
  }
}

private final class UserToken: Sendable {}

private final class PlainSeat: CancellableSeat {
  let id = SeatID(number: 1)
  let desk: UserDesk
  var mayDie: Bool { true }
  let isAlive: Bool
  let timesReplaced = Lock(0)
  private let hasLeft = Lock(false)

  init(_ desk: UserDesk, isAlive: Bool) {
    self.desk = desk
    self.isAlive = isAlive
  }

  /// The first time only.
  func leave() {
    let isFirst = hasLeft.withLock { hasLeft in
      defer { hasLeft = true }
      return !hasLeft
    }
    guard isFirst else { return }
    desk.vacate(self)
    desk.leave()
  }

  var representation: Representation? { nil }
  var wantsProgress: Bool { false }
  var decodesInline: Bool { false }
  func decode(_ loaded: Loaded) -> DecodedObject? { nil }
  func end(_ ending: SeatEnding, from caller: Caller) {}
  func progressed(_ progress: LoadProgress) {}
  func cancel(_ reason: CancelReason, from caller: Caller) -> Bool { false }
}
