import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Several users of one id: what they share, and what none of them can do to another.
struct SharingTests {
  private let loader = HeldLoader()
  private let time = ManualClock()

  private func manager(_ policy: Policy = Policy()) -> ObjectManager {
    ObjectManager(loaders: [loader], policy: policy, time: time)
  }

  @Test func `five users of one url cause one load and get the same object`() async throws {
    let manager = manager()
    let users = (0..<5).map { _ in
      RecordingUser<Box> { Box(String(decoding: try $0.data(), as: UTF8.self)) }
    }
    for user in users { manager.manage(user, for: ObjectRequest("mem:a")) }
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "hello")
    var objects: [Box] = []
    for user in users { objects.append(try await user.object()) }
    #expect(objects.allSatisfy { $0 === objects[0] } && objects[0].text == "hello")
    #expect(loader.starts == 1)
    #expect(users.map(\.decodes).reduce(0, +) == 1)
  }

  @Test func `two urls of one oid are one object and one load`() async throws {
    let manager = manager()
    let (one, two) = (RecordingUser.text(), RecordingUser.text())
    manager.manage(one, for: ObjectRequest("mem:a", oid: "x"))
    manager.manage(two, for: ObjectRequest("mem:b", oid: "x"))
    try await loader.waitForStarts(1)
    loader.answer(0, "hello")
    #expect(try await one.object() == "hello")
    #expect(try await two.object() == "hello")
    #expect(loader.starts == 1)
  }

  @Test(arguments: ["by scheme", "by oid", "by mirror"])
  func `who is named in a URL gets answers of their own`(how: String) async throws {
    func request(_ user: String) -> ObjectRequest {
      var request = ObjectRequest("mem://\(user)h/a", oid: how == "by oid" ? "a" : nil)
      if how == "by mirror" { request = ObjectRequest("mem://h/a") }
      if how == "by mirror" { request.locations.append("mem://\(user)mirror/a") }
      return request
    }
    let manager = manager()
    let names = ["", "joe:pw@", "ann:pw@", "joe:other@"]
    let users = names.map { _ in RecordingUser.text() }
    for (name, user) in zip(names, users) { manager.manage(user, for: request(name)) }
    try await loader.waitForStarts(4)
    for place in names.indices { loader.answer(.number(place), names[place], ["Cache-Control": "max-age=60"]) }
    for (name, user) in zip(names, users) { #expect(try await user.object() == name) }
    // Each finds their own again, in memory.
    for name in names {
      let again = RecordingUser.text()
      manager.manage(again, for: request(name))
      #expect(again.endings.map(\.object) == [name])
    }
    #expect(loader.starts == 4)
  }

  @Test func `an oid and a url of equal text are two objects`() async throws {
    let manager = manager()
    let (byOID, byURL) = (RecordingUser.text(), RecordingUser.text())
    manager.manage(byOID, for: ObjectRequest("mem:b", oid: "mem:a"))
    manager.manage(byURL, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(2)
    loader.answer("mem:a", "by url")
    loader.answer("mem:b", "by oid")
    #expect(try await byOID.object() == "by oid")
    #expect(try await byURL.object() == "by url")
  }

  @Test func `different decoders on one url share the load, and one that throws harms nobody`() async throws {
    let manager = manager()
    let upper = RecordingUser<String>(variant: "upper") { String(decoding: try $0.data(), as: UTF8.self).uppercased() }
    let count = RecordingUser<Int>(variant: "count") { $0.count }
    let raw = RecordingUser.data()
    let broken = RecordingUser<String>(variant: "broken") { _ in throw Broken() }
    manager.manage(upper, for: ObjectRequest("mem:data"))
    manager.manage(count, for: ObjectRequest("mem:data"))
    manager.manage(raw, for: ObjectRequest("mem:data"))
    manager.manage(broken, for: ObjectRequest("mem:data"))
    try await loader.waitForStarts(1)
    loader.answer("mem:data", "abc", ["Cache-Control": "max-age=60"])
    #expect(try await upper.object() == "ABC")
    #expect(try await count.object() == 3)
    #expect(try await raw.object() == Data("abc".utf8))
    let ending = try await broken.ending()
    guard case .failed(let error) = ending.outcome else { return #expect(Bool(false), "it was to fail") }
    #expect(error.code == .undecodable && error.underlying is Broken)
    #expect(loader.starts == 1)
  }

  @Test func `users with different header fields never share a load`() async throws {
    let manager = manager()
    let (english, german) = (RecordingUser.text(), RecordingUser.text())
    var request = ObjectRequest("mem:a")
    request.fields["Accept-Language"] = "en"
    manager.manage(english, for: request)
    request.fields["Accept-Language"] = "de"
    manager.manage(german, for: request)
    try await loader.waitForStarts(2)
    #expect(loader.starts == 2)
  }

  @Test func `two users with different credentials never share a load or an object`() async throws {
    let manager = manager()
    var users: [RecordingUser<String>] = []
    for token in ["one", "two"] {
      let user = RecordingUser.text()
      var request = ObjectRequest("mem:me")
      request.fields["Authorization"] = "Bearer \(token)"
      request.freshness = .immutable
      manager.manage(user, for: request)
      users.append(user)
    }
    try await loader.waitForStarts(2)
    loader.answer(0, "first")
    loader.answer(1, "second")
    let owners = loader.requests.map { $0.fields["Authorization"] }
    let texts = [try await users[0].object(), try await users[1].object()]
    #expect(texts == (owners[0] == "Bearer one" ? ["first", "second"] : ["second", "first"]))
    var request = ObjectRequest("mem:me")
    request.freshness = .immutable
    let stranger = RecordingUser.text()
    manager.manage(stranger, for: request)
    try await loader.waitForStarts(3)
    #expect(stranger.endings.isEmpty)
  }

  @Test func `one of three leaves and the others are served, the load goes on`() async throws {
    let manager = manager()
    let users = (0..<3).map { _ in RecordingUser.text() }
    for user in users { manager.manage(user, for: ObjectRequest("mem:slow")) }
    try await loader.waitForStarts(1)
    #expect(manager.leave(users[0]))
    #expect(users[0].endings.map(\.reason) == [.left])
    loader.answer("mem:slow", "late")
    #expect(try await users[1].object() == "late")
    #expect(try await users[2].object() == "late")
    #expect(users[0].endings.count == 1 && loader.stops == 0)
  }

  @Test func `when all have left the load is stopped and the next request starts anew`() async throws {
    let manager = manager()
    let users = (0..<3).map { _ in RecordingUser.text() }
    for user in users { manager.manage(user, for: ObjectRequest("mem:slow")) }
    try await loader.waitForStarts(1)
    for user in users { #expect(manager.leave(user)) }
    try await loader.waitForStops(1)
    #expect(manager.liveHandlers.isEmpty)
    let next = RecordingUser.text()
    manager.manage(next, for: ObjectRequest("mem:slow"))
    try await loader.waitForStarts(2)
    loader.answer(0, "of the dead load")
    loader.answer(1, "of the new load")
    #expect(try await next.object() == "of the new load")
    #expect(users.allSatisfy { $0.endings.count == 1 })
  }

  @Test func `under finish the load of those who left is completed and kept for the next`() async throws {
    var policy = Policy()
    policy.whenLastLeaves = .finish
    let cache = MemoryBackend()
    let manager = ObjectManager(loaders: [loader], cache: cache, policy: policy, time: time)
    let user = RecordingUser.text()
    var request = ObjectRequest("mem:slow")
    request.freshness = .immutable
    manager.manage(user, for: request)
    try await loader.waitForStarts(1)
    manager.leave(user)
    loader.answer("mem:slow", "kept")
    await manager.settle()
    let next = RecordingUser.text()
    manager.manage(next, for: request)
    #expect(try await next.object() == "kept")
    #expect(loader.starts == 1)
  }

  @Test func `a user that cannot be told apart by value is still a user of its own`() async throws {
    let manager = manager()
    let (one, two) = (EqualUser(), EqualUser())
    manager.manage(one, for: ObjectRequest("mem:a"))
    manager.manage(two, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    manager.leave(one)
    loader.answer("mem:a", "x")
    try await two.ended.wait()
    #expect(one.ended.elements == ["cancelled"] && two.ended.elements == ["ready"])
  }
}

struct Broken: Error {}

final class Box: Sendable {
  let text: String
  init(_ text: String) { self.text = text }
}

extension Ending {
  var reason: CancelReason? { if case .cancelled(let reason) = outcome { reason } else { nil } }
  var error: ObjectError? { if case .failed(let error) = outcome { error } else { nil } }
  var source: ObjectSource? { if case .ready(_, let source) = outcome { source } else { nil } }
}

private final class EqualUser: ManagedUser, Hashable {
  let ended = Collector<String>()
  static func == (left: EqualUser, right: EqualUser) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
  func readyFromLoaded(_ loaded: Loaded) throws -> Int { 1 }
  func ended(_ ending: Ending<Int>) { ended.append(ending.object == nil ? "cancelled" : "ready") }
}
