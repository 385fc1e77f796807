import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What is tried again, when, and where: against a server on loopback.
struct RetryStoryTests {
  private let room: StoryRoom

  init() throws { room = try StoryRoom() }

  @Test(arguments: [408, 429, 502, 503, 504]) func `a passing failure is tried again`(status: Int) async throws {
    room.server.on("/once", Reply(status), Reply("then", hour))
    let manager = try room.manager()
    #expect(try await manager.object(for: room.request("/once"), decodedBy: .text) == "then")
    #expect(room.server.hits("/once") == 2 && manager.statistics.retries == 1)
  }

  @Test(arguments: [400, 403, 404, 500, 501]) func `a lasting failure is not`(status: Int) async throws {
    room.server.on("/x", Reply(status))
    #expect(await failure { try await room.manager().data(for: room.request("/x")) }?.head?.status == status)
    #expect(room.server.hits("/x") == 1)
  }

  @Test func `a cut connection is tried again, up to the limit of tries`() async throws {
    room.server.on("/cut", Reply(Array(repeating: 1, count: 1000)).cut(after: 0), Reply("whole", hour))
    #expect(try await room.manager().object(for: room.request("/cut"), decodedBy: .text) == "whole")
    room.server.on("/never", Reply(Array(repeating: 1, count: 1000)).cut(after: 0))
    #expect(await failure { try await room.manager().data(for: room.request("/never")) } != nil)
    #expect(room.server.hits("/never") == 3)
  }

  @Test func `the whole host waits as long as it asked, and a longer wait than allowed fails at once`() async throws {
    let time = ManualClock()
    room.server.on("/a", Reply(429, ["Retry-After": "2"]), Reply("a", hour))
    room.server.on("/b", Reply("b", hour))
    room.server.on("/long", Reply(503, ["Retry-After": "86400"]))
    let manager = ObjectManager(time: time)
    async let a = manager.object(for: room.request("/a"), decodedBy: .text)
    // The sweep, and the wait.
    try await time.waitForScheduled(2)
    #expect(manager.statistics.retries == 1)
    async let b = manager.object(for: room.request("/b"), decodedBy: .text)
    // The end of the host's wait.
    try await time.waitForScheduled(3)
    #expect(manager.liveHandlers.count == 2)
    time.advance(by: .milliseconds(1900))
    #expect(room.server.allHits == 1)
    time.advance(by: .milliseconds(200))
    #expect(try await (a, b) == ("a", "b"))
    let error = await failure { try await manager.data(for: room.request("/long")) }
    #expect(error?.code == .retryLater && error?.message.contains("86400") == true)
  }

  @Test func `a host that redirects to one that asks for patience is asked on, and that one is left alone`()
    async throws
  {
    let (time, mirror) = (ManualClock(), try LoopbackServer(address: "127.0.0.2"))
    room.server.redirect("/a", to: mirror.url("/a"))
    room.server.on("/b", Reply("b", hour))
    mirror.on("/a", Reply(503, ["Retry-After": "2"]), Reply("a", hour))
    mirror.on("/c", Reply("c", hour))
    let manager = ObjectManager(time: time)
    async let a = manager.object(for: room.request("/a"), decodedBy: .text)
    // The sweep, and the wait.
    try await time.waitForScheduled(2)
    async let b = manager.object(for: room.request("/b"), decodedBy: .text)
    try await room.server.waitForHits("/b", 1)
    #expect(try await b == "b")
    async let c = manager.object(for: ObjectRequest(mirror.url("/c")), decodedBy: .text)
    try await until("the last waits for its server") { manager.liveHandlers.count == 2 }
    time.advance(by: .milliseconds(1900))
    #expect(mirror.allHits == 1)
    time.advance(by: .milliseconds(200))
    #expect(try await (a, c) == ("a", "c"))
  }

  @Test(arguments: ["-5", "abc", "99999999999999999999"]) func `a wait that cannot be read is the ordinary one`(
    value: String
  ) async throws {
    room.server.on("/x", Reply(503, ["Retry-After": value]), Reply("x", hour))
    #expect(try await room.manager().object(for: room.request("/x"), decodedBy: .text) == "x")
  }

