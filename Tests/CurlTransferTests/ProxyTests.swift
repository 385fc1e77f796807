import TestSupport
import Testing

@testable import CurlTransfer

/// Transfers by a proxy: a scripted server that is asked with whole URLs.
@Suite struct ProxyTests {
  let server: LoopbackServer
  let engine = CurlEngine()

  init() throws {
    server = try LoopbackServer()
    server.on("/a", Reply("by the proxy"))
  }

  private func request(
    _ url: String, scheme: String = "http", port: Int = 80, by proxy: TransferProxy? = nil
  ) -> TransferRequest {
    var request = TransferRequest(
      url: url, origin: TransferOrigin(scheme: scheme, host: "box.invalid", port: port))
    request.proxy = proxy ?? TransferProxy(scheme: "http", host: "127.0.0.1", port: server.port)
    return request
  }

  @Test func `http is asked of the proxy with the whole URL, and the name is not looked up here`() async throws {
    let record = try await engine.run(request("http://box.invalid/a?b=c"))
    #expect(record.body == Array("by the proxy".utf8))
    let sent = try #require(server.requests.first)
    #expect(sent.target == "http://box.invalid/a?b=c" && sent["Host"] == "box.invalid")
    #expect(sent["Proxy-Authorization"] == nil)
  }

  @Test func `user and password go to the proxy`() async throws {
    var proxy = TransferProxy(scheme: "http", host: "127.0.0.1", port: server.port)
    proxy.user = "joe"
    proxy.password = "p:w@"
    _ = try await engine.run(request("http://box.invalid/a", by: proxy))
    // "joe:p:w@" in base 64.
    #expect(server.requests.first?["Proxy-Authorization"] == "Basic am9lOnA6d0A=")
  }

  @Test func `a transfer without a proxy follows one with it, and none of it is left`() async throws {
    var proxy = TransferProxy(scheme: "http", host: "127.0.0.1", port: server.port)
    proxy.user = "joe"
    proxy.password = "pw"
    _ = try await engine.run(request("http://box.invalid/a", by: proxy))
    #expect(try await engine.run(server, "/a").facts != nil)
    let direct = try #require(server.requests.last)
    #expect(direct.target == "/a" && direct["Proxy-Authorization"] == nil)
  }

  @Test func `https asks for a tunnel, and nothing of the request is told to the proxy`() async throws {
    server.otherwise { _ in Reply(403, "no") }
    var request = request("https://box.invalid/secret", scheme: "https", port: 443)
    request.fields.append("Authorization", "Bearer x")
    request.fields.append("X-Secret", "y")
    let record = try await engine.run(request)
    #expect(record.kind == .proxy && record.heads.isEmpty)
    #expect(record.failure?.message.contains("http://127.0.0.1:\(server.port)") == true)
    #expect(record.failure?.message.contains("403") == true)
    let sent = try #require(server.requests.first)
    #expect(sent.method == "CONNECT" && sent.target == "box.invalid:443")
    #expect(sent["Authorization"] == nil && sent["X-Secret"] == nil)
  }

  @Test func `a proxy that wants another password says so, and the message tells none`() async throws {
    server.otherwise { _ in Reply(407, "no", ["Proxy-Authenticate": "Basic realm=\"x\""]) }
    var proxy = TransferProxy(scheme: "http", host: "127.0.0.1", port: server.port)
    proxy.user = "joe"
    proxy.password = "hidden"
    let record = try await engine.run(request("https://box.invalid/", scheme: "https", port: 443, by: proxy))
    let message = try #require(record.failure?.message)
    #expect(record.kind == .proxy && message.contains("407"))
    #expect(!message.contains("joe") && !message.contains("hidden"))
  }

  @Test func `a dead proxy is named`() async throws {
    let closed = try ClosedPort()
    let dead = TransferProxy(scheme: "http", host: "127.0.0.1", port: closed.port)
    for (url, scheme, port) in [("http://box.invalid/a", "http", 80), ("https://box.invalid/a", "https", 443)] {
      let record = try await engine.run(request(url, scheme: scheme, port: port, by: dead))
      #expect(record.kind == .proxy)
      #expect(
        record.failure?.message
          == "The proxy http://127.0.0.1:\(closed.port) for box.invalid refused the connection: nobody listens there; "
          + "is it running?")
    }
  }

  @Test func `a proxy whose name has no address is named`() async throws {
    let lost = TransferProxy(scheme: "http", host: "proxy.invalid", port: 3128)
    let record = try await engine.run(request("http://box.invalid/a", by: lost))
    #expect(record.kind == .proxy && record.failure?.message.contains("http://proxy.invalid:3128") == true)
  }

  @Test func `a proxy shows no password in its description`() {
    let proxy = TransferProxy(scheme: "http", host: "p", port: 1, user: "joe", password: "hidden")
    #expect("\(proxy)" == "http://p:1")
    var dumped = ""
    dump(proxy, to: &dumped)
    #expect(!dumped.contains("hidden") && !dumped.contains("joe"))
  }
}
