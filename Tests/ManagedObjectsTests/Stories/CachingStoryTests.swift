import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What is stored, how long it is used, and what happens to it: against a server on loopback and real files.
struct CachingStoryTests {
  private let room: StoryRoom

  init() throws { room = try StoryRoom() }

  private func source(_ manager: ObjectManager, _ request: ObjectRequest) async throws -> ObjectSource {
    try await manager.answer(for: request, decodedBy: .text).source
  }

  @Test func `a stale answer is revalidated by entity tag, and 304 gives the same object`() async throws {
    room.server.on("/r", .revalidating(Array("body".utf8), etag: "\"v1\"", cacheControl: "max-age=0"))
    let manager = try room.manager()
    let decoder = ObjectDecoder<Box>("box") { Box(String(decoding: try $0.data(), as: UTF8.self)) }
    let first = try await manager.answer(for: room.request("/r"), decodedBy: decoder)
    let second = try await manager.answer(for: room.request("/r"), decodedBy: decoder)
    #expect(first.object === second.object)
    #expect([first.source, second.source] == [.network, .revalidated])
    #expect(room.server.requests("/r").last?["If-None-Match"] == "\"v1\"")
    let fresh = try await room.manager().answer(for: room.request("/r"), decodedBy: decoder)
    #expect(fresh.source == .revalidated && fresh.object.text == "body")
  }

  @Test func `without a file cache the objects themselves are revalidated`() async throws {
    room.server.on("/r", .revalidating(Array("body".utf8), etag: "\"v1\"", cacheControl: "max-age=0"))
    let manager = room.memoryManager()
    #expect(try await source(manager, room.request("/r")) == .network)
    #expect(try await source(manager, room.request("/r")) == .revalidated)
    #expect(try await manager.data(for: room.request("/r")) == Data("body".utf8))
    let statuses = room.server.requests("/r").map { $0["If-None-Match"] }
    #expect(statuses == [nil, "\"v1\"", nil])
  }

  @Test func `without a file cache who wants to be sure asks with the tag of what is in memory`() async throws {
    room.server.on("/r", .revalidating(Array("body".utf8), etag: "\"v1\"", cacheControl: "max-age=60"))
    let manager = room.memoryManager()
    #expect(try await source(manager, room.request("/r")) == .network)
    var request = room.request("/r")
    request.mode = .noCache
    #expect(try await source(manager, request) == .revalidated)
    #expect(room.server.requests("/r").map { $0["If-None-Match"] } == [nil, "\"v1\""])
  }

  @Test func `new bytes replace old ones when the tag has changed`() async throws {
    room.server.on(
      "/r", .revalidating(Array("one".utf8), etag: "\"v1\"", cacheControl: "max-age=0"),
      .revalidating(Array("two".utf8), etag: "\"v2\"", cacheControl: "max-age=0"))
    let manager = try room.manager()
    #expect(try await manager.object(for: room.request("/r"), decodedBy: .text) == "one")
    #expect(try await manager.object(for: room.request("/r"), decodedBy: .text) == "two")
    var cached = room.request("/r")
    cached.mode = .onlyIfCached
    #expect(try await room.manager().object(for: cached, decodedBy: .text) == "two")
  }

  @Test func `the server says 304 but the bytes are gone, and one whole request mends it`() async throws {
    let body = Array(repeating: UInt8(3), count: 300_000)
    room.server.on("/r", .revalidating(body, etag: "\"v1\"", cacheControl: "max-age=0"))
    let manager = try room.manager()
    _ = try await manager.data(for: room.request("/r"))
    manager.removeAllFromMemory()
    for file in room.entryFiles where file.contains(".") { try Data().write(to: room.folder.url.appending(path: file)) }
    let fresh = try room.manager()
    #expect(try await fresh.data(for: room.request("/r")) == Data(body))
  }

  @Test func `max-age is kept, no-store is not stored`() async throws {
    room.server.on("/kept", Reply("kept", hour))
    room.server.on("/not", Reply("not", ["Cache-Control": "no-store"]))
    let manager = try room.manager()
    for _ in 0..<2 {
      _ = try await source(manager, room.request("/kept"))
      _ = try await source(manager, room.request("/not"))
    }
    #expect(room.server.hits("/kept") == 1 && room.server.hits("/not") == 2)
    #expect(room.entryFiles.count == 1)
  }

  @Test func `under immutable an id never asks again, under ttl when the time is over`() async throws {
    let time = ManualClock()
    room.server.otherwise { _ in Reply("x", ["Cache-Control": "no-store"]) }
    let manager = ObjectManager(cache: try FileCache(folder: room.cacheFolder), time: time)
    var immutable = room.request("/immutable")
    immutable.freshness = .immutable
    var timed = room.request("/timed")
    timed.freshness = .ttl(.seconds(60))
    for seconds in [0, 59, 2, 59] {
      time.advance(by: .seconds(seconds))
      _ = try await source(manager, immutable)
      _ = try await source(manager, timed)
    }
    #expect(room.server.hits("/immutable") == 1)
    #expect(room.server.hits("/timed") == 2)
  }

