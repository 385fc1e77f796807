import CurlTransfer
import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Loads over loopback, written down where a `LoadSink` would be.
@Suite struct CurlLoaderTests {
  let server: LoopbackServer
  let loader = CurlLoader()

  init() throws {
    server = try LoopbackServer()
    server.on("/a", Reply(200, "hello", ["X-One": "1"]))
  }

  private func load(
    _ path: String, by loader: CurlLoader? = nil, _ change: (inout LoadRequest) -> Void = { _ in }
  ) async throws -> RecordingTarget.Record {
    var request = LoadRequest(location: path.hasPrefix("/") ? server.url(path) : path)
    change(&request)
    let target = RecordingTarget()
    _ = (loader ?? self.loader).start(request, for: target)
    return try await target.finished()
  }

  @Test(arguments: [("http://a/", true), ("HTTPS://a/", true), ("file:///a", false), ("s3://a/b", false), ("a", false)])
  func `it accepts http and https`(_ text: String, _ accepts: Bool) throws {
    #expect(loader.accepts(try #require(URL(string: text))) == accepts)
  }

  @Test func `head, bytes and end go to the target in their order`() async throws {
    let record = try await load("/a")
    #expect(record.heads.map(\.status) == [200] && record.heads[0].fields["x-one"] == "1")
    #expect(record.heads[0].reason == "OK")
    #expect(record.body == Array("hello".utf8))
    #expect(record.calls == ["head", "append", "finish"])
  }

  @Test func `1xx responses go to the target as interim heads`() async throws {
    server.on("/early", Reply(200, "hello").interim(103, ["Link": "</s.css>"]))
    let record = try await load("/early")
    #expect(record.interims.map(\.status) == [103] && record.interims[0].fields["Link"] == "</s.css>")
    #expect(record.heads.map(\.status) == [200])
  }

  @Test(arguments: [404, 500, 304, 300])
  func `any status is an answer`(_ status: Int) async throws {
    server.on("/status", Reply(status))
    let record = try await load("/status")
    #expect(record.heads.map(\.status) == [status] && record.end == nil && record.calls.last == "finish")
  }

  // MARK: What is sent

  @Test func `the caller's fields are sent, with a user agent of our own`() async throws {
    _ = try await load("/a") { $0.fields = ["X-One": "1", "X-\u{E4}": "no", "X-Two": "\u{E4}"] }
    // The name that is no token makes the whole request invalid.
    #expect(server.allHits == 0)
    _ = try await load("/a") { $0.fields = ["X-One": "1", "X-One": "2", "X-Two": "\u{E4}"] }
    let sent = try #require(server.requests.first)
    #expect(sent.values(of: "X-One") == ["1", "2"] && sent["X-Two"] == "\u{E4}")
    #expect(sent["User-Agent"] == "ManagedObjects/0.1" && sent["Accept"] == "*/*")
    #expect(sent["Cookie"] == nil && sent["Accept-Encoding"] == nil)
  }

  @Test func `the caller's user agent and accept replace ours`() async throws {
    _ = try await load("/a") { $0.fields = ["user-agent": "me", "accept": "text/plain"] }
    let sent = try #require(server.requests.first)
    #expect(sent.values(of: "User-Agent") == ["me"] && sent.values(of: "Accept") == ["text/plain"])
  }

  @Test func `a field that cannot be sent fails the load and sends nothing`() async throws {
    let record = try await load("/a") { $0.fields = ["X-One": "1\r\nX-Evil: 1"] }
    #expect(record.code == .invalidRequest && record.end?.message.contains("X-One") == true)
    #expect(server.connectionsOpened == 0)
  }

  @Test func `method and body are sent`() async throws {
    let record = try await load("/a") { request in
      request.method = "PUT"
      request.body = Data([1, 2, 3])
    }
    #expect(record.body == Array("hello".utf8))
    #expect(server.requests.first?.method == "PUT" && server.requests.first?.body == [1, 2, 3])
  }

  @Test func `HEAD gives a head and no bytes`() async throws {
    let record = try await load("/a") { $0.method = "HEAD" }
    #expect(record.heads.first?.fields["Content-Length"] == "5")
    #expect(record.calls == ["head", "finish"])
  }

  @Test(arguments: ["http:///x", "http://ex.com\\@evil/", "nothing", "http://a b/"])
  func `a location that is no URL fails before anything is sent`(_ location: String) async throws {
    let record = try await load(location)
    #expect(record.code == .invalidURL && record.calls == ["fail"])
  }

  @Test func `a location of another scheme is told as such`() async throws {
    #expect(try await load("ftp://example.com/x").code == .unsupportedScheme)
  }

  @Test(arguments: [["box.invalid": "127.0.0.1"], ["Box.Invalid": "127.0.0.1"]])
  func `a host can be given an address, in any spelling`(_ overrides: [String: String]) async throws {
    var options = CurlLoaderOptions()
    options.hostOverrides = overrides
    let record = try await load("http://BOX.invalid:\(server.port)/a", by: CurlLoader(options: options))
    #expect(record.body == Array("hello".utf8))
  }

