import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Who changes something on a server sees the change afterwards, whatever was on its way meanwhile.
struct UnsafeMethodStoryTests {
  private let room: StoryRoom
  private let faces: FacesRoom
  private var server: LoopbackServer { faces.server }

  init() throws {
    faces = try FacesRoom()
    room = faces.room
  }

  private func send(
    _ method: String, _ path: String, by manager: ObjectManager
  ) async throws -> LoadResponse {
    var request = LoadRequest(location: server.url(path))
    request.method = method
    return try await manager.response(to: request)
  }

  /// What a GET brings is "old" until a PUT; answers from before are held back until the gate opens.
  private func serve(_ path: String, old: Reply, until gate: Gate) {
    let isChanged = Lock(false)
    server.on(path) { request in
      if request.method == "PUT" {
        isChanged.withLock { $0 = true }
        return Reply(204)
      }
      let isNew = isChanged.withLock { $0 }
      return isNew ? Reply("new", hour) : old.held(until: gate)
    }
  }

  private func text(_ face: Face, _ manager: ObjectManager) async throws -> String {
    try await faces.ask(face, "/a", by: manager).text
  }

  @Test(arguments: Face.allCases, [true, false])
  func `who asks after a change does not wait with those who asked before, nor is given what they got`(
    face: Face, hasFiles: Bool
  ) async throws {
    let gate = Gate()
    serve("/a", old: Reply("old", hour), until: gate)
    let manager = hasFiles ? try faces.manager() : room.memoryManager()
    async let early = text(face, manager)
    try await server.waitForHits("/a", 1)
    #expect(try await send("PUT", "/a", by: manager).status == 204)
    #expect(try await text(face, manager) == "new")
    gate.open()
    #expect(try await early == "old")
    #expect(try await text(face, manager) == "new")
    if hasFiles { #expect(try await text(face, faces.manager()) == "new") }
  }

  @Test(arguments: Face.allCases, ["max-age=3600", "public, max-age=3600"])
  func `a variant that came late from before a change is not given as fresh`(
    face: Face, cacheControl: String
  ) async throws {
    let gate = Gate()
    serve("/a", old: Reply("old", ["Cache-Control": cacheControl, "Vary": "X"]), until: gate)
    let manager = try faces.manager()
    async let early = text(face, manager)
    try await server.waitForHits("/a", 1)
    _ = try await send("PUT", "/a", by: manager)
    gate.open()
    #expect(try await early == "old")
    #expect(try await text(face, manager) == "new")
  }

  @Test(arguments: [true, false])
  func `what was missing before it was put there is not remembered as missing`(isStorable: Bool) async throws {
    let gate = Gate()
    serve("/a", old: isStorable ? Reply(404, hour) : Reply(404), until: gate)
    let manager = try room.manager()
    async let early = failure { try await manager.object(for: room.request("/a"), decodedBy: .text) }
    try await server.waitForHits("/a", 1)
    _ = try await send("PUT", "/a", by: manager)
    gate.open()
    #expect(await early?.head?.status == 404)
    await manager.settle()
    #expect(try await manager.object(for: room.request("/a"), decodedBy: .text) == "new")
    #expect(try await room.manager().object(for: room.request("/a"), decodedBy: .text) == "new")
  }

  @Test func `a 304 from before a change renews nothing`() async throws {
    let gate = Gate()
    serve("/a", old: .revalidating("old", etag: "\"1\"", cacheControl: "max-age=60"), until: Gate.opened)
    let manager = try faces.manager()
    for face in Face.allCases { #expect(try await text(face, manager) == "old") }
    faces.time.advance(by: .seconds(61))
    serve("/a", old: .revalidating("old", etag: "\"1\"", cacheControl: "max-age=60"), until: gate)
    let hits = server.hits("/a")
    async let early = text(.object, manager)
    async let alsoEarly = text(.response, manager)
    try await server.waitForHits("/a", hits + 2)
    _ = try await send("PUT", "/a", by: manager)
    gate.open()
    let texts = [try await early, try await alsoEarly]
    #expect(texts == ["old", "old"])
    for face in Face.allCases { #expect(try await text(face, manager) == "new") }
  }

  @Test func `what is invalidated by hand is not what was on its way`() async throws {
    let gate = Gate()
    server.on("/a", Reply("old", hour).held(until: gate), Reply("new", hour))
    let manager = try room.manager()
    async let early = manager.object(for: room.request("/a"), decodedBy: .text)
    try await server.waitForHits("/a", 1)
    try await manager.invalidate(room.request("/a"))
    #expect(try await manager.object(for: room.request("/a"), decodedBy: .text) == "new")
    gate.open()
    #expect(try await early == "old")
  }

  // MARK: Redirects

  @Test(arguments: [307, 308], Face.allCases)
  func `each hop makes its own URL stale, though the next cannot be reached`(status: Int, face: Face) async throws {
    let other = try LoopbackServer()
    other.on("/c") { $0.method == "GET" ? Reply("c", hour) : .redirect(to: "/d", status: status) }
    other.on("/d") { $0.method == "GET" ? Reply("d", hour) : .reset }
    server.on("/a") { $0.method == "GET" ? Reply("a", hour) : .redirect(to: other.url("/c"), status: status) }
    let manager = try faces.manager()
    let locations = [server.url("/a"), other.url("/c"), other.url("/d")]
    func sources() async throws -> [ObjectSource] {
      var sources: [ObjectSource] = []
      for location in locations {
        switch face {
        case .object: sources.append(try await manager.answer(for: ObjectRequest(location), decodedBy: .text).source)
        case .response: sources.append(try await manager.response(to: LoadRequest(location: location)).source)
        }
        await manager.settle()
      }
      return sources
    }
    _ = try await sources()
    #expect(try await sources().contains(.network) == false)
    #expect(await failure { try await send("PUT", "/a", by: manager) }?.code == .transport)
    #expect(try await sources() == [.network, .network, .network])
  }

  @Test func `what only a GET was sent on to stays fresh`() async throws {
    server.on("/a") { $0.method == "GET" ? Reply("a", hour) : .redirect(to: server.url("/b?x=1"), status: 303) }
    server.on("/b") { _ in Reply("b", hour) }
    let manager = try faces.manager()
    #expect(try await faces.ask(.response, "/b", by: manager).source == .network)
    #expect(try await send("POST", "/a", by: manager).status == 200)
    #expect(try await faces.ask(.response, "/b", by: manager).source == .file)
  }
}

extension Gate {
  fileprivate static var opened: Gate {
    let gate = Gate()
    gate.open()
    return gate
  }
}