  @Test func `the cache modes do what fetch's do`() async throws {
    room.server.on("/m", Reply { _ in Reply("m", ["Cache-Control": "max-age=3600", "ETag": "\"m\""]) })
    let manager = try room.manager()
    func ask(_ mode: CacheMode) async throws -> (source: ObjectSource, hits: Int) {
      var request = room.request("/m")
      request.mode = mode
      let before = room.server.hits("/m")
      let source = try await source(manager, request)
      return (source, room.server.hits("/m") - before)
    }
    var missing = room.request("/m")
    missing.mode = .onlyIfCached
    #expect(await failure { try await manager.data(for: missing) }?.code == .notCached)
    #expect(try await ask(.noStore) == (.network, 1))
    #expect(room.entryFiles.isEmpty)
    #expect(try await ask(.forceCache) == (.network, 1))
    #expect(try await ask(.standard).hits == 0)
    #expect(try await ask(.onlyIfCached).hits == 0)
    #expect(try await ask(.noCache).hits == 1)
    #expect(try await ask(.reload) == (.network, 1))
    #expect(try await ask(.forceCache).hits == 0)
  }

  @Test func `a stale entry is given in the modes that ask for it, and says that it is stale`() async throws {
    room.server.on("/s", Reply("s", ["Cache-Control": "max-age=0"]))
    _ = try await source(room.manager(), room.request("/s"))
    for mode in [CacheMode.forceCache, .onlyIfCached] {
      var request = room.request("/s")
      request.mode = mode
      #expect(try await source(room.manager(), request) == .stale)
    }
    #expect(room.server.hits("/s") == 1)
  }

  @Test func `the body always matches the language that was asked for`() async throws {
    room.server.on("/t") { request in
      let language = request["Accept-Language"] ?? "none"
      return Reply(language, ["Vary": "Accept-Language", "Cache-Control": "max-age=600"])
    }
    let manager = try room.manager()
    for language in ["en", "de", "en", nil, "de"] {
      var request = room.request("/t")
      if let language { request.fields["accept-language"] = language }
      #expect(try await manager.object(for: request, decodedBy: .text) == language ?? "none")
    }
  }

  // MARK: Damage

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `entries cut to nothing, halved or lengthened are fetched anew, and only they`(
    kind: FileCacheTests.Kind
  ) async throws {
    let room = try StoryRoom(kind)
    func body(_ number: Int) -> [UInt8] { (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) } }
    for number in 0..<10 { room.server.on("/\(number)", Reply(body(number), hour)) }
    let manager = try room.manager()
    for number in 0..<10 { _ = try await manager.data(for: room.request("/\(number)")) }
    let files = room.entryFiles
    #expect(files.count == 10)
    let damages: [([UInt8]) -> [UInt8]] = [
      { _ in [] }, { Array($0.prefix(5000)) }, { $0 + Array(repeating: 0, count: 10) },
    ]
    for (file, damage) in zip(files, damages) { try room.folder.write(file, damage(try room.folder.read(file))) }
    let fresh = try room.manager()
    for number in 0..<10 { #expect(try await fresh.data(for: room.request("/\(number)")) == Data(body(number))) }
    #expect(room.server.allHits == 13)
    let healed = try room.manager()
    for number in 0..<10 { _ = try await healed.data(for: room.request("/\(number)")) }
    #expect(room.server.allHits == 13)
  }

  @Test func `bytes that nobody can decode stay for others, and are asked for again after a while`() async throws {
    let time = ManualClock()
    room.server.on("/j", .revalidating(Array("no json".utf8), etag: "\"1\"", cacheControl: "max-age=3600"))
    let manager = ObjectManager(cache: try FileCache(folder: room.cacheFolder), time: time)
    #expect(await failure { try await manager.object(for: room.request("/j"), as: [Int].self) }?.code == .undecodable)
    #expect(await failure { try await manager.object(for: room.request("/j"), as: [Int].self) }?.code == .undecodable)
    #expect(room.server.hits("/j") == 1)
    time.advance(by: .seconds(2))
    #expect(await failure { try await manager.object(for: room.request("/j"), as: [Int].self) }?.code == .undecodable)
    #expect(room.server.hits("/j") == 2)
    #expect(try await manager.object(for: room.request("/j"), decodedBy: .text) == "no json")
    #expect(room.server.hits("/j") == 2)
  }

  // MARK: Faults of the folder

