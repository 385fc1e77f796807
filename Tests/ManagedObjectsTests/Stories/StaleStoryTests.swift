import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Objects from stale answers and from stored errors, as the server allows.
struct StaleStoryTests {
  private let room: StoryRoom
  private let time = ManualClock()

  init() throws { room = try StoryRoom() }

  private func manager() throws -> ObjectManager {
    var policy = Policy()
    policy.retry = .never
    policy.failureMemory = .none
    return ObjectManager(
      loaders: [CurlLoader()], cache: try FileCache(folder: room.cacheFolder), policy: policy, time: time)
  }

  private func answer(_ manager: ObjectManager, _ path: String) async throws -> Answer<String> {
    try await manager.answer(for: room.request(path), decodedBy: .text)
  }

  @Test func `an object survives an outage of its server for a week, and no longer`() async throws {
    room.server.on("/a", Reply("body", ["Cache-Control": "max-age=60"]), .reset)
    let manager = try manager()
    _ = try await answer(manager, "/a")
    time.advance(by: .seconds(3600))
    let bridged = try await answer(manager, "/a")
    #expect(bridged.source == .stale && bridged.object == "body")
    time.advance(by: .seconds(8 * 86_400))
    #expect(await failure { try await answer(manager, "/a") }?.code == .transport)
  }

  @Test func `must-revalidate, and what was invalidated, bridge no outage`() async throws {
    room.server.on("/a", Reply("body", ["Cache-Control": "max-age=0, must-revalidate"]), .reset)
    room.server.on("/b", Reply("body", ["Cache-Control": "max-age=60"]), .reset)
    let manager = try manager()
    for path in ["/a", "/b"] { _ = try await answer(manager, path) }
    try await manager.invalidate(room.request("/b"))
    for path in ["/a", "/b"] { #expect(await failure { try await answer(manager, path) }?.code == .transport) }
  }

  @Test func `stale-if-error covers the statuses of a failing server, and no other`() async throws {
    for (path, status) in [("/a", 503), ("/b", 404)] {
      room.server.on(path, Reply("body", ["Cache-Control": "max-age=0, stale-if-error=60"]), Reply(status, "no"))
    }
    let manager = try manager()
    for path in ["/a", "/b"] { _ = try await answer(manager, path) }
    #expect(try await answer(manager, "/a").source == .stale)
    #expect(await failure { try await answer(manager, "/b") }?.head?.status == 404)
  }

  @Test func `a mirror is asked before a stale answer is given`() async throws {
    room.server.on("/one", Reply("old", ["Cache-Control": "max-age=0"]), .reset)
    room.server.on("/two", Reply("new"))
    let manager = try manager()
    var request = room.request("/one")
    request.oid = "thing"
    request.locations.append(room.server.url("/two"))
    #expect(try await manager.object(for: request, decodedBy: .text) == "old")
    #expect(try await manager.object(for: request, decodedBy: .text) == "new")
  }

  @Test func `stale-while-revalidate gives the old object at once, and the new one to the next`() async throws {
    let fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=10, stale-while-revalidate=60"]
    room.server.on("/a", Reply("old", fields), Reply("new", fields))
    let manager = try manager()
    _ = try await answer(manager, "/a")
    time.advance(by: .seconds(20))
    let stale = try await answer(manager, "/a")
    #expect(stale.source == .stale && stale.object == "old")
    try await room.server.waitForHits("/a", 2)
    var seen = stale.object
    while seen == "old" { seen = try await answer(manager, "/a").object }
    #expect(seen == "new" && room.server.hits("/a") == 2)
  }

  @Test func `an error that says for how long is told again without asking, and not a second longer`() async throws {
    room.server.on("/a", Reply(404, "none here", ["Cache-Control": "max-age=60"]), Reply("here"))
    let manager = try manager()
    for _ in 0..<3 {
      let error = await failure { try await answer(manager, "/a") }
      #expect(error?.head?.status == 404 && error?.bodyStart == Data("none here".utf8))
      await manager.settle()
    }
    time.advance(by: .seconds(61))
    #expect(try await answer(manager, "/a").object == "here")
    #expect(room.server.hits("/a") == 2)
  }

  @Test("a stored error is passed over by reload, and ended by a success of any size", arguments: [4, 3 << 20])
  func errorEndedBySuccess(count: Int) async throws {
    let body = String(repeating: "b", count: count)
    room.server.on(
      "/a", Reply(410, "", ["Cache-Control": "max-age=600"]), Reply(body, ["Cache-Control": "max-age=1"]))
    let manager = try manager()
    #expect(await failure { try await answer(manager, "/a") }?.head?.status == 410)
    await manager.settle()
    var reload = room.request("/a")
    reload.mode = .reload
    #expect(try await manager.object(for: reload, decodedBy: .text) == body)
    time.advance(by: .seconds(30))
    #expect(try await answer(manager, "/a").object == body)
  }

  @Test func `the error of one mirror is no answer while another is to be asked`() async throws {
    room.server.on("/one", Reply(404, "", ["Cache-Control": "max-age=3600"]))
    room.server.on("/two", Reply(503), Reply("here"))
    let manager = try manager()
    var request = room.request("/one")
    request.oid = "thing"
    request.locations.append(room.server.url("/two"))
    #expect(await failure { try await manager.object(for: request, decodedBy: .text) } != nil)
    await manager.settle()
    #expect(try await manager.object(for: request, decodedBy: .text) == "here")
  }

  @Test func `a stored error is ended by a server that says the old answer is still good`() async throws {
    let old: KeyValuePairs<String, String> = ["Cache-Control": "max-age=1", "ETag": "\"1\""]
    room.server.on(
      "/a", Reply("good", old), Reply(410, "", ["Cache-Control": "max-age=600"]), Reply(304, "", old),
      Reply(304, "", old))
    let manager = try manager()
    #expect(try await answer(manager, "/a").object == "good")
    time.advance(by: .seconds(2))
    #expect(await failure { try await answer(manager, "/a") }?.head?.status == 410)
    await manager.settle()
    #expect(await failure { try await answer(manager, "/a") }?.head?.status == 410)
    #expect(room.server.hits("/a") == 2)
    var check = room.request("/a")
    check.mode = .noCache
    #expect(try await manager.object(for: check, decodedBy: .text) == "good")
    time.advance(by: .seconds(2))
    #expect(try await answer(manager, "/a").object == "good")
  }
}
