import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Every request ends exactly once, whatever becomes of user, manager and load.
struct EndingTests {
  private let loader = HeldLoader()
  private let time = ManualClock()

  private func manager(_ policy: Policy = Policy(), cache: (any CacheBackend)? = nil) -> ObjectManager {
    ObjectManager(loaders: [loader], cache: cache, policy: policy, time: time)
  }

  private func fails(_ request: ObjectRequest) async throws -> ObjectError? {
    let user = RecordingUser.text()
    manager().manage(user, for: request)
    return try await user.ending().error
  }

  @Test func `a text that is no url ends as invalid, and says so`() async throws {
    for text in [
      "", "not a url at all", "http://", "http:///x", "http://a b/", "http://ex.com\\@evil/", "http://h:99999/",
    ] {
      let error = try await fails(ObjectRequest(text))
      #expect(error?.code == .invalidURL, "\(text)")
      #expect(error?.message.isEmpty == false)
    }
  }

  @Test func `a scheme that no loader takes ends as unsupported`() async throws {
    #expect(try await fails(ObjectRequest("gopher://host/x"))?.code == .unsupportedScheme)
  }

  @Test func `an empty oid is refused, any other text is a name`() async throws {
    #expect(try await fails(ObjectRequest("mem:a", oid: ""))?.code == .invalidRequest)
    let cache = MemoryBackend()
    let manager = manager(cache: cache)
    let oids = ["..", ".", "/", "a/b", "a_b", String(repeating: "x", count: 10_000), "💡\u{0}\n", " "]
    for (number, oid) in oids.enumerated() {
      let user = RecordingUser.text()
      manager.manage(user, for: ObjectRequest("mem:\(number)", oid: oid))
      try await loader.waitForStarts(number + 1)
      loader.answer(.number(number), oid)
      #expect(try await user.object() == oid)
    }
  }

  @Test func `a header field with a line break is refused before anything is sent`() async throws {
    var request = ObjectRequest("mem:a")
    request.fields["X"] = "a\r\nEvil: yes"
    #expect(try await fails(request)?.code == .invalidRequest)
    #expect(loader.starts == 0)
  }