  // MARK: Redirects

  @Test(arguments: ["/a", "a", "//127.0.0.1:PORT/a", "http://127.0.0.1:PORT/a#part", "?v=2"])
  func `each form of Location leads to its target, port kept`(_ location: String) async throws {
    server.on("/old", Reply.redirect(to: location.replacing("PORT", with: "\(server.port)")), Reply(200, "hello"))
    let record = try await load("/old")
    #expect(record.heads.map(\.status) == [200] && record.body == Array("hello".utf8))
    #expect(record.calls == ["head", "append", "finish"] && server.allHits == 2)
  }

  @Test func `the body of a redirect is dropped and its connection used again`() async throws {
    server.on("/old", Reply(302, "go there", ["Location": "/a"]))
    let record = try await load("/old")
    #expect(record.body == Array("hello".utf8) && server.connectionsOpened == 1)
  }

  @Test func `a redirect with an endless body, or with a broken one, still leads on`() async throws {
    var endless = Reply.endless(["Location": "/a"])
    endless.status = 302
    server.on("/endless", endless)
    server.on("/broken", Reply(302, "go there", ["Location": "/a"]).cut(after: 2))
    #expect(try await load("/endless").body == Array("hello".utf8))
    #expect(try await load("/broken").body == Array("hello".utf8))
  }

  @Test func `ten redirects are followed and eleven are not`() async throws {
    server.redirect("/ten", hops: 10, to: "/a")
    server.redirect("/eleven", hops: 11, to: "/a")
    #expect(try await load("/ten").body == Array("hello".utf8))
    let record = try await load("/eleven")
    #expect(record.code == .tooManyRedirects && record.calls == ["fail"])
  }

  @Test func `a loop of redirects ends`() async throws {
    server.redirect("/x", to: "/y")
    server.redirect("/y", to: "/x")
    #expect(try await load("/x").code == .tooManyRedirects)
    #expect(server.allHits == 11)
  }

  @Test func `secrets stay with their origin`() async throws {
    let other = try LoopbackServer(address: "127.0.0.2")
    other.on("/a", Reply(200, "other"))
    server.on("/old", .redirect(to: other.url("/a")))
    server.redirect("/same", to: "/a")
    var options = CurlLoaderOptions()
    options.secretFields = ["X-Key"]
    let fields: HeaderFields = ["Authorization": "x", "Cookie": "y", "x-key": "z", "X-Open": "o"]
    let loader = CurlLoader(options: options)
    #expect(try await load("/old", by: loader) { $0.fields = fields }.body == Array("other".utf8))
    let sent = try #require(other.requests.first)
    #expect(sent["Authorization"] == nil && sent["Cookie"] == nil && sent["X-Key"] == nil && sent["X-Open"] == "o")
    _ = try await load("/same", by: loader) { $0.fields = fields }
    let kept = try #require(server.requests("/a").first)
    #expect(kept["Authorization"] == "x" && kept["Cookie"] == "y" && kept["X-Key"] == "z")
  }

