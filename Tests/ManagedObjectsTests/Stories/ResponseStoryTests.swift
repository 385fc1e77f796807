import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// The HTTP answer itself, from a server on loopback through real files.
struct ResponseStoryTests {
  private let room: StoryRoom

  init() throws { room = try StoryRoom() }

  private func request(_ path: String, _ fields: HeaderFields = [:], _ method: String = "GET") -> LoadRequest {
    var request = LoadRequest(location: room.server.url(path), fields: fields)
    request.method = method
    return request
  }

  private func text(_ response: LoadResponse) throws -> String { String(decoding: try response.data(), as: UTF8.self) }

  @Test(arguments: [200, 204, 299, 301, 404, 410, 500, 599])
  func `every status is an answer, and what says how long is stored`(status: Int) async throws {
    room.server.on("/a", Reply(status, status == 204 ? "" : "body", ["Cache-Control": "max-age=60", "X-A": "1"]))
    let manager = try room.manager()
    var request = request("/a")
    request.redirectMode = .manual
    let first = try await manager.response(to: request)
    let second = try await room.manager().response(to: request)
    #expect(first.status == status && second.status == status)
    #expect(first.source == .network && first.age == nil)
    #expect(second.source == .file && second.age != nil && second.head.fields["Age"] != nil)
    let bodies = [try text(first), try text(second)]
    #expect(bodies[0] == bodies[1] && second.head.fields["X-A"] == "1")
    #expect(room.server.hits("/a") == 1)
  }

  @Test(arguments: [100, 100_000])
  func `an error that an object met is an answer only if all of it was kept`(count: Int) async throws {
    let page = String(repeating: "x", count: count)
    room.server.on("/a", Reply(404, page, hour))
    let manager = try room.manager()
    _ = await failure { try await manager.object(for: room.request("/a"), decodedBy: .text) }
    await manager.settle()
    let response = try await manager.response(to: request("/a"))
    #expect(try text(response) == page)
    #expect(room.server.hits("/a") == (count == 100 ? 1 : 2))
  }

  @Test func `a redirect that one wanted to see is still followed by the others`() async throws {
    room.server.on("/a", Reply(301, "", ["Location": "/b", "Cache-Control": "max-age=3600"]))
    room.server.on("/b", Reply("there"))
    let manager = try room.manager()
    var seen = request("/a")
    seen.redirectMode = .manual
    #expect(try await manager.response(to: seen).status == 301)
    #expect(try await text(manager.response(to: request("/a"))) == "there")
    #expect(try await manager.object(for: room.request("/a"), decodedBy: .text) == "there")
  }

  @Test func `what was just put there is not missing`() async throws {
    room.server.on("/a", Reply(404), Reply(201), Reply("here"))
    let manager = try room.manager()
    #expect(await failure { try await manager.object(for: room.request("/a"), decodedBy: .text) } != nil)
    #expect(try await manager.response(to: request("/a", [:], "PUT")).status == 201)
    #expect(try await manager.object(for: room.request("/a"), decodedBy: .text) == "here")
  }

  @Test func `who names a user in the URL gets answers of their own`() async throws {
    room.server.on("/a") { request in Reply("for \(request["Authorization"] ?? "all")", hour) }
    let manager = try room.manager()
    let joe = ObjectRequest(room.server.url("/a").replacing("http://", with: "http://joe:p%40w@"))
    #expect(try await manager.object(for: joe, decodedBy: .text) == "for Basic am9lOnBAdw==")
    await manager.settle()
    #expect(try await manager.object(for: room.request("/a"), decodedBy: .text) == "for all")
    #expect(try await text(manager.response(to: request("/a"))) == "for all")
    #expect(try await room.manager().object(for: joe, decodedBy: .text) == "for Basic am9lOnBAdw==")
    #expect(room.server.hits("/a") == 2)
  }

  @Test func `settling waits for the refresh of an HTTP answer too`() async throws {
    let fields: KeyValuePairs<String, String> = ["Cache-Control": "max-age=0, stale-while-revalidate=60"]
    room.server.on("/a", Reply("old", fields), Reply("new", fields))
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a"))
    #expect(try await manager.response(to: request("/a", ["Range": "bytes=0-1"])).source == .stale)
    await manager.settle()
    #expect(room.server.hits("/a") == 2)
    var cached = room.request("/a")
    cached.mode = .onlyIfCached
    #expect(try await manager.object(for: cached, decodedBy: .text) == "new")
  }

  @Test func `what a 304 confirms may be too large too, and its head never is`() async throws {
    let fields: KeyValuePairs<String, String> = ["ETag": "\"1\"", "Cache-Control": "max-age=0"]
    room.server.on("/a", Reply("0123456789", fields), Reply(304, "", fields), Reply(304, "", fields))
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a"))
    var small = request("/a")
    small.limitBytes = 9
    #expect(await failure { try await manager.response(to: small) }?.code == .tooLarge)
    small.fields = ["Range": "bytes=0-3"]
    small.mode = .forceCache
    #expect(try await text(manager.response(to: small)) == "0123")
  }

