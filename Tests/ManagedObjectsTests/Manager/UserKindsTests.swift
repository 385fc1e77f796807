import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Whoever may want objects, and where each of them is told.
struct UserKindsTests {
  private let loader = HeldLoader()
  private let time = ManualClock()
  private static let fresh: HeaderFields = ["Cache-Control": "max-age=3600"]

  private func manager(_ policy: Policy = Policy()) -> ObjectManager {
    ObjectManager(loaders: [loader], policy: policy, time: time)
  }

  /// Loads it into memory.
  private func warm(_ manager: ObjectManager, _ location: String, _ text: String) async throws {
    let user = RecordingUser.text(variant: "string")
    manager.manage(user, for: ObjectRequest(location))
    try await until("a load of \(location)") { [loader] in loader.starts(location) == 1 }
    loader.answer(.location(location), text, Self.fresh)
    #expect(try await user.object() == text)
  }

  // MARK: The base class

  @Test func `a user of the base class has its object before it is ready, and is told once`() async throws {
    let manager = manager()
    let sheet = Sheet(url: "mem:a", oid: "sheet")
    manager.manage(sheet)
    #expect(manager.liveHandlers.map(\.id) == [ObjectID("sheet")] && sheet.object == nil)
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "x")
    #expect(try await sheet.log.wait() == ["ready x, object x"])
    sheet.oid = nil
    sheet.url = "mem:b"
    manager.manage(sheet)
    #expect(manager.liveHandlers.map(\.id) == [ObjectID("mem:b", kind: .url)])
    try await loader.waitForStarts(2)
    loader.answer("mem:b", head: LoadHead(status: 404))
    #expect(try await sheet.log.wait(2)[1] == "failed httpStatus")
    manager.manage(sheet)
    sheet.url = "mem:c"
    manager.manage(sheet)
    #expect(manager.leave(sheet) && !manager.leave(sheet))
    let log = try await sheet.log.wait(4)
    #expect(log.last == "cancelled left" && log.count == 4 && sheet.object == "x")
  }

  @Test func `a request that is taken back twice while a callback runs was there once`() async throws {
    let manager = manager()
    let sheet = Sheet()
    let answers = Collector<[Bool]>()
    sheet.onCancelled = { [weak sheet] in
      guard let sheet, answers.elements.isEmpty else { return }
      manager.manage(sheet, for: ObjectRequest("mem:b"), from: nil)
      // It is told of only when this callback is over: until then it could be taken back again.
      answers.append([manager.leave(sheet, from: nil), manager.leave(sheet, from: nil)])
    }
    manager.manage(sheet, for: ObjectRequest("mem:a"))
    #expect(manager.leave(sheet))
    #expect(try await sheet.log.wait(2) == ["cancelled left", "cancelled left"])
    #expect(answers.elements == [[true, false]])
  }

  @Test func `a user of the base class without url or oid fails at once`() {
    let sheet = Sheet()
    #expect(manager().manage(sheet) == nil)
    #expect(sheet.log.elements == ["failed invalidURL"])
  }

  @Test func `a subclass that forgot to decode is told so`() async throws {
    let manager = manager()
    let user = Forgetful(url: "mem:a")
    manager.manage(user)
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "x")
    let error = try await user.errors.wait()[0]
    #expect(error.code == .undecodable && error.message.contains("readyFromLoaded"))
  }

  @Test func `a user that asks anew when it is superseded gets the object of its last request`() async throws {
    let manager = manager()
    let sheet = Sheet()
    let isFirst = Lock(true)
    sheet.onCancelled = { [weak sheet] in
      let asks = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if asks, let sheet { manager.manage(sheet, for: ObjectRequest("mem:third"), from: nil) }
    }
    manager.manage(sheet, for: ObjectRequest("mem:first"))
    manager.manage(sheet, for: ObjectRequest("mem:second"))
    try await until("the third load") { [loader] in loader.starts("mem:third") == 1 }
    #expect(loader.starts("mem:second") == 0)
    loader.answer("mem:third", "x")
    #expect(try await sheet.log.wait(3) == ["cancelled superseded", "cancelled superseded", "ready x, object x"])
  }

  @Test func `a user that eight threads manage at once keeps exactly one request, and none ends as left`() async throws
  {
    let manager = manager()
    for round in 0..<50 {
      let sheet = Sheet()
      let done = Latch(8)
      for thread in 0..<8 {
        Thread {
          manager.manage(sheet, for: ObjectRequest("mem:\(round)/\(thread)"), from: nil)
          done.countDown()
        }.start()
      }
      try await done.wait()
      try await sheet.log.wait(7)
      try await until("one load is wanted") { [loader] in loader.loads.count { $0.sink.isWanted } == 1 }
      for (number, load) in loader.loads.enumerated() where load.sink.isWanted { loader.answer(.number(number), "x") }
      let log = try await sheet.log.wait(8)
      #expect(log.count { $0 == "cancelled superseded" } == 7 && log.count == 8)
      #expect(log.last == "ready x, object x")
      try await until("nothing is under way") { manager.liveHandlers.isEmpty }
    }
  }

  @Test func `one user of two managers loses nothing to either`() async throws {
    let (one, two) = (manager(), manager())
    let sheet = Sheet()
    one.manage(sheet, for: ObjectRequest("mem:a"))
    two.manage(sheet, for: ObjectRequest("mem:b"))
    try await loader.waitForStarts(2)
    loader.answer("mem:a", "a")
    loader.answer("mem:b", "b")
    #expect(Set(try await sheet.log.wait(2).map { $0.prefix(7) }) == ["ready a", "ready b"])
  }

  // MARK: Actors

  @Test func `an actor that asks is answered from memory before its call returns`() async throws {
    let manager = manager()
    try await warm(manager, "mem:a", "x")
    let desk = Desk()
    #expect(await desk.ask(manager, ObjectRequest("mem:a")) == ["x"])
  }

  @Test func `asked for from elsewhere, an actor is told on itself, after the call`() async throws {
    let manager = manager()
    try await warm(manager, "mem:a", "x")
    let desk = Desk()
    // The actor is busy while it is asked for: what it is told has to wait.
    let held = await desk.hold { manager.manage(desk, for: ObjectRequest("mem:a"), from: nil) == nil }
    #expect(held == [])
    #expect(try await desk.seen.wait() == ["x"])
  }

  @Test func `an actor that leaves is told before its call returns, and gets nothing later`() async throws {
    let manager = manager()
    let desk = Desk()
    #expect(await desk.ask(manager, ObjectRequest("mem:a")) == [])
    try await loader.waitForStarts(1)
    #expect(await desk.leave(manager) == ["left"])
    loader.answer("mem:a", "late")
    #expect(await desk.received == ["left"])
  }

  @Test func `a user of the main actor is told there, at once when it asks itself`() async throws {
    let manager = manager()
    let label = Label()
    manager.manage(label, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "x", Self.fresh)
    #expect(try await label.seen.wait() == ["x"])
    let seen = await MainActor.run {
      manager.manage(label, for: ObjectRequest("mem:a"))
      return label.seen.elements.count
    }
    #expect(seen == 2)
  }

  // MARK: Slots

  @Test func `a slot shows the object of its newest request only`() async throws {
    let manager = manager()
    let shown = Collector<Ending<String>>()
    let slot = Slot(manager, decodedBy: .text) { shown.append($0) }
    for name in ["a", "b", "c"] { slot.load(ObjectRequest("mem:\(name)")) }
    try await until("the third load") { [loader] in loader.starts("mem:c") == 1 }
    for name in ["a", "b", "c"] { loader.answer(.location("mem:\(name)"), name, Self.fresh) }
    #expect(try await shown.wait().map(\.object) == ["c"])
  }

  @Test func `a slot shows what is in memory, and that it was cleared, before the call returns`() async throws {
    let manager = manager()
    let shown = Collector<Ending<String>>()
    let slot = Slot(manager, decodedBy: .text) { shown.append($0) }
    slot.load(ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "x", Self.fresh)
    #expect(try await shown.wait().map(\.source) == [.network])
    let other = Slot(manager, decodedBy: .text) { shown.append($0) }
    other.load(ObjectRequest("mem:a"))
    #expect(shown.elements.map(\.source) == [.network, .memory])
    other.load(ObjectRequest("mem:b"))
    other.clear()
    #expect(shown.elements.map(\.reason) == [nil, nil, .left])
  }

  @Test func `letting go of a slot lets go of its request`() async throws {
    let manager = manager()
    let shown = Collector<Ending<String>>()
    var slot: Slot<String>? = Slot(manager, decodedBy: .text) { shown.append($0) }
    slot?.load(ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    slot = nil
    time.advance(by: .milliseconds(250))
    try await loader.waitForStops(1)
    #expect(manager.liveHandlers.isEmpty && shown.elements.isEmpty)
  }

  // MARK: Deliveries

  @Test func `a custom delivery gets all but the hits`() async throws {
    let manager = manager()
    let jobs = Collector<@Sendable () -> Void>()
    let user = RecordingUser.text(delivery: .custom { jobs.append($0) })
    manager.manage(user, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "x", Self.fresh)
    try await until("it is decoded") { manager.liveHandlers.isEmpty }
    #expect(user.endings.isEmpty)
    for job in try await jobs.wait() { job() }
    #expect(user.endings.map(\.object) == ["x"])
    let count = jobs.elements.count
    manager.manage(user, for: ObjectRequest("mem:a"))
    #expect(user.endings.count == 2 && jobs.elements.count == count)
  }

  @Test func `a delivery on an actor runs isolated to it`() async throws {
    let manager = manager()
    let desk = Desk()
    let user = OnActor(desk)
    manager.manage(user, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "x", Self.fresh)
    #expect(try await user.seen.wait() == ["x"])
    manager.manage(user, for: ObjectRequest("mem:a"))
    #expect(try await user.seen.wait(2) == ["x", "x"])
  }

  @Test func `users that ask each other in their callbacks are served, however many`() async throws {
    let manager = manager()
    try await warm(manager, "mem:a", "x")
    let relay = Relay(manager)
    relay.next()
    #expect(relay.count == 20_000)
  }

  // MARK: What memory keeps

  @Test func `an instance that somebody holds is found again although memory let go of it`() async throws {
    var policy = Policy()
    policy.limitMemoryCost = 100
    let manager = manager(policy)
    var held: Box?
    for number in 0..<20 {
      let user = RecordingUser<Box>(variant: "box", cost: 20) { _ in Box("\(number)") }
      manager.manage(user, for: ObjectRequest("mem:\(number)"))
      try await loader.waitForStarts(number + 1)
      loader.answer(.number(number), "x", Self.fresh)
      let box = try await user.object()
      if number == 0 { held = box }
    }
    #expect(manager.statistics.memoryCost <= 100)
    let again = RecordingUser<Box>(variant: "box") { _ in Box("another") }
    manager.manage(again, for: ObjectRequest("mem:0"))
    #expect(try await again.object() === held && loader.starts == 20)
    manager.removeAllFromMemory()
    manager.manage(again, for: ObjectRequest("mem:0"))
    #expect(try await again.ending(1).object === held && loader.starts == 20)
  }
}

