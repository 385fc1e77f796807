import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Connections as real networks make and break them, seen from the front door.
struct TransportStoryTests {
  let room: StoryRoom

  init() throws { room = try StoryRoom() }

  private func manager(
    environment: [String: String] = [:], folder: URL? = nil, _ change: (inout CurlLoaderOptions) -> Void = { _ in }
  ) throws -> ObjectManager {
    var options = CurlLoaderOptions()
    change(&options)
    var policy = Policy()
    policy.retry = .never
    policy.failureMemory = .none
    return ObjectManager(
      loaders: [CurlLoader(options: options, environment: environment)],
      cache: try FileCache(folder: folder ?? room.cacheFolder), policy: policy)
  }

  // MARK: Connections that the server closes

  private func load(_ urls: [String], eightAtATimeWith manager: ObjectManager) async -> [String: ObjectError] {
    await withTaskGroup(of: (String, ObjectError?).self) { group in
      var errors: [String: ObjectError] = [:]
      for (index, url) in urls.enumerated() {
        if index >= 8, let (url, error) = await group.next() { errors[url] = error }
        group.addTask {
          (url, await failure { try await manager.object(for: ObjectRequest(url), decodedBy: .text) })
        }
      }
      for await (url, error) in group { errors[url] = error }
      return errors
    }
  }

  @Test func `a server that closes idle and used-up connections without a word costs no failure`() async throws {
    let server = room.server
    server.otherwise { Reply("body of \($0.path)") }
    let manager = try manager()
    for batch in 0..<5 {
      // Idle connections are gone before the next batch begins, or just as it does.
      server.rule = .init(limitRequests: 20, announces: false, limitIdle: .milliseconds(20))
      let urls = (0..<40).map { room.server.url("/\(batch)-\($0)") }
      #expect(await load(urls, eightAtATimeWith: manager).values.map(\.description) == [])
      if batch % 2 == 0 { try await server.wait(for: "the idle connections to close") { $0.connectionsOpen == 0 } }
    }
    #expect(server.log.hits.count == 200 && server.log.hits.values.allSatisfy { $0 <= 2 })
  }

  @Test func `a connection that is closed as the next request arrives costs no failure`() async throws {
    room.server.on("/a", Reply("a"))
    room.server.on("/b", .hangUp, .reset, Reply("b"))
    room.server.on("/c", .reset, Reply("c"))
    let manager = try manager()
    for (path, text) in [("/a", "a"), ("/c", "c")] {
      #expect(try await manager.object(for: room.request(path), decodedBy: .text) == text)
    }
    // Asked on a new connection, that end is an answer.
    let fresh = try self.manager(folder: room.folder.url.appending(path: "other"))
    #expect(await failure { try await fresh.object(for: room.request("/b"), decodedBy: .text) }?.code == .transport)
    #expect(room.server.hits("/c") == 2 && room.server.hits("/b") == 1)
  }

  // MARK: Timings

  private func finished(_ manager: ObjectManager, _ events: AsyncStream<ObjectEvent>) async -> [LoadTimings?] {
    manager.shutdown()
    var timings: [LoadTimings?] = []
    for await case .loadFinished(_, _, _, let measured) in events { timings.append(measured) }
    return timings
  }

  @Test func `the first load makes a connection and the next uses it, and both tell`() async throws {
    for path in ["/1", "/2"] { room.server.on(path, Reply("a", hour)) }
    let manager = try manager()
    let events = manager.events()
    for path in ["/1", "/2", "/1"] {
      _ = try await manager.object(for: room.request(path), decodedBy: .text)
    }
    let timings = await finished(manager, events)
    let first = try #require(timings.first ?? nil)
    let second = try #require(timings.dropFirst().first ?? nil)
    // The third was answered from memory, which is no load.
    #expect(timings.count == 2)
    #expect(first.connect != nil && first.tls == nil && !first.reusedConnection && first.queue != nil)
    #expect(second.resolve == nil && second.connect == nil && second.reusedConnection)
    for timings in [first, second] {
      #expect(timings.httpVersion == "1.1" && timings.remoteAddress == "127.0.0.1")
      #expect(timings.firstByte ?? .seconds(99) <= timings.total ?? .zero)
    }
  }

