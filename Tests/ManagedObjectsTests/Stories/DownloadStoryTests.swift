import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// The whole manager against a server on loopback and real files: what goes over the wire arrives, or fails clearly.
struct DownloadStoryTests {
  private let room: StoryRoom

  init() throws { room = try StoryRoom() }

  @Test func `a file larger than the whole cache goes straight to its place`() async throws {
    let body = String(repeating: "0123456789", count: 400_000)
    room.server.on("/a", Reply(body, hour))
    var policy = Policy()
    policy.limitMemoryOnlyBodyBytes = 1 << 20
    let cache = try FileCache(folder: room.cacheFolder, limits: CacheLimits(bytes: 1 << 20))
    let manager = ObjectManager(cache: cache, policy: policy)
    let target = room.folder.url.appending(path: "a.txt")
    _ = try await manager.file(for: room.request("/a"), at: target)
    #expect(try String(contentsOf: target, encoding: .utf8) == body)
  }

  @Test func `the second load costs no request, from memory and from a fresh manager`() async throws {
    room.server.on("/a", Reply("hello", hour))
    let manager = try room.manager()
    let first = try await manager.answer(for: room.request("/a"), decodedBy: .text)
    let second = try await manager.answer(for: room.request("/a"), decodedBy: .text)
    let third = try await room.manager().answer(for: room.request("/a"), decodedBy: .text)
    #expect([first, second, third].map(\.object) == ["hello", "hello", "hello"])
    #expect([first, second, third].map(\.source) == [.network, .memory, .file])
    #expect(room.server.hits("/a") == 1)
  }

  @Test func `very long urls that differ in their last letter are two cached objects`() async throws {
    let long = "/obj?sig=" + String(repeating: "x", count: 3000)
    room.server.otherwise { request in
      Reply(request.target.hasSuffix("1") ? "one" : "two", hour)
    }
    for _ in 0..<2 {
      let manager = try room.manager()
      #expect(try await manager.object(for: room.request(long + "1"), decodedBy: .text) == "one")
      #expect(try await manager.object(for: room.request(long + "2"), decodedBy: .text) == "two")
    }
    #expect(room.server.allHits == 2)
    #expect(room.folder.names.allSatisfy { ($0.split(separator: "/").last ?? "").utf8.count <= 255 })
  }

  @Test func `a chunked body cut at a chunk border fails, and the good copy stays`() async throws {
    let good = Reply(Array(repeating: 1, count: 5000), ["Cache-Control": "max-age=3600", "ETag": "\"a\""])
    let cut = Reply(Array(repeating: 2, count: 5000)).chunked(5000, fault: .cut(afterChunks: 1))
    room.server.on("/cold", cut)
    room.server.on("/warm", good, cut)
    let manager = try room.strictManager()
    let cold = await failure { try await manager.data(for: room.request("/cold")) }
    #expect(cold?.code == .wrongLength || cold?.code == .transport)
    #expect(room.entryFiles.isEmpty)
    _ = try await manager.data(for: room.request("/warm"))
    var reload = room.request("/warm")
    reload.mode = .reload
    #expect(await failure { try await manager.data(for: reload) } != nil)
    let fresh = try await room.manager().answer(for: room.request("/warm"), decodedBy: .data)
    #expect(fresh.source == .file && fresh.object == Data(repeating: 1, count: 5000))
  }

  @Test func `a body that is ended by close, without a length, is accepted`() async throws {
    room.server.on("/old", Reply("to the end").closeDelimited(version: "HTTP/1.0"))
    #expect(try await room.strictManager().object(for: room.request("/old"), decodedBy: .text) == "to the end")
  }

  @Test func `a body shorter than promised fails and nothing is stored`() async throws {
    room.server.on(
      "/short", Reply(Array(repeating: 7, count: 100), hour).claiming(length: 200).closing(announced: false))
    let error = await failure { try await room.strictManager().data(for: room.request("/short")) }
    #expect(error?.code == .wrongLength)
    #expect(room.entryFiles.isEmpty)
  }

  @Test func `an endless body ends at the limit that the request sets`() async throws {
    room.server.on("/endless", .endless())
    var request = room.request("/endless")
    request.limitBytes = 3 << 20
    let error = await failure { try await room.strictManager().data(for: request) }
    #expect(error?.code == .tooLarge)
    try await room.server.waitForAborted(1)
    #expect(room.entryFiles.isEmpty)
  }