private final class Sheet: ManagedUserBase<String>, @unchecked Sendable {
  let log = Collector<String>()
  private let cancelling = Lock<@Sendable () -> Void>({})

  var onCancelled: @Sendable () -> Void {
    get { cancelling.withLock { $0 } }
    set { cancelling.withLock { $0 = newValue } }
  }

  override func readyFromLoaded(_ loaded: Loaded) throws -> String {
    String(decoding: try loaded.data(), as: UTF8.self)
  }
  override func ready(_ text: String) { log.append("ready \(text), object \(object ?? "none")") }
  override func failed(_ error: ObjectError) { log.append("failed \(error.code.rawValue)") }
  override func cancelled(_ reason: CancelReason) {
    log.append("cancelled \(reason.rawValue)")
    onCancelled()
  }
}

private final class Forgetful: ManagedUserBase<Int>, @unchecked Sendable {
  let errors = Collector<ObjectError>()
  override func failed(_ error: ObjectError) { errors.append(error) }
}

private actor Desk: ActorUser {
  nonisolated let seen = Collector<String>()
  private(set) var received: [String] = []

  nonisolated var representation: Representation { Representation(of: String.self, variant: "string") }
  nonisolated func readyFromLoaded(_ loaded: Loaded) throws -> String {
    String(decoding: try loaded.data(), as: UTF8.self)
  }

  func received(_ ending: Ending<String>) {
    let text = ending.object ?? ending.reason?.rawValue ?? "failed"
    received.append(text)
    seen.append(text)
  }

  /// What was received before the manager's call returned.
  func ask(_ manager: ObjectManager, _ request: ObjectRequest) -> [String] {
    manager.manage(self, for: request)
    return received
  }

  func leave(_ manager: ObjectManager) -> [String] {
    manager.leave(self)
    return received
  }

  /// What was received while the actor was busy with this.
  func hold(_ work: @Sendable () -> Bool) -> [String] {
    #expect(work())
    return received
  }
}

