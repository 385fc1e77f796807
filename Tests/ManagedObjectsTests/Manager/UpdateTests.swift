import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What a refresh in the background brings, and who is told.
struct UpdateTests {
  private let loader = HeldLoader()
  private let time = ManualClock()
  private static let fields: HeaderFields = [
    "Cache-Control": "max-age=10, stale-while-revalidate=60", "ETag": "\"1\"",
  ]
  private let request = ObjectRequest("mem:a")

  /// "old" is stored, and has been stale for ten seconds.
  private func staleManager(files: Bool = true, _ policy: Policy = Policy()) async throws -> ObjectManager {
    let manager = ObjectManager(loaders: [loader], cache: files ? MemoryBackend() : nil, policy: policy, time: time)
    let first = RecordingUser.text()
    manager.manage(first, for: request)
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "old", Self.fields)
    _ = try await first.ending()
    time.advance(by: .seconds(20))
    return manager
  }

  private func answerRefresh(_ text: String = "new", status: Int = 200) async throws {
    try await loader.waitForStarts(2)
    loader.answer(1, head: LoadHead(status: status, fields: Self.fields), bytes: status == 304 ? [] : Array(text.utf8))
  }

  private func object(_ manager: ObjectManager) async throws -> String {
    try await manager.object(for: request, decodedBy: .text)
  }

  // MARK: Who is told

  @Test(arguments: [true, false])
  func `a user that asks has the stale object at once and the newer one later, each once`(files: Bool) async throws {
    let manager = try await staleManager(files: files)
    let user = RecordingUser.text(wantsUpdates: true)
    manager.manage(user, for: request)
    let ending = try await user.ending()
    #expect(ending.object == "old" && ending.source == .stale && user.updates.isEmpty)
    try await answerRefresh()
    let update = try await user.update()
    // A refresh that ends before the user has its place in it leaves the object to be found in the file.
    #expect(update.object == "new" && (update.source == .network || files && update.source == .file))
    #expect(update.request.locations == ["mem:a"])
    #expect(loader.requests[1].fields["If-None-Match"] == "\"1\"")
    let next = RecordingUser.text()
    manager.manage(next, for: request)
    #expect(next.endings.map(\.object) == ["new"] && next.endings.map(\.source) == [.memory])
    #expect(user.endings.count == 1 && user.updates.count == 1 && loader.starts == 2)
  }

  @Test(arguments: [true, false])
  func `a refresh that drips is given up in the policy's time, whoever waits for it`(files: Bool) async throws {
    var policy = Policy()
    policy.timeout = .seconds(5)
    let manager = try await staleManager(files: files, policy)
    let user = RecordingUser.text(wantsUpdates: true)
    manager.manage(user, for: request)
    #expect(try await user.ending().object == "old")
    try await loader.waitForStarts(2)
    #expect(manager.liveHandlers.count == 1)
    // Its time may begin to run a moment after it has begun.
    try await until("the refresh was given up") {
      time.advance(by: .seconds(6))
      return manager.liveHandlers.isEmpty
    }
    #expect(user.updates.isEmpty && user.endings.count == 1)
  }

  @Test func `who does not ask is not called, and the next has the new object`() async throws {
    let manager = try await staleManager()
    let user = RecordingUser.text()
    manager.manage(user, for: request)
    #expect(try await user.ending().object == "old")
    try await answerRefresh()
    try await until("the refresh") { manager.liveHandlers.isEmpty }
    #expect(try await object(manager) == "new")
    #expect(user.updates.isEmpty && user.endings.count == 1 && user.decodes == 0 && loader.starts == 2)
  }

  @Test func `a hundred users cause one refresh, and its object is decoded once`() async throws {
    let manager = try await staleManager()
    let users = (0..<100).map { RecordingUser.text(wantsUpdates: $0.isMultiple(of: 2)) }
    for user in users { manager.manage(user, for: request) }
    for user in users { #expect(try await user.ending().object == "old") }
    try await answerRefresh()
    for user in users where user.wantsUpdates { #expect(try await user.update().object == "new") }
    #expect(users.allSatisfy { $0.updates.count == ($0.wantsUpdates ? 1 : 0) && $0.endings.count == 1 })
    #expect(users.map(\.decodes).reduce(0, +) == 1 && loader.starts == 2)
  }

  @Test func `each representation that asks is decoded, and one that fails harms nobody`() async throws {
    let manager = try await staleManager()
    let text = RecordingUser.text(wantsUpdates: true)
    let picky = RecordingUser<Int>(variant: "picky", wantsUpdates: true) { loaded in
      guard try loaded.data() == Data("old".utf8) else { throw ObjectError(.undecodable, "not old") }
      return 1
    }
    manager.manage(text, for: request)
    manager.manage(picky, for: request)
    _ = try await (text.ending(), picky.ending())
    try await answerRefresh()
    #expect(try await text.update().object == "new")
    try await until("the refresh") { manager.liveHandlers.isEmpty }
    #expect(picky.updates.isEmpty && picky.endings.count == 1)
  }

  @Test func `the same body again, by 304 or not at all, is no news`() async throws {
    for (status, isFailing) in [(304, false), (503, false), (0, true)] {
      let test = UpdateTests()
      let manager = try await test.staleManager()
      let user = RecordingUser.text(wantsUpdates: true)
      manager.manage(user, for: test.request)
      _ = try await user.ending()
      try await test.loader.waitForStarts(2)
      if isFailing { test.loader.fail(1) } else { try await test.answerRefresh(status: status) }
      try await until("the end of the refresh") { manager.liveHandlers.isEmpty || test.time.scheduledCount > 1 }
      manager.shutdown()
      #expect(user.updates.isEmpty && user.endings.count == 1)
    }
  }

  // MARK: Who is told no more

  @Test func `who leaves, or asks for something else, hears no more of it`() async throws {
    let manager = try await staleManager()
    let (leaver, changer, patient) = (
      RecordingUser.text(wantsUpdates: true), RecordingUser.text(wantsUpdates: true),
      RecordingUser.text(wantsUpdates: true)
    )
    for user in [leaver, changer, patient] { manager.manage(user, for: request) }
    for user in [leaver, changer, patient] { _ = try await user.ending() }
    try await loader.waitForStarts(2)
    #expect(!manager.leave(leaver), "its request has ended")
    manager.manage(changer, for: ObjectRequest("mem:b"))
    try await answerRefresh()
    #expect(try await patient.update().object == "new")
    try await loader.waitForStarts(3)
    loader.answer("mem:b", "b")
    #expect(try await changer.ending(1).object == "b")
    #expect(leaver.updates.isEmpty && changer.updates.isEmpty && leaver.endings.count == 1)
  }

  @Test func `an update that is on its way is dropped by leave, and by a new request`() async throws {
    let jobs = Collector<@Sendable () -> Void>()
    let manager = try await staleManager()
    let users = (0..<2).map { _ in RecordingUser.text(delivery: .custom { jobs.append($0) }, wantsUpdates: true) }
    for user in users { manager.manage(user, for: request) }
    for job in try await jobs.wait(2) { job() }
    try await answerRefresh()
    _ = try await jobs.wait(4)
    manager.leave(users[0])
    manager.manage(users[1], for: request)
    for job in jobs.elements { job() }
    #expect(users.allSatisfy { $0.updates.isEmpty })
    #expect(users.map { $0.endings.map(\.object) } == [["old"], ["old", "new"]])
  }

  @Test func `a user that dies meanwhile holds nothing up`() async throws {
    let manager = try await staleManager()
    var user: RecordingUser<String>? = RecordingUser.text(wantsUpdates: true)
    weak let trace = user
    if let user { manager.manage(user, for: request) }
    _ = try await user?.ending()
    user = nil
    try await until("the user is gone") { trace == nil }
    try await answerRefresh()
    try await until("the refresh") { manager.liveHandlers.isEmpty }
    #expect(try await object(manager) == "new" && loader.starts == 2)
  }

  // MARK: The refresh

  @Test func `the refresh is not bumped, and ends with the manager`() async throws {
    var policy = Policy()
    policy.limitLiveHandlers = 1
    let manager = try await staleManager(policy)
    let user = RecordingUser.text(wantsUpdates: true)
    manager.manage(user, for: request)
    _ = try await user.ending()
    try await loader.waitForStarts(2)
    let other = RecordingUser.text()
    manager.manage(other, for: ObjectRequest("mem:b"))
    manager.leave(user)
    #expect(loader.starts == 2 && loader.stops == 0 && other.endings.isEmpty)
    manager.shutdown()
    try await loader.waitForStops(1)
    #expect(try await other.ending().reason == .closed)
    #expect(user.updates.isEmpty)
  }

  @Test func `who settles the manager waits for the refresh, and no longer than it said`() async throws {
    let manager = try await staleManager()
    #expect(try await object(manager) == "old")
    try await loader.waitForStarts(2)
    async let patient: Void = manager.settle(atMost: .seconds(9))
    async let hasty: Void = manager.settle(atMost: .seconds(1))
    try await time.waitForScheduled(3)
    time.advance(by: .seconds(2))
    await hasty
    #expect(manager.liveHandlers.count == 1)
    loader.answer(1, "new", Self.fields)
    await patient
    #expect(manager.liveHandlers.isEmpty)
  }

  @Test func `without files a user that would decode nothing new has the server asked first`() async throws {
    let manager = try await staleManager(files: false)
    let user = RecordingUser.text()
    manager.manage(user, for: request)
    try await answerRefresh()
    #expect(try await user.ending().object == "new")
  }

  @Test func `without files an async call leaves the new object in memory for the next`() async throws {
    let manager = ObjectManager(loaders: [loader], time: time)
    async let first = object(manager)
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "old", Self.fields)
    _ = try await first
    time.advance(by: .seconds(20))
    #expect(try await object(manager) == "old")
    try await answerRefresh()
    try await until("the refresh") { manager.liveHandlers.isEmpty }
    #expect(manager.peek(request, decodedBy: .text) == "new" && loader.starts == 2)
  }

  @Test func `an error that the server says is good for a time stands before what is stale`() async throws {
    let manager = try await staleManager()
    #expect(try await object(manager) == "old")
    try await loader.waitForStarts(2)
    loader.answer(1, head: LoadHead(status: 404, fields: ["Cache-Control": "max-age=5"]))
    try await until("the refresh") { manager.liveHandlers.isEmpty }
    await manager.settle()
    #expect(await failure { try await object(manager) }?.head?.status == 404)
    #expect(loader.starts == 2)
  }

  // MARK: Kinds of users

  @Test func `a user of the base class has its newer object before it is told`() async throws {
    let manager = try await staleManager()
    let page = Page(url: "mem:a")
    manager.manage(page)
    #expect(try await page.log.wait(1) == ["ready old"])
    try await answerRefresh()
    #expect(try await page.log.wait(2)[1] == "updated new, object new")
  }

  @Test func `an actor and a user of the main actor are told where they are`() async throws {
    let manager = try await staleManager()
    let (board, sign) = (Board(), Sign())
    manager.manage(board, for: request)
    manager.manage(sign, for: request)
    _ = try await (board.log.wait(1), sign.log.wait(1))
    try await answerRefresh()
    #expect(try await board.log.wait(2) == ["old", "update new"])
    #expect(try await sign.log.wait(2) == ["old", "update new"])
  }

  @Test func `a slot shows the newer object where it was made to`() async throws {
    let manager = try await staleManager()
    let (shown, still) = (Collector<String?>(), Collector<String?>())
    let slot = Slot(manager, decodedBy: .text, showsUpdates: true) { shown.append($0.object) }
    let plain = Slot(manager, decodedBy: .text) { still.append($0.object) }
    slot.load(request)
    plain.load(request)
    _ = try await (shown.wait(1), still.wait(1))
    try await answerRefresh()
    #expect(try await shown.wait(2) == ["old", "new"])
    #expect(still.elements == ["old"])
  }
}

