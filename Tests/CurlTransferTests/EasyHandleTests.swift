import TestSupport
import Testing

@testable import CurlTransfer

/// What goes out, and the clocks that watch over it.
@Suite struct EasyHandleTests {
  let engine = CurlEngine()
  let server: LoopbackServer

  init() throws {
    server = try LoopbackServer()
    server.on("/a", Reply("hello"))
  }

  @Test func `nothing is sent but the caller's fields and the host`() async throws {
    var request = TransferRequest(server, "/a")
    request.fields.append("X-One", "1")
    request.fields.append("X-Empty", "")
    request.fields.append("X-One", "2")
    _ = try await engine.run(request)
    let sent = try #require(server.requests.first)
    #expect(
      sent.fields.map { "\($0.name): \($0.value)" }.sorted() == [
        "Host: 127.0.0.1:\(server.port)", "X-Empty: ", "X-One: 1", "X-One: 2",
      ])
  }

  @Test func `no option of one request reaches the next on the same handle`() async throws {
    var first = TransferRequest(server, "/a")
    first.method = "POST"
    first.body = [1, 2, 3]
    first.fields.append("X-Secret", "1")
    _ = try await engine.run(first)
    _ = try await engine.run(server, "/a")
    let sent = try #require(server.requests.last)
    #expect(sent.method == "GET" && sent.body.isEmpty && sent["X-Secret"] == nil && sent["Content-Length"] == nil)
    #expect(sent.connection == 1)
  }

  @Test func `a request that is much like the last one is sent as it says, with the same options or others`()
    async throws
  {
    func ask(_ path: String, _ change: (inout TransferRequest) -> Void = { _ in }) async throws {
      var request = TransferRequest(server, "/a?" + path)
      change(&request)
      _ = try await engine.run(request)
    }
    try await ask("1")
    try await ask("2") { $0.fields.append("X-Own", "1") }
    try await ask("3")
    try await ask("4") { $0.url = "http://joe:pw@127.0.0.1:\(server.port)/a?4" }
    try await ask("5")
    try await ask("6") { $0.method = "HEAD" }
    try await ask("7") { $0.totalTimeout = .seconds(9) }
    try await ask("8") { $0.fields.append("X-Own", "2") }
    let sent = server.requests.map { "\($0.method) \($0.target) \($0["X-Own"] ?? "-") \($0["Authorization"] ?? "-")" }
    #expect(
      sent == [
        "GET /a?1 - -", "GET /a?2 1 -", "GET /a?3 - -", "GET /a?4 - Basic am9lOnB3", "GET /a?5 - -", "HEAD /a?6 - -",
        "GET /a?7 - -", "GET /a?8 2 -",
      ])
  }

  @Test func `what was set for one server is not left for another, whatever was refused in between`() {
    func request(_ scheme: String = "http", _ host: String = "a", _ port: Int = 80) -> TransferRequest {
      TransferRequest(url: "", origin: TransferOrigin(scheme: scheme, host: host, port: port))
    }
    let standing = request()
    #expect(request().hasOptions(of: standing))
    for other in [request("https"), request("http", "b"), request("http", "a", 81)] {
      #expect(!other.hasOptions(of: standing))
    }
  }

  @Test func `a time-out of one request is not that of the next like it`() async throws {
    server.on("/never", .never)
    for timeout in [Duration.milliseconds(300), .milliseconds(150)] {
      _ = try await engine.run(server, "/a")
      var request = TransferRequest(server, "/never")
      request.totalTimeout = timeout
      let record = try await engine.run(request)
      #expect(record.kind == .timedOut(.total))
      #expect(record.failure?.message.contains("\(timeout)") == true)
    }
    #expect(try await engine.run(server, "/a").facts != nil)
  }

  @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "REPORT"])
  func `a body goes with any method, with its length and no further fields`(_ method: String) async throws {
    var request = TransferRequest(server, "/a")
    request.method = method
    request.body = Array("a\0b\r\n".utf8)
    _ = try await engine.run(request)
    let sent = try #require(server.requests.first)
    #expect(sent.method == method && sent.body == Array("a\0b\r\n".utf8))
    #expect(sent["Content-Length"] == "5" && sent["Content-Type"] == nil && sent["Expect"] == nil)
  }

  @Test func `a large body waits for no permission`() async throws {
    var request = TransferRequest(server, "/a")
    request.method = "PUT"
    request.body = Pattern().bytes(3_000_000)
    _ = try await engine.run(request)
    #expect(server.requests.first?.body == request.body)
    #expect(server.requests.first?["Expect"] == nil)
  }

  @Test(
    arguments: [("POST", "0"), ("PUT", "0"), ("DELETE", nil), ("OPTIONS", nil), ("GET", nil)] as [(String, String?)])
  func `a method without a body says so where one is expected`(_ method: String, _ length: String?) async throws {
    var request = TransferRequest(server, "/a")
    request.method = method
    let record = try await engine.run(request)
    #expect(server.requests.first?.method == method && server.requests.first?["Content-Length"] == length)
    #expect(record.body == Array("hello".utf8))
  }

  @Test func `HEAD waits for no body and keeps the connection`() async throws {
    var request = TransferRequest(server, "/a")
    request.method = "HEAD"
    let record = try await engine.run(request)
    #expect(record.facts?.bodyBytes == 0 && record.heads.first?.contains("Content-Length: 5\r\n") == true)
    #expect(try await engine.run(server, "/a").facts?.reusedConnection == true)
  }

  @Test func `a path is sent as it stands`() async throws {
    server.otherwise { _ in Reply("found") }
    _ = try await engine.run(server, "/x/../y/./z//%2e%41?q=a+b&c=/../d")
    #expect(server.requests.first?.target == "/x/../y/./z//%2e%41?q=a+b&c=/../d")
  }

  @Test(arguments: ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rb", "a\0b"])
  func `a value that breaks its line is never sent`(_ value: String) async throws {
    var request = TransferRequest(server, "/a")
    request.fields.append("X-One", value)
    let record = try await engine.run(request)
    #expect(record.kind == .invalid && record.failure?.message.contains("X-One") == true)
    #expect(server.allHits == 0 && server.connectionsOpened == 0)
  }

  @Test(arguments: ["X One", "X:", "", "X\r\nY", "Ä"])
  func `a name that is no token is never sent`(_ name: String) async throws {
    var request = TransferRequest(server, "/a")
    request.fields.append(name, "1")
    #expect(try await engine.run(request).kind == .invalid)
    #expect(server.allHits == 0)
  }

  @Test(arguments: ["", "GET /evil HTTP/1.1\r\nX:", "G T"])
  func `a method that is no token is never sent`(_ method: String) async throws {
    var request = TransferRequest(server, "/a")
    request.method = method
    #expect(try await engine.run(request).kind == .invalid)
    #expect(server.allHits == 0)
  }

  @Test(arguments: ["Content-Length", "transfer-encoding", "EXPECT"])
  func `the caller has no say in the framing`(_ name: String) async throws {
    var request = TransferRequest(server, "/a")
    request.method = "POST"
    request.body = [1]
    request.fields.append(name, "chunked")
    _ = try await engine.run(request)
    let sent = try #require(server.requests.first)
    #expect(
      sent.body == [1] && sent["Content-Length"] == "1" && sent["Transfer-Encoding"] == nil && sent["Expect"] == nil)
  }

  @Test func `a user in the URL becomes the authorization field`() async throws {
    var request = TransferRequest(server, "/a")
    request.url = "http://joe:pw@127.0.0.1:\(server.port)/a"
    _ = try await engine.run(request)
    #expect(server.requests.first?["Authorization"] == "Basic am9lOnB3")
  }

  @Test func `a user in the URL is in no message`() async throws {
    let port = try ClosedPort()
    let record = try await engine.run(
      TransferRequest(
        url: "http://joe:secret@127.0.0.1:\(port.port)/",
        origin: TransferOrigin(scheme: "http", host: "127.0.0.1", port: port.port)))
    #expect(record.kind == .refused)
    let message = try #require(record.failure?.message)
    #expect(!message.contains("joe") && !message.contains("secret") && message.contains("\(port.port)"))
  }

  // MARK: Connections

  @Test(arguments: [("POST", 1), ("PATCH", 1), ("post", 1), ("PUT", 2), ("GET", 2)])
  func `a POST whose used connection closes without an answer reaches the server once`(
    _ method: String, _ times: Int
  ) async throws {
    server.on("/pay", .hangUp, Reply("paid"))
    _ = try await engine.run(server, "/a")
    var request = TransferRequest(server, "/pay")
    request.method = method
    let record = try await engine.run(request)
    #expect(server.hits("/pay") == times)
    #expect(times == 1 ? record.kind == .noReply : record.body == Array("paid".utf8))
    // Its connection serves others like any.
    server.on("/pay", Reply("paid"))
    _ = try await engine.run(request)
    #expect(try await engine.run(server, "/a").facts?.reusedConnection == true)
  }

  @Test func `a request that wants a new connection has one, and the next like it has any`() async throws {
    for (isNew, opened) in [(false, 1), (true, 2), (false, 2), (true, 3), (false, 3)] {
      var request = TransferRequest(server, "/a")
      request.wantsNewConnection = isNew
      #expect(try await engine.run(request).facts?.reusedConnection == (!isNew && opened > 1))
      #expect(server.connectionsOpened == opened)
    }
  }

  @Test func `a port where nobody listens refuses`() async throws {
    let port = try ClosedPort()
    let record = try await engine.run(
      TransferRequest(url: port.url("/"), origin: TransferOrigin(scheme: "http", host: "127.0.0.1", port: port.port)))
    #expect(record.kind == .refused && record.failure?.code == 7)
    #expect(record.failure?.message.hasPrefix("Connection refused by 127.0.0.1, port \(port.port)") == true)
  }

  @Test func `a name without an address is told by name`() async throws {
    let record = try await engine.run(
      TransferRequest(
        url: "http://box.invalid/", origin: TransferOrigin(scheme: "http", host: "box.invalid", port: 80)))
    #expect(record.kind == .resolve && record.failure?.message.contains("box.invalid") == true)
  }

  @Test func `a name goes to the address it is given, and the host is still the name`() async throws {
    var request = TransferRequest(
      url: "http://box.invalid:\(server.port)/a",
      origin: TransferOrigin(scheme: "http", host: "box.invalid", port: server.port))
    request.addresses = "127.0.0.1"
    #expect(try await engine.run(request).facts != nil)
    #expect(server.requests.first?["Host"] == "box.invalid:\(server.port)")
  }

  @Test func `an address that refuses gives way to the next at once`() async throws {
    var request = TransferRequest(
      url: "http://box.invalid:\(server.port)/a",
      origin: TransferOrigin(scheme: "http", host: "box.invalid", port: server.port))
    request.addresses = "[::1],127.0.0.1"
    let facts = try #require(try await engine.run(request).facts)
    #expect(facts.address == "127.0.0.1" && facts.total < .milliseconds(1500))
  }

  @Test func `authorities that cannot be read are a TLS failure and nothing is sent`() async throws {
    var request = TransferRequest(
      url: "https://127.0.0.1:\(server.port)/a",
      origin: TransferOrigin(scheme: "https", host: "127.0.0.1", port: server.port))
    request.certificateAuthorityFile = "/nowhere/authorities.pem"
    let record = try await engine.run(request)
    #expect(record.kind == .tls(.authorityFile) && record.failure?.message.contains("/nowhere/authorities.pem") == true)
    #expect(server.allHits == 0)
  }

  // MARK: Clocks

  @Test func `a server that never answers ends at the idle time-out`() async throws {
    server.on("/never", .never)
    var request = TransferRequest(server, "/never")
    request.idleTimeout = .milliseconds(300)
    let record = try await engine.run(request)
    #expect(record.kind == .timedOut(.idle) && record.heads.isEmpty)
    #expect(record.failure?.message == "127.0.0.1 sent nothing for 0.3 seconds.")
  }

  @Test func `a body that falls silent ends at the idle time-out`() async throws {
    server.on("/stalls", Reply(200, body: .pattern(Pattern(), count: 100_000)).stalled(afterBytes: 1000))
    var request = TransferRequest(server, "/stalls")
    request.idleTimeout = .seconds(1)
    let record = try await engine.run(request)
    #expect(record.kind == .timedOut(.idle) && record.bodyBytes == 1000)
  }

  @Test func `the total time-out ends a body that never does`() async throws {
    server.on("/endless", .endless())
    var request = TransferRequest(server, "/endless")
    request.totalTimeout = .seconds(1)
    let receiver = RecordingReceiver(keepsBody: false)
    engine.start(request, receiver)
    let record = try await receiver.finished()
    #expect(record.kind == .timedOut(.total), "\(String(describing: record.failure))")
    #expect(record.bodyBytes > 0)
  }
}