  @Test func `a question in a body is asked`() async throws {
    room.server.on("/a", Reply("plain", hour), Reply("for the body", hour))
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a"))
    var question = request("/a")
    question.body = .init("q".utf8)
    #expect(try await text(manager.response(to: question)) == "for the body")
  }

  @Test func `an HTTP answer that does not come in the policy's time is given up`() async throws {
    room.server.on("/a") { _ in .never }
    let manager = try room.manager { $0.timeout = .milliseconds(50) }
    #expect(await failure { try await manager.response(to: request("/a")) }?.code == .timedOut)
  }

  @Test func `an error stands beside a good answer and does not replace it`() async throws {
    room.server.on(
      "/a", Reply("good", ["Cache-Control": "max-age=0", "ETag": "\"a\""]),
      Reply(404, "gone", ["Cache-Control": "max-age=60"]))
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a"))
    #expect(try await manager.response(to: request("/a")).status == 404)
    #expect(try await manager.response(to: request("/a")).status == 404)
    #expect(room.server.hits("/a") == 2)
    var object = room.request("/a")
    object.mode = .onlyIfCached
    #expect(try await manager.object(for: object, decodedBy: .text) == "good")
  }

  @Test func `several variants live side by side, for objects too`() async throws {
    room.server.on("/a") { request in
      Reply("in \(request["Accept-Language"] ?? "none")", ["Cache-Control": "max-age=60", "Vary": "Accept-Language"])
    }
    let manager = try room.manager()
    for language in ["de", "fr", "de", "fr"] {
      #expect(try await text(manager.response(to: request("/a", ["Accept-Language": language]))) == "in \(language)")
    }
    #expect(try await text(manager.response(to: request("/a"))) == "in none")
    #expect(room.server.hits("/a") == 3)
    var object = room.request("/a")
    object.fields = ["Accept-Language": "fr"]
    #expect(try await room.manager().object(for: object, decodedBy: .text) == "in fr")
    #expect(room.server.hits("/a") == 3)
  }

  @Test func `a variant that no stored one answers asks about those, and takes the one that the server names`()
    async throws
  {
    room.server.on("/a") { request in
      request["If-None-Match"] == "\"x\""
        ? Reply(304, ["ETag": "\"x\"", "Vary": "Accept", "Cache-Control": "max-age=60"])
        : Reply("same", ["ETag": "\"x\"", "Vary": "Accept", "Cache-Control": "max-age=60"])
    }
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a", ["Accept": "one"]))
    let other = try await manager.response(to: request("/a", ["Accept": "two"]))
    #expect(try other.source == .revalidated && text(other) == "same")
    #expect(try await manager.response(to: request("/a", ["Accept": "two"])).source == .file)
    #expect(room.server.hits("/a") == 2)
  }

  @Test func `a stale answer is renewed by 304 without new bytes`() async throws {
    room.server.on("/a", .revalidating("body", etag: "\"a\"", cacheControl: "max-age=0"))
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a"))
    let again = try await manager.response(to: request("/a"))
    #expect(try again.status == 200 && again.source == .revalidated && text(again) == "body")
  }

  @Test func `the caller's own condition is answered from what is stored`() async throws {
    room.server.on("/a", .revalidating("body", etag: "\"a\"", cacheControl: "max-age=60"))
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a"))
    let same = try await manager.response(to: request("/a", ["If-None-Match": "\"z\", W/\"a\""]))
    #expect(same.status == 304 && same.count == 0 && same.head.fields["ETag"] == "\"a\"")
    #expect(try await manager.response(to: request("/a", ["If-None-Match": "\"z\""])).status == 200)
    #expect(room.server.hits("/a") == 1)
  }

  @Test func `a 304 to a condition of the caller's own is handed on and stores nothing`() async throws {
    room.server.on("/a", .revalidating("body", etag: "\"a\"", cacheControl: "max-age=60"))
    let manager = try room.manager()
    #expect(try await manager.response(to: request("/a", ["If-None-Match": "\"a\""])).status == 304)
    #expect(try await text(manager.response(to: request("/a"))) == "body")
  }