private final class Page: ManagedUserBase<String>, @unchecked Sendable {
  let log = Collector<String>()
  override var wantsUpdates: Bool { true }
  override func readyFromLoaded(_ loaded: Loaded) throws -> String {
    String(decoding: try loaded.data(), as: UTF8.self)
  }
  override func ready(_ text: String) { log.append("ready \(text)") }
  override func updated(_ text: String) { log.append("updated \(text), object \(object ?? "none")") }
}

private actor Board: ActorUser {
  nonisolated let log = Collector<String>()
  nonisolated var wantsUpdates: Bool { true }
  nonisolated func readyFromLoaded(_ loaded: Loaded) throws -> String {
    String(decoding: try loaded.data(), as: UTF8.self)
  }
  func received(_ ending: Ending<String>) { log.append(ending.object ?? "none") }
  func received(_ update: ObjectUpdate<String>) { log.append("update \(update.object)") }
}

@MainActor private final class Sign: MainActorUser {
  nonisolated let log = Collector<String>()
  nonisolated init() {}
  nonisolated var wantsUpdates: Bool { true }
  nonisolated func readyFromLoaded(_ loaded: Loaded) throws -> String {
    String(decoding: try loaded.data(), as: UTF8.self)
  }
  func received(_ ending: Ending<String>) { log.append(ending.object ?? "none") }
  func received(_ update: ObjectUpdate<String>) { log.append("update \(update.object)") }
}
