import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct UserSeatTests {
  private let registry = UserRegistry()
  private let jobs = Collector<@Sendable () -> Void>()

  private var later: Delivery { .custom { [jobs] in jobs.append($0) } }

  private func sit<Object>(_ user: RecordingUser<Object>) -> UserSeat<RecordingUser<Object>> {
    registry.seat(user) { UserSeat(user, SeatID(number: 1), ObjectRequest("mem:a"), at: $0) }.seat
  }

  private func ready(_ object: some Sendable) -> SeatEnding {
    .ready(ObjectBox(object), Delivered(source: .network, reason: .absent, head: LoadHead(), count: 1))
  }

  private func progress(_ bytes: Int) -> LoadProgress { LoadProgress(receivedBytes: bytes, expectedBytes: 10) }

  @Test func `the first ending counts, and the desk is free afterwards`() {
    let user = RecordingUser.text(delivery: .direct)
    let seat = sit(user)
    seat.end(ready("one"), from: .library)
    seat.end(ready("two"), from: .library)
    seat.end(.failed(ObjectError(.timedOut, "late")), from: .library)
    #expect(user.endings.count == 1 && user.endings[0].object == "one")
    #expect(user.endings[0].source == .network && user.endings[0].request.locations == ["mem:a"])
    #expect(registry.current(user) == nil)
    #expect(!seat.cancel(.left, from: .library))
  }

  @Test func `a library thread waits for the delivery, a user's thread does not`() {
    let (patient, hasty) = (RecordingUser.text(delivery: later), RecordingUser.text(delivery: later))
    sit(patient).end(ready("x"), from: .library)
    #expect(patient.endings.isEmpty && jobs.elements.count == 1)
    sit(hasty).end(ready("x"), from: .user(nil))
    #expect(hasty.endings.count == 1)
  }

  @Test func `an actor's user is not called on the thread of somebody else`() {
    let actor = Place()
    let user = RecordingUser.text(delivery: Delivery(actor: actor) { [jobs] in jobs.append($0) })
    sit(user).end(ready("x"), from: .user(nil))
    #expect(user.endings.isEmpty && jobs.elements.count == 1)
    let local = RecordingUser.text(delivery: Delivery(actor: actor) { [jobs] in jobs.append($0) })
    sit(local).end(ready("x"), from: .user(actor))
    #expect(local.endings.count == 1)
  }

  @Test func `leaving takes the place of an object that is on its way, before it returns`() {
    let user = RecordingUser.text(delivery: later)
    let seat = sit(user)
    seat.end(ready("x"), from: .library)
    #expect(seat.cancel(.left, from: .user(nil)))
    #expect(user.endings.map(\.reason) == [.left])
    for job in jobs.elements { job() }
    #expect(user.endings.count == 1)
  }

  @Test func `leaving ends before it returns, also when progress is on its way`() {
    let user = RecordingUser.text(delivery: later)
    let seat = sit(user)
    seat.progressed(progress(1))
    #expect(seat.cancel(.left, from: .user(nil)))
    #expect(user.endings.map(\.reason) == [.left])
    for job in jobs.elements { job() }
    #expect(user.progress.isEmpty && user.endings.count == 1)
  }

  @Test func `only the newest progress is shown, and none after the ending`() {
    let user = RecordingUser.text(delivery: later)
    let seat = sit(user)
    seat.progressed(progress(1))
    seat.progressed(progress(2))
    seat.progressed(progress(3))
    #expect(jobs.elements.count == 1)
    jobs.elements[0]()
    #expect(user.progress.map(\.receivedBytes) == [3])
    seat.progressed(progress(10))
    seat.end(ready("x"), from: .library)
    for job in jobs.elements { job() }
    #expect(user.progress.map(\.receivedBytes) == [3, 10] && user.endings.count == 1)
    seat.progressed(progress(10))
    for job in jobs.elements { job() }
    #expect(user.progress.count == 2)
  }

  @Test func `a user that is gone decodes nothing, hears nothing, and frees its desk`() throws {
    var user: RecordingUser<String>? = .text(delivery: .direct)
    let identity = try ObjectIdentifier(#require(user))
    let seat = try sit(#require(user))
    #expect(seat.isAlive)
    user = nil
    #expect(!seat.isAlive)
    #expect(try seat.decode(Loaded(id: ObjectID("a"), bytes: Data())) == nil)
    #expect(registry.orphaned(identity) === seat)
    seat.progressed(progress(1))
    seat.end(ready("x"), from: .library)
    #expect(registry.orphaned(identity) == nil)
  }

  @Test func `an object of another type is a failure, not a crash`() {
    let user = RecordingUser.text(delivery: .direct)
    sit(user).end(ready(42), from: .library)
    #expect(user.endings.first?.error?.code == .undecodable)
    let other = RecordingUser.text(delivery: .direct)
    sit(other).end(.content(Delivered(source: .file, reason: .fresh, head: LoadHead(), count: 0)), from: .library)
    #expect(other.endings.first?.error?.code == .undecodable)
  }

  @Test func `a decode gives the object and what it costs`() throws {
    let user = RecordingUser<String>(cost: 77) { _ in "made" }
    let decoded = try sit(user).decode(Loaded(id: ObjectID("a"), bytes: Data([1])))
    #expect(decoded?.cost == 77 && decoded?.box.object(as: String.self) == "made")
  }

  @Test func `an ending and a leave from two threads end it once, and the answer of leave is true`() throws {
    for _ in 0..<500 {
      let user = RecordingUser.text(delivery: .direct)
      let seat = sit(user)
      let (start, done) = (Latch(), Latch())
      Thread {
        start.countDown()
        seat.end(.failed(ObjectError(.transport, "x")), from: .library)
        done.countDown()
      }.start()
      try start.wait()
      let hasLeft = seat.cancel(.left, from: .user(nil))
      try done.wait()
      #expect(user.endings.map(\.reason) == [hasLeft ? .left : nil])
    }
  }

  // MARK: Updates

  @Test func `only a user that asks, and whose request has not ended, gets a seat for what a refresh brings`() {
    let (asking, other) = (RecordingUser.text(delivery: later, wantsUpdates: true), RecordingUser.text())
    #expect(sit(other).seatForUpdate(SeatID(number: 2), after: 7) == nil)
    let seat = sit(asking)
    #expect(seat.seatForUpdate(SeatID(number: 2), after: 7) != nil)
    _ = registry.takeUpdate(of: asking)
    seat.end(ready("x"), from: .library)
    #expect(seat.seatForUpdate(SeatID(number: 3), after: 7) == nil, "its ending is set")
    #expect(registry.takeUpdate(of: asking) == nil)
  }

  @Test func `an update is told once, after the ending, and only of another body`() throws {
    for (generation, count) in [(UInt64(8), 1), (7, 0)] {
      let user = RecordingUser.text(delivery: .direct, wantsUpdates: true)
      let seat = sit(user)
      let update = try #require(seat.seatForUpdate(SeatID(number: 2), after: 7))
      seat.end(ready("old"), from: .library)
      let delivered = Delivered(
        source: .network, reason: .expired, head: LoadHead(), count: 1, generation: generation)
      for _ in 0..<2 { update.end(.ready(ObjectBox("new"), delivered), from: .library) }
      #expect(user.updates.map(\.object) == Array(repeating: "new", count: count))
      #expect(registry.takeUpdate(of: user) == nil)
      let (_, former) = registry.seat(user) { UserSeat(user, SeatID(number: 4), ObjectRequest("mem:b"), at: $0) }
      #expect(former.seat == nil && former.update == nil)
    }
  }
}

private actor Place {}