@MainActor private final class Label: MainActorUser {
  nonisolated let seen = Collector<String>()

  nonisolated func readyFromLoaded(_ loaded: Loaded) throws -> String {
    String(decoding: try loaded.data(), as: UTF8.self)
  }

  func received(_ ending: Ending<String>) {
    MainActor.assertIsolated()
    seen.append(ending.object ?? "none")
  }
}

private final class OnActor: ManagedUser {
  let seen = Collector<String>()
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  var delivery: Delivery { .on(desk) }
  func readyFromLoaded(_ loaded: Loaded) throws -> String { String(decoding: try loaded.data(), as: UTF8.self) }
  func ended(_ ending: Ending<String>) {
    desk.assertIsolated()
    seen.append(ending.object ?? "none")
  }
}

/// Asks again in each callback.
private final class Relay: ManagedUser {
  private let manager: ObjectManager
  private let answers = Lock(0)

  init(_ manager: ObjectManager) { self.manager = manager }

  var count: Int { answers.withLock { $0 } }
  var representation: Representation { Representation(of: String.self, variant: "string") }
  func next() { manager.manage(self, for: ObjectRequest("mem:a"), from: nil) }
  func readyFromLoaded(_ loaded: Loaded) throws -> String { "" }
  func ended(_ ending: Ending<String>) {
    let count = answers.withLock { answers in
      answers += 1
      return answers
    }
    if count < 20_000 { next() }
  }
}
