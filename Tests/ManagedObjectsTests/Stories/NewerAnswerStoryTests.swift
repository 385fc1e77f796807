import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// A newer answer that is not stored, or another way to it, leaves nothing behind that passes for it.
struct NewerAnswerStoryTests {
  private let faces: FacesRoom
  private var server: LoopbackServer { faces.server }

  init() throws { faces = try FacesRoom() }

  @Test(arguments: Face.allCases, [true, false])
  func `what a server says since it forbids storing is not answered with what it said before`(
    face: Face, hasFiles: Bool
  ) async throws {
    server.on("/a", Reply("old", hour), Reply("secret", ["Cache-Control": "no-store"]), Reply("new", hour))
    let manager = hasFiles ? try faces.manager() : faces.room.memoryManager()
    for (mode, text) in [(CacheMode.standard, "old"), (.reload, "secret"), (.standard, "new")] {
      #expect(try await faces.ask(face, "/a", by: manager, mode: mode).text == text)
    }
  }

  @Test(arguments: Face.allCases) func `of several variants only the one that changed is asked for again`(
    face: Face
  ) async throws {
    let isSecret = Lock(false)
    server.on("/a") { request in
      let control = isSecret.withLock { $0 } ? "no-store" : "max-age=60"
      return Reply(request["Accept"] ?? "", ["Cache-Control": control, "Vary": "Accept"])
    }
    for accept in ["one", "two"] { _ = try await faces.ask(face, "/a", ["Accept": accept]) }
    isSecret.withLock { $0 = true }
    _ = try await faces.ask(face, "/a", ["Accept": "one"], mode: .reload)
    #expect(try await faces.ask(face, "/a", ["Accept": "one"]).source == .network)
    #expect(try await faces.ask(face, "/a", ["Accept": "two"]).source == .file)
  }

  @Test(arguments: Face.allCases) func `an error, a part or a request that no cache is to know of leaves it fresh`(
    face: Face
  ) async throws {
    let next = Lock(Reply("old", hour))
    server.on("/a") { _ in next.withLock { $0 } }
    let manager = try faces.manager()
    _ = try await faces.ask(face, "/a", by: manager)
    let secret: KeyValuePairs<String, String> = ["Cache-Control": "no-store"]
    for reply in [Reply(503, secret), Reply(404, secret), Reply(206, "x", secret)] {
      next.withLock { $0 = reply }
      _ = await failure { try await faces.ask(face, "/a", by: manager, mode: .reload) }
    }
    next.withLock { $0 = Reply("other", secret) }
    #expect(try await faces.ask(face, "/a", by: manager, mode: .noStore).text == "other")
    #expect(try await faces.ask(.response, "/a", ["Cache-Control": "no-store"], by: manager).text == "other")
    #expect(try await faces.ask(face, "/a", by: manager).text == "old")
  }

  @Test func `what may never be stored is looked for once for each load`() async throws {
    server.on("/a") { _ in Reply("secret", ["Cache-Control": "no-store"]) }
    let cache = try FileCache(folder: faces.room.cacheFolder)
    let manager = ObjectManager(cache: cache)
    for _ in 0..<2 { _ = try await faces.ask(.object, "/a", by: manager) }
    let statistics = cache.statistics()
    #expect(server.hits("/a") == 2 && statistics.hits == 0 && statistics.misses == 2, "\(statistics)")
  }

  @Test(arguments: [301, 302]) func `what a redirect led to is no answer for who wants to see the redirect`(
    status: Int
  ) async throws {
    server.on("/a") { _ in Reply(status, ["Location": "/b", "Cache-Control": "max-age=60"]) }
    server.on("/b") { request in
      let fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
      return request["If-None-Match"] == nil ? Reply("there", fields) : Reply(304, fields)
    }
    func ask(_ mode: RedirectMode) async throws -> LoadResponse {
      var request = LoadRequest(location: server.url("/a"))
      request.redirectMode = mode
      return try await faces.manager().response(to: request)
    }
    for _ in 0..<2 {
      #expect(try await ask(.follow).status == 200)
      #expect(await failure { try await ask(.refuse) }?.code == .refusedByPolicy)
      #expect(try await ask(.manual).status == status)
      faces.time.advance(by: .seconds(61))
    }
    #expect(try await ask(.follow).source == (status == 301 ? .revalidated : .network))
    #expect(try await ask(.manual).status == status)
  }

  @Test func `a URL that redirects no more answers all alike`() async throws {
    server.on("/a", .redirect(to: "/b"), Reply(304, ["Cache-Control": "max-age=60"]))
    server.on("/b") { _ in Reply("there", ["ETag": "\"1\""]) }
    var request = LoadRequest(location: server.url("/a"))
    _ = try await faces.manager().response(to: request)
    #expect(try await faces.manager().response(to: request).source == .revalidated)
    request.redirectMode = .manual
    #expect(try await faces.manager().response(to: request).source == .file)
  }
}