  @Test func `time in the queue is told apart from time on the wire`() async throws {
    let gate = Gate()
    room.server.on("/held", Reply("held").held(until: gate))
    room.server.on("/next", Reply("next"))
    var policy = Policy()
    policy.limitTransfers = 1
    let manager = ObjectManager(loaders: [CurlLoader()], policy: policy)
    async let held = manager.answer(for: room.request("/held"), decodedBy: .text)
    try await room.server.waitForHits("/held", 1)
    async let next = manager.answer(for: room.request("/next"), decodedBy: .text)
    try await until("the second waits for its slot") { manager.statistics.liveHandlers == 2 }
    gate.open()
    let (first, second) = try await (held, next)
    let waited = try #require(second.timings?.queue)
    let total = try #require(first.timings?.total)
    #expect(waited > .zero && waited <= total + .seconds(1))
    #expect(first.timings?.queue == .zero)
  }

  @Test func `an answer that was only confirmed is measured too, one from the file is not`() async throws {
    room.server.on(
      "/a", Reply(200, "a", ["ETag": "\"1\""]), Reply(304, ["ETag": "\"1\"", "Cache-Control": "max-age=60"]))
    let first = try await manager().answer(for: room.request("/a"), decodedBy: .text)
    let confirmed = try await manager().answer(for: room.request("/a"), decodedBy: .text)
    let stored = try await manager().answer(for: room.request("/a"), decodedBy: .text)
    #expect(first.timings != nil && confirmed.timings != nil && stored.timings == nil)
    #expect(confirmed.source == .revalidated && stored.source == .file)
  }

  // MARK: Proxies

  @Test(arguments: [
    ("127.0.0.1,localhost", ["localhost", "127.0.0.1"], ["box.corp"]),
    (" .corp , localhost ", ["box.corp", "localhost"], ["127.0.0.1"]),
    ("*", ["127.0.0.1", "localhost", "box.corp"], []),
    ("127.0.0.0/8", ["127.0.0.1"], ["localhost"]),
    ("[::1]", [], ["127.0.0.1", "localhost"]),
  ])
  func `excepted hosts never reach the proxy and all others do`(
    _ list: String, _ direct: [String], _ proxied: [String]
  ) async throws {
    room.server.on("/a", Reply("direct"))
    let proxy = try LoopbackServer()
    proxy.on("/a", Reply("by the proxy"))
    for name in ["no_proxy", "NO_PROXY"] {
      for host in direct + proxied {
        let manager = try manager(
          environment: ["http_proxy": proxy.origin, name: list],
          folder: room.folder.url.appending(path: "\(name)-\(host)")
        ) { $0.hostOverrides = ["box.corp": "127.0.0.1", "localhost": "127.0.0.1"] }
        let request = ObjectRequest("http://\(host):\(room.server.port)/a")
        let text = try await manager.object(for: request, decodedBy: .text)
        #expect(text == (direct.contains(host) ? "direct" : "by the proxy"), "\(host)")
      }
    }
  }

  @Test func `HTTP_PROXY in capitals is no proxy`() async throws {
    room.server.on("/a", Reply("direct"))
    let manager = try manager(environment: ["HTTP_PROXY": "http://127.0.0.1:1"])
    #expect(try await manager.object(for: room.request("/a"), decodedBy: .text) == "direct")
  }

  @Test func `a dead proxy is one clear error that names it and none of its secrets`() async throws {
    let closed = try ClosedPort()
    let manager = try manager(environment: ["http_proxy": "http://joe:hidden@127.0.0.1:\(closed.port)"])
    let error = try #require(await failure { try await manager.object(for: room.request("/a"), decodedBy: .text) })
    #expect(error.code == .transport && error.message.contains("http://127.0.0.1:\(closed.port)"))
    #expect(!"\(error) \(String(reflecting: error.underlying))".contains("hidden"))
    #expect(room.server.allHits == 0)
  }