  @Test func `a cache that cannot write costs caching, not delivery, and is told once`() async throws {
    for number in 0..<20 { room.server.on("/\(number)", Reply("body \(number)", hour)) }
    try room.folder.write("file", "in the way")
    let cache = try FileCache(folder: room.folder.url.appending(path: "file/cache"))
    let manager = ObjectManager(cache: cache)
    let events = manager.events(bufferingNewest: 1000)
    for number in 0..<20 {
      #expect(try await manager.object(for: room.request("/\(number)"), decodedBy: .text) == "body \(number)")
    }
    manager.shutdown()
    var faults = 0
    for await event in events { if case .cacheFailed = event { faults += 1 } }
    #expect(faults == 1)
  }

  @Test func `a folder of garbage only loses caching`() async throws {
    for name in ["cache/x/y/z", "cache/00/garbage", "cache/temp/t1", "cache/entry"] {
      try room.folder.write(name, "garbage")
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: room.cacheFolder.path)
    room.server.on("/a", Reply("a", hour))
    let manager = try room.manager()
    #expect(try await manager.object(for: room.request("/a"), decodedBy: .text) == "a")
    #expect(room.folder.contains("cache/x/y/z"))
  }

  // MARK: What callers do to it

  @Test func `what is stored by hand is found, invalidated, removed`() async throws {
    room.server.on("/h", .revalidating(Array("hand".utf8), etag: "\"h\"", cacheControl: "max-age=60"))
    let manager = try room.manager()
    let request = room.request("/h")
    #expect(try await manager.contains(request) == false)
    try await manager.store(
      Data("hand".utf8), for: request, head: LoadHead(fields: ["Cache-Control": "max-age=60", "ETag": "\"h\""]))
    #expect(try await manager.contains(request))
    #expect(manager.peek(request, decodedBy: .text) == nil)
    #expect(try await source(manager, request) == .file)
    #expect(manager.peek(request, decodedBy: .text) == "hand")
    #expect(room.server.hits("/h") == 0)
    try await manager.invalidate(request)
    #expect(manager.peek(request, decodedBy: .text) == nil)
    #expect(try await source(manager, request) == .revalidated)
    #expect(room.server.hits("/h") == 1)
    try await manager.remove(request)
    #expect(try await manager.contains(request) == false)
    #expect(try await source(manager, request) == .network)
  }

  @Test func `a namespace is removed without the others`() async throws {
    room.server.otherwise { _ in Reply("x", hour) }
    let manager = try room.manager()
    for namespace in ["one", "two"] {
      var request = ObjectRequest(room.server.url("/n"), oid: "n")
      request.namespace = namespace
      _ = try await source(manager, request)
    }
    try await manager.remove(namespace: "one")
    var left: [String: Bool] = [:]
    for namespace in ["one", "two"] {
      var request = ObjectRequest(room.server.url("/n"), oid: "n")
      request.namespace = namespace
      left[namespace] = try await manager.contains(request)
    }
    #expect(left == ["one": false, "two": true])
    try await manager.removeAll()
    #expect(room.entryFiles.isEmpty)
  }

  @Test func `one user's answer is never another's, across processes, but a public one is everybody's`() async throws {
    room.server.on("/me") { Reply($0["Authorization"] ?? "nobody", ["Cache-Control": "max-age=60"]) }
    room.server.on("/all") { _ in Reply("all", ["Cache-Control": "max-age=60, public"]) }
    func ask(_ path: String, _ token: String?) async throws -> String {
      var request = room.request(path)
      if let token { request.fields["Authorization"] = token }
      return try await room.manager().object(for: request, decodedBy: .text)
    }
    #expect(try await ask("/me", "a") == "a")
    #expect(try await ask("/me", "b") == "b")
    #expect(try await ask("/me", nil) == "nobody")
    #expect(try await ask("/me", "a") == "a")
    #expect(room.server.hits("/me") == 3)
    for token in ["a", "b", nil] { #expect(try await ask("/all", token) == "all") }
    #expect(room.server.hits("/all") == 1)
    for name in room.entryFiles {
      let bytes = String(decoding: try room.folder.read(name), as: UTF8.self)
      #expect(!bytes.contains("Authorization"))
    }
  }

  @Test func `a named scope finds its answer again when the token has changed`() async throws {
    room.server.on("/me") { Reply($0["Authorization"] ?? "", ["Cache-Control": "max-age=60"]) }
    var request = room.request("/me")
    request.credentialScope = "user 4711"
    request.fields["Authorization"] = "first token"
    #expect(try await room.manager().object(for: request, decodedBy: .text) == "first token")
    request.fields["Authorization"] = "second token"
    #expect(try await room.manager().object(for: request, decodedBy: .text) == "first token")
    #expect(room.server.hits("/me") == 1)
  }
}