  @Test func `parts are cut from a stored whole, and a part is never stored as the whole`() async throws {
    room.server.on("/a", .ranged(Array("0123456789".utf8), etag: "\"a\"", cacheControl: "max-age=60"))
    let manager = try room.manager()
    let part = try await manager.response(to: request("/a", ["Range": "bytes=2-4"]))
    #expect(try part.status == 206 && text(part) == "234")
    #expect(try await text(manager.response(to: request("/a"))) == "0123456789")
    let cut = try await manager.response(to: request("/a", ["Range": "bytes=-3"]))
    #expect(try cut.status == 206 && text(cut) == "789" && cut.source == .file)
    #expect(cut.head.fields["Content-Range"] == "bytes 7-9/10")
    #expect(try await manager.response(to: request("/a", ["Range": "bytes=10-"])).status == 416)
    #expect(room.server.hits("/a") == 2)
  }

  @Test func `HEAD is answered by what a GET brought, and renews it`() async throws {
    room.server.on("/a", Reply("body", ["Cache-Control": "max-age=0", "ETag": "\"a\""]))
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a"))
    room.server.on("/a") { asked in
      Reply(asked.method == "HEAD" ? "body" : "new", ["Cache-Control": "max-age=60", "ETag": "\"a\""])
    }
    let head = try await manager.response(to: request("/a", [:], "HEAD"))
    #expect(head.source == .network && head.count == 0)
    let stored = try await manager.response(to: request("/a", [:], "HEAD"))
    #expect(stored.source == .file && stored.count == 0 && stored.head.fields["Content-Length"] == "4")
    #expect(try await text(manager.response(to: request("/a"))) == "body")
  }

  @Test func `an unsafe method makes what is stored stale, in memory and in all variants, unless it fails`()
    async throws
  {
    room.server.on("/a") { asked in
      asked.method == "POST"
        ? Reply(asked["Fail"] == nil ? 200 : 500, "done")
        : Reply("body", ["Cache-Control": "max-age=60", "Vary": "Accept"])
    }
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a"))
    _ = try await manager.object(for: room.request("/a"), decodedBy: .text)
    _ = try await manager.response(to: request("/a", ["Fail": "1"], "POST"))
    #expect(try await manager.response(to: request("/a")).source == .file)
    _ = try await manager.response(to: request("/a", [:], "POST"))
    #expect(try await manager.response(to: request("/a")).source == .network)
    #expect(try await manager.answer(for: room.request("/a"), decodedBy: .text).source != .memory)
  }

  @Test func `stale-while-revalidate answers at once and refreshes once for all`() async throws {
    let time = ManualClock()
    room.server.on(
      "/a", Reply("old", ["Cache-Control": "max-age=10, stale-while-revalidate=60"]),
      Reply("new", ["Cache-Control": "max-age=10, stale-while-revalidate=60"]))
    let manager = ObjectManager(
      loaders: [CurlLoader()], cache: try FileCache(folder: room.cacheFolder), policy: Policy(), time: time)
    _ = try await manager.response(to: request("/a"))
    time.advance(by: .seconds(20))
    let stale = try await manager.response(to: request("/a"))
    #expect(try stale.source == .stale && text(stale) == "old")
    try await until("the refresh") { room.server.hits("/a") == 2 }
    var seen = ""
    while seen != "new" { seen = try await text(manager.response(to: request("/a"))) }
    #expect(room.server.hits("/a") == 2)
  }

  @Test func `an outage is bridged by what is stored, unless that says must-revalidate`() async throws {
    room.server.on("/a", Reply("body", ["Cache-Control": "max-age=0"]), .reset)
    room.server.on("/b", Reply("body", ["Cache-Control": "max-age=0, must-revalidate"]), .reset)
    let manager = try room.manager()
    for path in ["/a", "/b"] { _ = try await manager.response(to: request(path)) }
    let bridged = try await manager.response(to: request("/a"))
    #expect(try bridged.source == .stale && text(bridged) == "body")
    #expect(await failure { try await manager.response(to: request("/b")) }?.code == .transport)
  }

  @Test func `stale-if-error covers a failing server for its time`() async throws {
    room.server.on("/a", Reply("body", ["Cache-Control": "max-age=0, stale-if-error=60"]), Reply(503, "sorry"))
    room.server.on("/b", Reply("body", ["Cache-Control": "max-age=0"]), Reply(503, "sorry"))
    let manager = try room.manager()
    for path in ["/a", "/b"] { _ = try await manager.response(to: request(path)) }
    #expect(try await text(manager.response(to: request("/a"))) == "body")
    let failed = try await manager.response(to: request("/b"))
    #expect(try failed.status == 503 && text(failed) == "sorry")
  }

