import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Every answer says why it came from where it did, whichever face was asked.
struct ReasonStoryTests {
  private let faces: FacesRoom
  private var server: LoopbackServer { faces.server }
  private var time: ManualClock { faces.time }

  init() throws { faces = try FacesRoom() }

  /// Asked from an empty memory.
  private func ask(
    _ face: Face, _ path: String, _ fields: HeaderFields = [:], mode: CacheMode = .standard
  ) async throws -> (reason: AnswerReason, source: ObjectSource) {
    let answer = try await faces.ask(face, path, fields, mode: mode)
    return (answer.reason, answer.source)
  }

  @Test(arguments: Face.allCases) func `absent, then fresh, then confirmed, then replaced`(face: Face) async throws {
    server.on(
      "/a", .revalidating("one", etag: "\"1\"", cacheControl: "max-age=10"),
      .revalidating("one", etag: "\"1\"", cacheControl: "max-age=10"),
      .revalidating("two", etag: "\"2\"", cacheControl: "max-age=10"))
    #expect(try await ask(face, "/a") == (.absent, .network))
    #expect(try await ask(face, "/a") == (.fresh, .file))
    time.advance(by: .seconds(11))
    #expect(try await ask(face, "/a") == (.revalidated, .revalidated))
    time.advance(by: .seconds(11))
    #expect(try await ask(face, "/a") == (.expired, .network))
  }

  @Test(arguments: Face.allCases) func `what is never stored, and what the modes ask for`(face: Face) async throws {
    server.on("/never") { _ in Reply("x", ["Cache-Control": "no-store"]) }
    server.on("/a") { _ in Reply("a", ["Cache-Control": "max-age=10"]) }
    server.on("/ask") { _ in Reply("a", ["Cache-Control": "no-cache"]) }
    for _ in 0..<2 { #expect(try await ask(face, "/never") == (.noStore, .network)) }
    #expect(try await ask(face, "/a", mode: .noStore) == (.noStore, .network))
    #expect(try await ask(face, "/a", ["Cache-Control": "no-store"]) == (.noStore, .network))
    #expect(try await ask(face, "/a") == (.absent, .network))
    #expect(try await ask(face, "/a", mode: .reload) == (.reload, .network))
    #expect(try await ask(face, "/a", mode: .noCache) == (.noCache, .network))
    #expect(try await ask(face, "/ask") == (.absent, .network))
    #expect(try await ask(face, "/ask") == (.noCache, .network))
    time.advance(by: .seconds(60))
    #expect(try await ask(face, "/a", mode: .forceCache) == (.staleAllowed, .stale))
    #expect(try await ask(face, "/a", mode: .onlyIfCached) == (.staleAllowed, .stale))
    #expect(try await ask(face, "/a", ["Cache-Control": "max-stale=99"]) == (.staleAllowed, .stale))
  }

  @Test(arguments: Face.allCases) func `other variants, a server that is down, a refresh`(face: Face) async throws {
    server.on("/v") { Reply($0["Accept"] ?? "", ["Cache-Control": "max-age=10", "Vary": "Accept"]) }
    server.on("/down", Reply("x", ["Cache-Control": "max-age=1"]), .reset)
    server.on("/swr") { _ in Reply("x", ["Cache-Control": "max-age=1, stale-while-revalidate=99"]) }
    #expect(try await ask(face, "/v", ["Accept": "a"]) == (.absent, .network))
    #expect(try await ask(face, "/v", ["Accept": "b"]) == (.varies, .network))
    #expect(try await ask(face, "/v", ["Accept": "a"]) == (.fresh, .file))
    for path in ["/down", "/swr"] { #expect(try await ask(face, path).reason == .absent) }
    time.advance(by: .seconds(5))
    #expect(try await ask(face, "/down") == (.staleError, .stale))
    #expect(try await ask(face, "/swr") == (.staleWhileRevalidate, .stale))
  }

  @Test(arguments: Face.allCases) func `what was invalidated, and a clock that was put back`(face: Face) async throws {
    server.otherwise { _ in Reply("x", ["Cache-Control": "max-age=100"]) }
    for path in ["/a", "/b"] { _ = try await ask(face, path) }
    try await faces.manager().invalidate(faces.room.request("/a"))
    #expect(try await ask(face, "/a") == (.invalidated, .network))
    time.wallNow = time.wallNow + .seconds(-86_400)
    #expect(try await ask(face, "/b") == (.clock, .network))
  }

  @Test func `an object from memory says so too`() async throws {
    server.on("/a") { _ in Reply("x", ["Cache-Control": "max-age=10", "ETag": "\"1\""]) }
    let manager = ObjectManager(loaders: [CurlLoader()], time: time)
    var request = faces.room.request("/a")
    func ask() async throws -> (AnswerReason, ObjectSource) {
      let answer = try await manager.answer(for: request, decodedBy: .text)
      return (answer.reason, answer.source)
    }
    #expect(try await ask() == (.absent, .network))
    #expect(try await ask() == (.fresh, .memory))
    time.advance(by: .seconds(11))
    #expect(try await ask() == (.expired, .network))
    time.advance(by: .seconds(11))
    request.mode = .forceCache
    #expect(try await ask() == (.staleAllowed, .memory))
  }

  @Test func `a method that no cache answers, and what is not to be asked for`() async throws {
    server.otherwise { _ in Reply("x", ["Cache-Control": "max-age=10"]) }
    var post = LoadRequest(location: server.url("/a"))
    post.method = "POST"
    #expect(try await faces.manager().response(to: post).reason == .method)
    let cached = LoadRequest(location: server.url("/a"), fields: ["Cache-Control": "only-if-cached"])
    let missing = try await faces.manager().response(to: cached)
    #expect(missing.status == 504 && missing.reason == .absent)
  }
}