  @Test func `an endless body ends at the memory limit where there is no cache`() async throws {
    room.server.on("/endless", .endless())
    let manager = room.memoryManager { $0.limitMemoryOnlyBodyBytes = 4 << 20 }
    let error = await failure { try await manager.data(for: room.request("/endless")) }
    #expect(error?.code == .tooLarge)
  }

  @Test func `a body that the head announces as too large is refused before it comes`() async throws {
    room.server.on("/big", Reply(Array(repeating: 0, count: 100_000)).held(until: Gate(), afterBytes: 10))
    var request = room.request("/big")
    request.limitBytes = 50_000
    #expect(await failure { try await room.strictManager().data(for: request) }?.code == .tooLarge)
  }

  @Test func `nobody listens, and the error says so`() async throws {
    let dead = try LoopbackServer()
    let url = dead.url("/x")
    dead.stop()
    let error = await failure { try await room.strictManager().data(for: ObjectRequest(url)) }
    #expect(error?.code == .transport)
    #expect(error?.message.contains("127.0.0.1") == true)
  }

  @Test func `an unknown host fails with an error that names it`() async throws {
    let error = await failure { try await room.strictManager().data(for: ObjectRequest("http://box.invalid/x")) }
    #expect(error?.code == .transport)
    #expect(error?.message.contains("box.invalid") == true)
  }

  @Test(arguments: [404, 500]) func `an error page is neither decoded nor stored as good`(status: Int) async throws {
    room.server.on("/e", Reply(status, "an error page"), Reply("good", hour))
    let manager = try room.strictManager()
    let user = RecordingUser.text()
    manager.manage(user, for: room.request("/e"))
    let error = try await user.ending().error
    #expect(error?.code == .httpStatus && error?.head?.status == status)
    #expect(error.map { String(decoding: $0.bodyStart, as: UTF8.self) } == "an error page")
    #expect(user.decodes == 0 && room.entryFiles.isEmpty)
    #expect(try await manager.object(for: room.request("/e"), decodedBy: .text) == "good")
  }

  @Test func `large bodies go through a file, whole, and are mapped`() async throws {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    room.server.on("/large", Reply(bytes, hour))
    let manager = try room.manager()
    #expect(try await manager.data(for: room.request("/large")) == Data(bytes))
    let again = try await room.manager().answer(for: room.request("/large"), decodedBy: .data)
    #expect(again.source == .file && again.object == Data(bytes))
    #expect(room.server.hits("/large") == 1)
  }

  @Test func `a lent path shows a decoder the bytes as a file`() async throws {
    let bytes = Array(repeating: UInt8(9), count: 200_000)
    room.server.on("/lib", Reply(bytes, hour))
    let decoder = ObjectDecoder<Int>("size by path") { loaded in
      guard let path = try loaded.lendPath() else { return -1 }
      return try Data(contentsOf: URL(filePath: path)).count
    }
    let manager = try room.manager()
    var request = room.request("/lib")
    _ = try await manager.data(for: request)
    request.mode = .forceCache
    #expect(try await room.manager().object(for: request, decodedBy: decoder) == 200_000)
  }

  // MARK: Codings

  @Test func `a gzip body is unpacked once, whatever its length field says of the packed form`() async throws {
    let text = String(repeating: "{\"name\":\"value\",\"n\":12345},", count: 1600)
    let packed = gzipped(Array(text.utf8))
    room.server.on("/gz", Reply(packed, ["Content-Encoding": "gzip", "Cache-Control": "max-age=3600"]))
    room.server.on("/df", Reply(deflated(Array(text.utf8)), ["Content-Encoding": "deflate"]))
    room.server.on("/raw", Reply(deflatedRaw(Array(text.utf8)), ["Content-Encoding": "deflate"]))
    let manager = try room.strictManager()
    for path in ["/gz", "/df", "/raw"] {
      #expect(try await manager.object(for: room.request(path), decodedBy: .text) == text)
    }
    #expect(room.server.requests("/gz").first?["Accept-Encoding"] == "gzip, deflate")
    let fromFile = try await room.manager().answer(for: room.request("/gz"), decodedBy: .text)
    #expect(fromFile.object == text && fromFile.source == .file)
  }