  // MARK: Failures remembered

  @Test func `a missing object is not asked for again for a minute, and says so`() async throws {
    let time = ManualClock()
    room.server.on("/late", Reply(404), Reply("here", hour))
    let manager = ObjectManager(time: time)
    #expect(await failure { try await manager.data(for: room.request("/late")) }?.head?.status == 404)
    let remembered = await failure { try await manager.data(for: room.request("/late")) }
    #expect(remembered?.head?.status == 404 && remembered?.message.contains("reload") == true)
    #expect(room.server.hits("/late") == 1)
    time.advance(by: .seconds(61))
    #expect(try await manager.object(for: room.request("/late"), decodedBy: .text) == "here")
  }

  @Test func `reload asks in spite of a remembered failure`() async throws {
    room.server.on("/late", Reply(404), Reply("here", hour))
    let manager = try room.manager()
    var request = room.request("/late")
    _ = await failure { try await manager.data(for: request) }
    request.mode = .reload
    #expect(try await manager.object(for: request, decodedBy: .text) == "here")
  }

  @Test func `a url that failed can be asked again, and every request has one ending`() async throws {
    let time = ManualClock()
    let gates = (0..<5).map { _ in Gate() }
    let replies = [Reply(404), Reply(404), Reply(500), Reply("{", hour), Reply("[1]", hour)]
    room.server.on("/late", sequence: zip(replies, gates).map { $0.held(until: $1) })
    let manager = ObjectManager(time: time)
    var outcomes: [String] = []
    for round in 0..<5 {
      let users = (0..<2).map { _ in
        RecordingUser<[Int]>(variant: "json") { try JSONDecoder().decode([Int].self, from: $0.data()) }
      }
      for user in users { manager.manage(user, for: room.request("/late")) }
      gates[round].open()
      for user in users {
        let ending = try await user.ending()
        outcomes.append(ending.object.map { "\($0)" } ?? ending.error?.code.rawValue ?? "?")
        #expect(user.endings.count == 1)
      }
      time.advance(by: .seconds(120))
    }
    let expected = ["httpStatus", "httpStatus", "httpStatus", "httpStatus", "httpStatus", "httpStatus"]
    #expect(outcomes == expected + ["undecodable", "undecodable", "[1]", "[1]"])
  }

  // MARK: Mirrors

  @Test func `mirrors are asked in order until one has it`() async throws {
    let dead = try LoopbackServer()
    let deadURL = dead.url("/x")
    dead.stop()
    room.server.on("/gone", Reply(404))
    room.server.on("/broken", Reply(500))
    room.server.on("/good", Reply("good", hour))
    let mirrors = [deadURL, room.server.url("/gone"), room.server.url("/broken"), room.server.url("/good")]
    let manager = try room.manager()
    let request = ObjectRequest(oid: "mirrored", mirrors: mirrors.compactMap { URL(string: $0) })
    #expect(try await manager.object(for: request, decodedBy: .text) == "good")
    #expect(room.server.requests.map(\.path) == ["/gone", "/broken", "/good"])
    var again = ObjectRequest(oid: "mirrored", mirrors: [])
    again.mode = .onlyIfCached
    #expect(try await manager.object(for: again, decodedBy: .text) == "good")
  }

  @Test func `a cancelled request does not go on to the next mirror`() async throws {
    room.server.on("/first", Reply("x").held(until: Gate()))
    room.server.on("/second", Reply("y"))
    let manager = try room.manager()
    let user = RecordingUser.text()
    let urls = ["/first", "/second"].compactMap { URL(string: room.server.url($0)) }
    manager.manage(user, for: ObjectRequest(oid: "m", mirrors: urls))
    try await room.server.waitForHits("/first", 1)
    manager.leave(user)
    try await room.server.waitForAborted(1)
    #expect(room.server.hits("/second") == 0)
  }

  // MARK: Interceptors