  @Test func `what came by a proxy answers without it, and the origin never hears of the proxy's password`()
    async throws
  {
    room.server.on("/a", Reply("same", hour))
    room.server.on("/b", .redirect(to: room.server.url("/a")))
    let environment = ["http_proxy": "http://joe:hidden@127.0.0.1:\(room.server.port)"]
    let proxied = try await manager(environment: environment).object(for: room.request("/a"), decodedBy: .text)
    let answer = try await manager().answer(for: room.request("/a"), decodedBy: .text)
    #expect(proxied == "same" && answer.object == "same" && answer.source == .file)
    // A redirect to where no proxy is wanted.
    let partly = try manager(environment: environment.merging(["no_proxy": "localhost"]) { old, _ in old }) {
      $0.hostOverrides = ["localhost": "127.0.0.1"]
    }
    room.server.on("/c", .redirect(to: "http://localhost:\(room.server.port)/d"))
    room.server.on("/d", Reply("d"))
    #expect(try await partly.object(for: room.request("/c"), decodedBy: .text) == "d")
    #expect(room.server.requests("/c").first?["Proxy-Authorization"] != nil)
    #expect(room.server.requests("/d").first?["Proxy-Authorization"] == nil)
  }

  @Test func `a request's own Proxy-Authorization is refused`() async throws {
    var request = room.request("/a")
    request.fields["Proxy-Authorization"] = "Basic hidden"
    let error = await failure { [request] in try await manager().object(for: request, decodedBy: .text) }
    #expect(error?.code == .invalidRequest && error?.message.contains("hidden") == false && room.server.allHits == 0)
  }

  @Test func `the policy's secret fields stay with the origin, whoever made the loader`() async throws {
    let other = try LoopbackServer()
    other.on("/b", Reply("b"))
    room.server.on("/a", .redirect(to: other.url("/b")))
    var policy = Policy()
    policy.secretFields = ["X-Api-Key"]
    let manager = ObjectManager(loaders: [CurlLoader()], policy: policy)
    var request = room.request("/a")
    request.fields = ["X-Api-Key": "hidden", "Authorization": "hidden", "X-Open": "shown"]
    _ = try await manager.object(for: request, decodedBy: .text)
    let (first, second) = (try #require(room.server.requests.first), try #require(other.requests.first))
    #expect(first["X-Api-Key"] == "hidden" && second["X-Api-Key"] == nil)
    #expect(second["Authorization"] == nil && second["X-Open"] == "shown")
  }

  // MARK: Addresses

  @Test(arguments: ["http://127.0.0.1", "http://[::ffff:127.0.0.1]", "http://localhost", "http://box.invalid"])
  func `a server that is not public is refused where only public ones are allowed`(_ origin: String) async throws {
    let manager = try manager { options in
      options.addressPolicy = .publicOnly
      options.hostOverrides = ["box.invalid": "127.0.0.1"]
    }
    let request = ObjectRequest("\(origin):\(room.server.port)/a")
    let error = await failure { try await manager.object(for: request, decodedBy: .text) }
    #expect(error?.code == .refusedByPolicy && error?.message.contains("loopback") == true)
    #expect(room.server.connectionsOpened == 0)
  }

  @Test func `behind a proxy addresses in URLs and redirects are refused all the same`() async throws {
    room.server.on("/a", .redirect(to: "http://169.254.169.254/secrets"))
    room.server.on("/secrets", Reply("stolen"))
    let manager = try manager(environment: ["http_proxy": room.server.origin]) { $0.addressPolicy = .publicOnly }
    let error = await failure { try await manager.object(for: ObjectRequest("http://box.invalid/a"), decodedBy: .text) }
    #expect(error?.code == .refusedByPolicy && error?.message.contains("169.254.169.254") == true)
    #expect(room.server.hits("/secrets") == 0)
  }

  @Test func `a redirect to a name of this machine is refused`() async throws {
    room.server.on("/a", .redirect(to: "http://localhost:\(room.server.port)/b"))
    room.server.on("/b", Reply("stolen"))
    let manager = try manager(environment: ["http_proxy": room.server.origin]) { $0.addressPolicy = .publicOnly }
    let error = await failure { try await manager.object(for: ObjectRequest("http://box.invalid/a"), decodedBy: .text) }
    #expect(error?.code == .refusedByPolicy && room.server.hits("/b") == 0)
  }

  // MARK: Names

  @Test func `a name that has no address is told in words, and asked for again by the next request`() async throws {
    let manager = try manager()
    let request = ObjectRequest("http://box.invalid:\(room.server.port)/a")
    for _ in 0..<2 {
      let error = await failure { try await manager.object(for: request, decodedBy: .text) }
      #expect(error?.code == .transport && error?.message.contains("box.invalid") == true)
      #expect(error?.message.contains("name server") == true)
    }
    #expect(manager.statistics.loads == 2)
  }
}