  @Test func `a packed stream that ends early fails and is not stored, though its length is as promised`() async throws
  {
    let packed = gzipped((0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
    room.server.on(
      "/cut", Reply(Array(packed.prefix(3000)), ["Content-Encoding": "gzip", "Cache-Control": "max-age=9"]))
    #expect(await failure { try await room.strictManager().data(for: room.request("/cut")) } != nil)
    #expect(room.entryFiles.isEmpty)
  }

  @Test func `an empty gzip body is an empty body`() async throws {
    room.server.on("/empty", Reply([UInt8](), ["Content-Encoding": "gzip"]))
    #expect(try await room.strictManager().data(for: room.request("/empty")).isEmpty)
  }

  @Test func `an archive sent without a coding stays packed, and one sent with it is unpacked once`() async throws {
    let archive = gzipped(Array("a tar, say".utf8))
    room.server.on(
      "/a.tar.gz", Reply(archive, ["Content-Type": "application/x-gzip", "Cache-Control": "max-age=3600"]))
    room.server.on("/b.tar.gz", Reply(gzipped(archive), ["Content-Encoding": "gzip", "Cache-Control": "max-age=3600"]))
    for _ in 0..<2 {
      let manager = try room.manager()
      #expect(try await manager.data(for: room.request("/a.tar.gz")) == Data(archive))
      #expect(try await manager.data(for: room.request("/b.tar.gz")) == Data(archive))
    }
    #expect(room.server.allHits == 2)
  }

  @Test func `who asks for a coding of its own gets the bytes as sent`() async throws {
    let packed = gzipped(Array("packed".utf8))
    room.server.on("/p", Reply(packed, ["Content-Encoding": "gzip"]))
    var request = room.request("/p")
    request.fields["Accept-Encoding"] = "gzip"
    #expect(try await room.strictManager().data(for: request) == Data(packed))
  }

  @Test func `honest bodies that shrink to a two-hundredth are delivered`() async throws {
    for count in [2 << 20, 20 << 10] {
      let json = Array(String(repeating: "[0,0,0,0,0,0,0,0],", count: count / 18).utf8)
      room.server.on("/j\(count)", Reply(gzipped(json, level: 9), ["Content-Encoding": "gzip"]))
      #expect(try await room.strictManager().data(for: room.request("/j\(count)")) == Data(json))
    }
  }

  // MARK: Redirects

  @Test func `every good form of redirect keeps host and port`() async throws {
    room.server.on("/new", Reply("new", hour))
    let port = room.server.port
    let targets = [
      "/new", "new", "//127.0.0.1:\(port)/new", "?v=2", "http://127.0.0.1:\(port)/new#part", "/with blank é",
    ]
    room.server.otherwise { request in
      if request.path.hasPrefix("/with%20blank") { return Reply("new", hour) }
      return Reply(404)
    }
    for (index, target) in targets.enumerated() {
      room.server.on("/old\(index)") { request in
        request.query == "v=2" ? Reply("new", hour) : .redirect(to: target, status: 301)
      }
    }
    let manager = try room.strictManager()
    for index in targets.indices {
      #expect(
        try await manager.object(for: room.request("/old\(index)"), decodedBy: .text) == "new", "\(targets[index])")
      _ = try await room.strictManager().object(for: room.request("/old\(index)"), decodedBy: .text)
      #expect(room.server.hits("/old\(index)") <= 2)
    }
  }

  @Test func `a redirect loop and a chain of sixty end in one error`() async throws {
    room.server.on("/x", .redirect(to: "/y"))
    room.server.on("/y", .redirect(to: "/x"))
    room.server.redirect("/chain", hops: 60, to: "/x")
    for path in ["/x", "/chain"] {
      let error = await failure { try await room.strictManager().data(for: room.request(path)) }
      #expect(error?.code == .tooManyRedirects)
    }
    #expect(room.entryFiles.isEmpty)
  }

  @Test func `secrets do not follow a redirect to another origin`() async throws {
    let other = try LoopbackServer()
    other.on("/there", Reply("there"))
    room.server.on("/here", .redirect(to: other.url("/there")))
    var request = room.request("/here")
    request.fields["Authorization"] = "Bearer secret"
    request.fields["X-Plain"] = "plain"
    #expect(try await room.strictManager().object(for: request, decodedBy: .text) == "there")
    #expect(room.server.requests("/here").first?["Authorization"] == "Bearer secret")
    #expect(other.requests("/there").first?["Authorization"] == nil)
    #expect(other.requests("/there").first?["X-Plain"] == "plain")
  }

  // MARK: Progress

  @Test func `no progress figure is ever negative, over-full or falling`() async throws {
    let body = Array(repeating: UInt8(5), count: 100_000)
    room.server.on("/chunked", Reply(body).chunked(10_000))
    room.server.on("/close", Reply(body).closeDelimited())
    room.server.on("/zero", Reply([UInt8]()))
    room.server.on("/gzip", Reply(gzipped(body), ["Content-Encoding": "gzip"]))
    room.server.on("/plain", Reply(body))
    for path in ["/chunked", "/close", "/zero", "/gzip", "/plain"] {
      let seen = Collector<LoadProgress>()
      let answer = try await room.strictManager().answer(for: room.request(path), decodedBy: .data) { seen.append($0) }
      #expect(answer.bytes == (path == "/zero" ? 0 : 100_000), "\(path)")
      let all = seen.elements
      #expect(all.allSatisfy { $0.receivedBytes >= 0 && ($0.expectedBytes ?? 0) >= 0 }, "\(path)")
      #expect(all.map(\.receivedBytes) == all.map(\.receivedBytes).sorted(), "\(path)")
      let fractions = all.compactMap(\.fraction)
      #expect(fractions == fractions.sorted() && fractions.allSatisfy { (0...1).contains($0) }, "\(path)")
      if path == "/plain" || path == "/gzip" { #expect(fractions.last == 1, "\(path)") }
    }
  }

  @Test func `a negative length is an answer that cannot be trusted, and reports no progress`() async throws {
    room.server.on("/minus", Reply("body").claiming(length: "-1").closing(announced: false))
    let seen = Collector<LoadProgress>()
    let error = await failure {
      try await room.strictManager().answer(for: room.request("/minus"), decodedBy: .data) { seen.append($0) }
    }
    #expect(error?.code == .transport && seen.elements.isEmpty)
  }

  // MARK: Files

  @Test func `a file is whole under its name or not there, with and without a cache`() async throws {
    let bytes = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 >> 5) }
    room.server.on("/f", Reply(bytes, hour))
    room.server.on("/cut", Reply(bytes, hour).cut(after: 1_500_000))
    for (index, manager) in [try room.strictManager(), room.memoryManager()].enumerated() {
      let target = room.folder.url.appending(path: "out\(index)")
      let answer = try await manager.file(for: room.request("/f"), at: target)
      #expect(answer.bytes == bytes.count)
      #expect(try room.folder.read("out\(index)") == bytes)
      let cut = room.folder.url.appending(path: "cut\(index)")
      #expect(await failure { try await manager.file(for: room.request("/cut"), at: cut) } != nil)
      #expect(!room.folder.contains("cut\(index)"))
    }
    #expect(room.folder.names.filter { !$0.hasPrefix("cache") } == ["out0", "out1"])
  }

  @Test func `an existing file is replaced only when asked`() async throws {
    room.server.on("/f", Reply("new", hour))
    try room.folder.write("out", "old")
    let target = room.folder.url.appending(path: "out")
    let manager = try room.strictManager()
    #expect(await failure { try await manager.file(for: room.request("/f"), at: target) }?.code == .outputExists)
    #expect(try room.folder.read("out") == Array("old".utf8))
    _ = try await manager.file(for: room.request("/f"), at: target, replacing: true)
    #expect(try room.folder.read("out") == Array("new".utf8))
  }

  @Test func `a file in a folder that is not there fails, and says which`() async throws {
    room.server.on("/f", Reply("x"))
    let target = room.folder.url.appending(path: "no/such/folder/out")
    let error = await failure { try await room.strictManager().file(for: room.request("/f"), at: target) }
    #expect(error?.code == .outputFailed && error?.message.contains("no/such/folder/out") == true)
  }
}