  @Test(arguments: ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/"])
  func `a redirect never leaves http`(_ location: String) async throws {
    server.redirect("/old", to: location)
    let record = try await load("/old")
    #expect(record.code == .unsupportedScheme && record.calls == ["fail"])
  }

  @Test func `a redirect is the answer where the request says so`() async throws {
    server.redirect("/old", to: "/a")
    let record = try await load("/old") { $0.redirectMode = .manual }
    #expect(record.heads.map(\.status) == [302] && record.calls.last == "finish" && server.hits("/a") == 0)
  }

  @Test func `a redirect is a failure where the request says so`() async throws {
    server.redirect("/old", to: "/a")
    let record = try await load("/old") { $0.redirectMode = .refuse }
    #expect(record.code == .refusedByPolicy && record.end?.head?.status == 302 && server.hits("/a") == 0)
    #expect(try await load("/a") { $0.redirectMode = .refuse }.body == Array("hello".utf8))
  }

  @Test func `a form that was posted is fetched after 303, and posted again after 307`() async throws {
    server.redirect("/see", to: "/a", status: 303)
    server.redirect("/again", to: "/a", status: 307)
    for path in ["/see", "/again"] {
      _ = try await load(path) { request in
        request.method = "POST"
        request.body = Data([1, 2])
      }
    }
    let sent = server.requests("/a")
    #expect(sent.map(\.method) == ["GET", "POST"] && sent.map(\.body) == [[], [1, 2]])
  }

  // MARK: Failures

  @Test func `a refused connection says so`() async throws {
    let record = try await load(try ClosedPort().url("/x"))
    #expect(record.code == .transport && record.end?.message.hasPrefix("Connection refused by 127.0.0.1") == true)
    #expect(record.calls == ["fail"])
  }

  @Test func `a body that is cut is of the wrong length, and its head is known`() async throws {
    server.on("/cut", Reply(200, "hello world").cut(after: 5))
    let record = try await load("/cut")
    #expect(record.code == .wrongLength && record.end?.head?.status == 200)
    #expect(record.calls.last == "fail" && !record.calls.contains("finish"))
  }

  @Test func `a server that never answers times out`() async throws {
    server.on("/never", .never)
    var options = CurlLoaderOptions()
    options.idleTimeout = .seconds(1)
    let record = try await load("/never", by: CurlLoader(options: options))
    #expect(record.code == .timedOut && record.end?.message.contains("idleTimeout") == true)
  }

  @Test func `a head over the limit is too large`() async throws {
    server.on("/big", Reply(200, "hello").padded(headBytes: 20_000))
    var options = CurlLoaderOptions()
    options.limitHeadBytes = 10_000
    #expect(try await load("/big", by: CurlLoader(options: options)).code == .tooLarge)
  }

  @Test func `what is asked again is asked on a new connection, since all that are open may be stale`() async throws {
    let gate = Gate()
    server.on("/held", Reply("held").held(until: gate))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { _ = try await load("/held") } }
      try await server.waitForHits("/held", 8)
      gate.open()
      try await group.waitForAll()
    }
    // libcurl goes through six of them by itself.
    server.on("/h", sequence: [Reply](repeating: .hangUp, count: 6) + [Reply("x")])
    let record = try await load("/h") { $0.method = "HEAD" }
    #expect(record.heads.map(\.status) == [200])
    #expect(server.hits("/h") == 7 && server.requests("/h").last?.connection == 9)
  }

  @Test func `a form that may have been taken is not posted again`() async throws {
    server.on("/pay", .hangUp, Reply("paid"))
    _ = try await load("/a")
    let record = try await load("/pay") { $0.method = "POST" }
    #expect(record.code == .transport && server.hits("/pay") == 1)
  }

  // MARK: Stopping and holding back

  @Test func `a stop ends the load as left, once`() async throws {
    server.on("/never", .never)
    let target = RecordingTarget()
    let stop = loader.start(LoadRequest(location: server.url("/never")), for: target)
    try await server.waitForHits("/never", 1)
    stop.stop()
    stop.stop()
    let record = try await target.finished()
    #expect(record.end?.reason == .left && record.calls == ["fail"])
    try await server.waitForAborted(1)
  }

  @Test func `a stop between two redirects ends the load`() async throws {
    server.on("/spin", Reply.redirect(to: "/spin"))
    var options = CurlLoaderOptions()
    options.limitRedirects = .max
    let loader = CurlLoader(options: options)
    for _ in 0..<20 {
      let hits = server.hits("/spin")
      let target = RecordingTarget()
      let stop = loader.start(LoadRequest(location: server.url("/spin")), for: target)
      try await server.waitForHits("/spin", hits + 3)
      stop.stop()
      #expect(try await target.finished().end?.reason == .left)
    }
  }

  @Test func `a target that is no longer wanted stops the transfer`() async throws {
    server.on("/endless", .endless())
    let target = RecordingTarget(isWanted: { $0.body.count < 500_000 })
    _ = loader.start(LoadRequest(location: server.url("/endless")), for: target)
    let record = try await target.finished()
    #expect(record.calls.last == "fail" && record.end?.reason == .left)
    try await server.waitForAborted(1)
  }

  @Test func `a full target holds the transfer back and loses nothing`() async throws {
    server.on("/big", Reply(200, body: .pattern(Pattern(seed: 3), count: 1_000_000)))
    let target = RecordingTarget(isFull: true)
    _ = loader.start(LoadRequest(location: server.url("/big")), for: target)
    while target.record.value.isOpen {
      try await target.record.wait(for: "a pause") { $0.waiter != nil || !$0.isOpen }
      target.drain()
    }
    let record = target.record.value
    #expect(record.body == Pattern(seed: 3).bytes(1_000_000) && record.calls.last == "finish")
  }

  @Test func `a loader that is let go ends its loads as closed`() async throws {
    server.on("/never", .never)
    let target = RecordingTarget()
    do {
      let loader = CurlLoader()
      _ = loader.start(LoadRequest(location: server.url("/never")), for: target)
      try await server.waitForHits("/never", 1)
    }
    #expect(try await target.finished().end?.reason == .closed)
  }

  @Test func `nothing is held after the end`() async throws {
    var target: RecordingTarget? = RecordingTarget()
    let held = Held(target)
    let stop = try #require(target.map { loader.start(LoadRequest(location: server.url("/a")), for: $0) })
    _ = try await target?.finished()
    target = nil
    try await until("the target is gone") { held.value == nil }
    stop.stop()
  }
}

/// Looks whether somebody still holds an object.
private struct Held: Sendable {
  weak let value: RecordingTarget?
  init(_ value: RecordingTarget?) { self.value = value }
}