  @Test func `an interceptor signs, answers, refuses, and asks again with a better credential`() async throws {
    room.server.on("/signed") { $0["Authorization"] == "Bearer good" ? Reply("secret", hour) : Reply(401) }
    let signer = Signer()
    let manager = ObjectManager(interceptors: [signer])
    #expect(try await manager.object(for: room.request("/signed"), decodedBy: .text) == "secret")
    #expect(room.server.requests("/signed").map { $0["Authorization"] } == ["Bearer old", "Bearer good"])
    #expect(try await manager.object(for: room.request("/answered"), decodedBy: .text) == "from the interceptor")
    #expect(room.server.hits("/answered") == 0)
    let error = await failure { try await manager.data(for: room.request("/refused")) }
    #expect(error?.code == .refusedByPolicy && error?.message.contains("not this one") == true)
  }

  // MARK: Priorities and prefetch

  @Test func `what is wanted now goes before what was wanted earlier at low priority`() async throws {
    let gate = Gate()
    room.server.otherwise { request in request.path == "/0" ? Reply("x", hour).held(until: gate) : Reply("x", hour) }
    let manager = ObjectManager(policy: onlyOneTransfer)
    let users = (0..<20).map { _ in RecordingUser.text() }
    for (index, user) in users.enumerated() {
      var request = room.request("/\(index)")
      request.priority = .low
      manager.manage(user, for: request)
    }
    try await room.server.waitForHits("/0", 1)
    let wanting = RecordingUser.text()
    manager.manage(wanting, for: room.request("/15"))
    gate.open()
    _ = try await wanting.object()
    for user in users { _ = try await user.object() }
    #expect(room.server.requests.map(\.path).prefix(3) == ["/0", "/15", "/1"])
  }

  private var onlyOneTransfer: Policy {
    var policy = Policy()
    policy.limitTransfers = 1
    return policy
  }

  @Test func `a prefetch fills the caches without decoding, and its cancel stops only what nobody else wants`()
    async throws
  {
    let gate = Gate()
    room.server.otherwise { Reply($0.path, hour).held(until: gate) }
    let manager = try room.manager { $0.limitTransfers = 2 }
    let wanted = RecordingUser.text()
    manager.manage(wanted, for: room.request("/3"))
    let prefetch = Task { await manager.prefetch((0..<30).map { room.request("/\($0)") }) }
    try await until("they are known") { manager.statistics.joins == 1 }
    prefetch.cancel()
    let errors = await prefetch.value
    #expect(errors.values.allSatisfy { $0.reason == .left })
    gate.open()
    #expect(try await wanted.object() == "/3")
    let rest = await manager.prefetch((40..<50).map { room.request("/\($0)") })
    #expect(rest.isEmpty)
    #expect(manager.statistics.decodes == 1)
    for number in 40..<50 { #expect(try await manager.contains(room.request("/\(number)"))) }
  }

  // MARK: Watching

  @Test func `events tell the story of a load in order`() async throws {
    room.server.on("/once", Reply(503), Reply("then", hour))
    let manager = try room.manager()
    let events = manager.events()
    _ = try await manager.object(for: room.request("/once"), decodedBy: .text)
    manager.shutdown()
    var story: [String] = []
    for await event in events {
      switch event {
      case .loadStarted(_, _, let attempt): story.append("started \(attempt)")
      case .loadRetried(_, let error, _): story.append("retried \(error.code)")
      case .loadFinished(_, let source, let bytes, let timings):
        story.append("finished \(source) \(bytes)\(timings == nil ? "" : " measured")")
      case .decoded: story.append("decoded")
      default: story.append("other")
      }
    }
    #expect(story == ["started 1", "retried httpStatus", "started 2", "finished network 4 measured", "decoded"])
  }
}

private struct Signer: Interceptor {
  func willLoad(_ request: LoadRequest) async throws -> LoadVerdict {
    if request.location.hasSuffix("/answered") { return .answer(LoadHead(), Data("from the interceptor".utf8)) }
    if request.location.hasSuffix("/refused") { return .refuse("not this one") }
    var signed = request
    signed.fields["Authorization"] = "Bearer old"
    return .load(signed)
  }

  func didReceive(_ head: LoadHead, for request: LoadRequest, attempt: Int) async throws -> HeadVerdict {
    guard head.status == 401 else { return .accept }
    var better = request
    better.fields["Authorization"] = "Bearer good"
    return .retry(better)
  }
}