  @Test func `equal requests that overlap are one exchange`() async throws {
    room.server.on("/a", Reply("body").delayed(by: .milliseconds(100)))
    let manager = try room.manager()
    let asked = request("/a")
    let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
      for _ in 0..<50 { group.addTask { try await manager.response(to: asked).data() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(bodies == Array(repeating: Data("body".utf8), count: 50))
    #expect(room.server.hits("/a") < 50)
  }

  @Test func `interim answers are told apart from the final one, repeats and bytes are kept`() async throws {
    room.server.on(
      "/a",
      Reply("body", ["Cache-Control": "max-age=60", "Set-Cookie": "a", "Set-Cookie": "b"])
        .interim(103, ["Link": "</s.css>"]))
    let manager = try room.manager()
    let first = try await manager.response(to: request("/a"))
    #expect(first.interim.map(\.status) == [103] && first.interim.first?.fields["Link"] == "</s.css>")
    #expect(first.head.fields["Link"] == nil)
    let second = try await manager.response(to: request("/a"))
    #expect(second.interim.isEmpty && second.head.fields.values(of: "Set-Cookie") == ["a", "b"])
  }

  @Test func `only-if-cached of a missing answer is 504, and asks nobody`() async throws {
    let response = try await room.manager().response(to: request("/a", ["Cache-Control": "only-if-cached"]))
    #expect(response.status == 504 && room.server.hits("/a") == 0)
  }

  @Test func `credentials get answers of their own, public ones are everybody's`() async throws {
    room.server.on("/a") { asked in Reply("for \(asked["Authorization"] ?? "all")", ["Cache-Control": "max-age=60"]) }
    room.server.on("/p", Reply("public", ["Cache-Control": "max-age=60, public"]))
    let manager = try room.manager()
    #expect(try await text(manager.response(to: request("/a", ["Authorization": "one"]))) == "for one")
    #expect(try await text(manager.response(to: request("/a", ["Authorization": "two"]))) == "for two")
    #expect(try await text(manager.response(to: request("/a"))) == "for all")
    #expect(try await text(manager.response(to: request("/a", ["Authorization": "one"]))) == "for one")
    #expect(room.server.hits("/a") == 3)
    _ = try await manager.response(to: request("/p", ["Authorization": "one"]))
    _ = try await manager.response(to: request("/p"))
    #expect(room.server.hits("/p") == 1)
  }

  @Test func `a cookie does not keep what came without one from being used, but is never the other way round`()
    async throws
  {
    room.server.on("/a") { asked in Reply("for \(asked["Cookie"] ?? "all")", ["Cache-Control": "max-age=60"]) }
    room.server.on("/b") { asked in Reply("for \(asked["Cookie"] ?? "all")", ["Cache-Control": "max-age=60"]) }
    let manager = try room.manager()
    _ = try await manager.response(to: request("/a"))
    #expect(try await text(manager.response(to: request("/a", ["Cookie": "me"]))) == "for all")
    _ = try await manager.response(to: request("/b", ["Cookie": "me"]))
    #expect(try await text(manager.response(to: request("/b"))) == "for all")
  }

  @Test func `a large answer goes through a file, and its path can be lent`() async throws {
    let body = Pattern(seed: 3).bytes(3_000_000)
    room.server.on("/a", Reply(body, ["Cache-Control": "max-age=60", "Vary": "Accept"]))
    let manager = try room.manager()
    #expect(try await manager.response(to: request("/a")).data() == Data(body))
    let stored = try await manager.response(to: request("/a"))
    #expect(stored.source == .file)
    let path = try #require(try stored.lendPath())
    #expect(try Data(contentsOf: URL(filePath: path)) == Data(body))
  }

  @Test func `who is cancelled, and a manager that shuts down, end the exchange`() async throws {
    room.server.on("/a", .never)
    let manager = try room.manager()
    let asked = request("/a")
    let call = Task { try await manager.response(to: asked) }
    try await room.server.waitForHits("/a", 1)
    call.cancel()
    #expect(await failure { try await call.value }?.reason == .left)
    let other = Task { try await manager.response(to: asked) }
    try await room.server.waitForHits("/a", 2)
    manager.shutdown()
    #expect(await failure { try await other.value }?.reason == .closed)
    #expect(await failure { try await manager.response(to: asked) }?.reason == .closed)
  }

  @Test func `a stored answer over the limit is refused, and after shutdown there is none`() async throws {
    room.server.on("/a", Reply("0123456789", ["Cache-Control": "max-age=60"]))
    let manager = try room.manager()
    var asked = request("/a")
    _ = try await manager.response(to: asked)
    asked.limitBytes = 9
    let small = asked
    #expect(await failure { try await manager.response(to: small) }?.code == .tooLarge)
    asked.limitBytes = 10
    let enough = asked
    #expect(try await manager.response(to: enough).source == .file)
    manager.shutdown()
    #expect(await failure { try await manager.response(to: enough) }?.reason == .closed)
  }

  @Test func `a URL or field that cannot be sent is refused before anything is sent`() async throws {
    let manager = try room.manager()
    #expect(await failure { try await manager.response(to: LoadRequest(location: "http://")) }?.code == .invalidURL)
    #expect(await failure { try await manager.response(to: request("/a", ["A": "b\nc"])) }?.code == .invalidRequest)
  }
}