  @Test func `a status that is no success is an error with head and body start, and decodes nothing`() async throws {
    let user = RecordingUser.text()
    let manager = manager()
    manager.manage(user, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer("mem:a", head: LoadHead(status: 404, reason: "Not Found"), bytes: Array("nothing here".utf8))
    let error = try await user.ending().error
    #expect(error?.code == .httpStatus && error?.head?.status == 404)
    #expect(error?.bodyStart == Data("nothing here".utf8))
    #expect(user.decodes == 0)
  }

  @Test func `a partial answer to a whole question is no success`() async throws {
    let user = RecordingUser.text()
    let manager = manager()
    manager.manage(user, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer("mem:a", head: LoadHead(status: 206), bytes: [1, 2])
    #expect(try await user.ending().error?.head?.status == 206)
  }

  @Test func `a bumped user is told`() async throws {
    var policy = Policy()
    policy.limitLiveHandlers = 2
    let manager = manager(policy)
    let users = (0..<3).map { _ in RecordingUser.text() }
    for (index, user) in users.enumerated() { manager.manage(user, for: ObjectRequest("mem:\(index)")) }
    #expect(try await users[0].ending().reason == .bumped)
    try await loader.waitForStops(1)
    #expect(manager.statistics.bumps == 1 && manager.liveHandlers.count == 2)
  }

  @Test func `an awaited object is never bumped: newcomers wait or bump others`() async throws {
    var policy = Policy()
    policy.limitLiveHandlers = 1
    let manager = manager(policy)
    async let awaited = manager.object(for: ObjectRequest("mem:a"), decodedBy: .text)
    try await loader.waitForStarts(1)
    let user = RecordingUser.text()
    manager.manage(user, for: ObjectRequest("mem:b"))
    #expect(manager.statistics.waitingHandlers == 1)
    loader.answer("mem:a", "A")
    #expect(try await awaited == "A")
    try await loader.waitForStarts(2)
    loader.answer("mem:b", "B")
    #expect(try await user.object() == "B")
  }

  @Test func `the manager is let go in the middle, and every user is told once`() async throws {
    let users = (0..<10).map { _ in RecordingUser.text() }
    do {
      let manager = manager()
      for (index, user) in users.enumerated() { manager.manage(user, for: ObjectRequest("mem:\(index % 3)")) }
      try await loader.waitForStarts(3)
    }
    for user in users { #expect(try await user.ending().reason == .closed) }
    loader.answer(0, "too late")
    #expect(users.allSatisfy { $0.endings.count == 1 })
    try await loader.waitForStops(3)
  }

  @Test func `after shutdown a request is refused as closed`() async throws {
    let manager = manager()
    manager.shutdown()
    let user = RecordingUser.text()
    #expect(manager.manage(user, for: ObjectRequest("mem:a")) == nil)
    #expect(try await user.ending().reason == .closed)
    await #expect(throws: ObjectError.self) { try await manager.data(for: ObjectRequest("mem:a")) }
  }

  @Test func `a reused user never gets the object of its former request`() async throws {
    let manager = manager()
    let user = RecordingUser.text()
    manager.manage(user, for: ObjectRequest("mem:old"))
    try await loader.waitForStarts(1)
    manager.manage(user, for: ObjectRequest("mem:new"))
    try await loader.waitForStarts(2)
    loader.answer("mem:old", "old")
    loader.answer("mem:new", "new")
    let endings = [try await user.ending(0), try await user.ending(1)]
    #expect(endings.map(\.reason) == [.superseded, nil])
    #expect(endings[1].object == "new")
    #expect(endings[1].request.locations == ["mem:new"])
    #expect(user.endings.count == 2)
  }

  @Test func `a superseded object that is already on its way is not delivered`() async throws {
    let jobs = Collector<@Sendable () -> Void>()
    let user = RecordingUser.text(delivery: .custom { jobs.append($0) })
    let manager = manager()
    manager.manage(user, for: ObjectRequest("mem:old"))
    try await loader.waitForStarts(1)
    loader.answer("mem:old", "old")
    try await jobs.wait(1)
    manager.manage(user, for: ObjectRequest("mem:new"))
    try await loader.waitForStarts(2)
    loader.answer("mem:new", "new")
    try await until("the new object is decoded") { manager.liveHandlers.isEmpty }
    for job in jobs.elements { job() }
    #expect(user.endings.map(\.reason) == [.superseded, nil])
    #expect(user.endings.last?.object == "new")
  }

  @Test func `leave and an object that come at the same time make one ending, the one that leave tells`() async throws {
    let manager = manager()
    for _ in 0..<200 {
      let user = RecordingUser.text(delivery: .direct)
      manager.manage(user, for: ObjectRequest("mem:a"))
      try await loader.waitForStarts(1)
      async let answering: Void = { [loader] in loader.answer("mem:a", "x") }()
      let hasLeft = manager.leave(user)
      await answering
      let expected: [CancelReason?] = hasLeft ? [.left] : [nil]
      try await until("the ending") { user.endings.count == 1 }
      #expect(user.endings.map(\.reason) == expected)
      manager.removeAllFromMemory()
    }
  }

  @Test func `a request's own time ends only it`() async throws {
    let manager = manager()
    let (hasty, patient) = (RecordingUser.text(), RecordingUser.text())
    var request = ObjectRequest("mem:slow")
    manager.manage(patient, for: request)
    request.timeout = .seconds(2)
    manager.manage(hasty, for: request)
    try await loader.waitForStarts(1)
    time.advance(by: .seconds(3))
    #expect(try await hasty.ending().error?.code == .timedOut)
    loader.answer("mem:slow", "here")
    #expect(try await patient.object() == "here")
  }

  @Test func `cancelling the task is leaving`() async throws {
    let manager = manager()
    let task = Task { () -> ObjectError? in
      do throws(ObjectError) {
        _ = try await manager.data(for: ObjectRequest("mem:a"))
        return nil
      } catch { return error }
    }
    try await loader.waitForStarts(1)
    task.cancel()
    let error = await task.value
    #expect(error?.code == .cancelled && error?.reason == .left)
    try await loader.waitForStops(1)
    #expect(manager.liveHandlers.isEmpty)
  }

  @Test func `a dead user counts as having left at the next sweep, and the load stops`() async throws {
    let manager = manager()
    var user: RecordingUser<String>? = .text()
    if let user { manager.manage(user, for: ObjectRequest("mem:a")) }
    try await loader.waitForStarts(1)
    user = nil
    time.advance(by: .milliseconds(250))
    try await loader.waitForStops(1)
    #expect(manager.liveHandlers.isEmpty)
  }

  @Test func `a dead user of the base class counts as having left at once`() async throws {
    let manager = manager()
    var user: Plain? = Plain(url: "mem:a")
    if let user { manager.manage(user) }
    try await loader.waitForStarts(1)
    user = nil
    try await loader.waitForStops(1)
    #expect(manager.liveHandlers.isEmpty)
  }

  @Test func `a weakly held user that nobody keeps gets nothing, and harms nobody who asks for the same`() async throws
  {
    let manager = manager()
    for round in 0..<100 {
      let location = "mem:\(round)"
      var dropped: RecordingUser<String>? = .text()
      if let dropped { manager.manage(dropped, for: ObjectRequest(location)) }
      dropped = nil
      if round % 2 == 0 { time.advance(by: .milliseconds(250)) }
      let kept = RecordingUser.text()
      manager.manage(kept, for: ObjectRequest(location))
      try await until("a load for \(location)") { [loader] in loader.sink(.location(location))?.isWanted == true }
      loader.answer(.location(location), "served")
      #expect(try await kept.object() == "served")
      #expect(kept.endings.count == 1)
    }
  }

  @Test func `progress never falls and reaches the end before the object`() async throws {
    let manager = manager()
    let user = RecordingUser.text(delivery: .direct)
    manager.manage(user, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.head("mem:a", LoadHead(fields: ["Content-Length": "6"]))
    for byte in Array("abcdef".utf8) { loader.append("mem:a", [byte]) }
    loader.finish("mem:a")
    #expect(try await user.object() == "abcdef")
    let fractions = user.progress.compactMap(\.fraction)
    #expect(fractions == fractions.sorted() && fractions.last == 1)
  }
}

private final class Plain: ManagedUserBase<Int>, @unchecked Sendable {
  override func readyFromLoaded(_ loaded: Loaded) throws -> Int { loaded.count }
}
