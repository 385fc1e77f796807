import ManagedObjects
import TestSupport
import Testing

@Suite struct LoopbackServerTests {
  @Test func `a path answers with its reply and all else with 404`() throws {
    let server = try LoopbackServer()
    server.on("/a", Reply("hello", ["Content-Type": "text/plain", "Set-Cookie": "a=1", "Set-Cookie": "b=2"]))
    server.date = .none
    let client = try RawClient(port: server.port)
    try client.get("/a?x=1")
    let reply = try client.receiveReply()
    #expect(
      reply.head
        == "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 5\r\n\r\n"
    )
    #expect(reply.body == Array("hello".utf8))
    try client.get("/b")
    #expect(try client.receiveReply().head.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
    #expect(server.hits("/a") == 1)
    #expect(server.allHits == 2)
    #expect(server.connectionsOpened == 1)
    #expect(server.requests[0].query == "x=1")
    #expect(server.url("/a") == "http://127.0.0.1:\(server.port)/a")
  }

  @Test func `successive hits get successive replies and the last one repeats`() throws {
    let server = try LoopbackServer()
    server.on("/a", Reply(503), Reply("good"))
    let client = try RawClient(port: server.port)
    var statuses: [String] = []
    for _ in 0..<3 {
      try client.get("/a")
      statuses.append(String(try client.receiveReply().head.prefix(12)))
    }
    #expect(statuses == ["HTTP/1.1 503", "HTTP/1.1 200", "HTTP/1.1 200"])
  }

  @Test func `a handler sees method, fields and body`() throws {
    let server = try LoopbackServer { request in
      Reply("\(request.method) \(request.target) \(request["x-a"] ?? "-") \(latinText(request.body))")
    }
    let client = try RawClient(port: server.port)
    try client.send("POST /p?q HTTP/1.1\r\nX-A:  1 \r\ncontent-length: 3\r\n\r\nab")
    try client.send("c")
    #expect(try client.receiveReply().body == Array("POST /p?q 1 abc".utf8))
    #expect(server.requests[0].fields.map(\.name) == ["X-A", "content-length"])
  }

  @Test func `pipelined requests are answered in order, also one byte at a time`() throws {
    let server = try LoopbackServer { Reply($0.path) }
    let client = try RawClient(port: server.port)
    let requests = ["/1", "/2", "/3"].map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
    try client.send(requests)
    for path in ["/1", "/2", "/3"] { #expect(try client.receiveReply().body == Array(path.utf8)) }
    for byte in requests.utf8 { try client.send([byte]) }
    for path in ["/1", "/2", "/3"] { #expect(try client.receiveReply().body == Array(path.utf8)) }
    #expect(server.connectionsOpened == 1)
  }

  @Test func `a held reply waits for its gate, others do not`() throws {
    let server = try LoopbackServer()
    let gate = Gate()
    server.on("/held", Reply("late").held(until: gate))
    server.on("/free", Reply("now"))
    let held = try RawClient(port: server.port)
    let free = try RawClient(port: server.port)
    try held.get("/held")
    try server.waitForHits("/held", 1)
    try free.get("/free")
    #expect(try free.receiveReply().body == Array("now".utf8))
    try server.wait(for: "one reply to end") { $0.finishedReplies == 1 }
    gate.open()
    #expect(try held.receiveReply().body == Array("late".utf8))
  }

  @Test func `a client that closes before the end of a reply is counted`() async throws {
    let server = try LoopbackServer()
    server.on("/never", .never)
    server.on("/endless", .endless())
    server.on("/stalled", Reply("12345").stalled(afterBytes: 2))
    for path in ["/never", "/endless", "/stalled"] {
      let client = try RawClient(port: server.port)
      try client.get(path)
      try await server.waitForHits(path, 1)
      client.close()
    }
    try await server.waitForAborted(3)
    #expect(server.connectionsOpen == 0)
  }

  @Test func `stop closes connections that hold replies and refuses new ones`() throws {
    let server = try LoopbackServer()
    server.on("/never", .never)
    let client = try RawClient(port: server.port)
    try client.get("/never")
    try server.waitForHits("/never", 1)
    server.stop()
    server.stop()
    #expect(try client.receive().isEmpty)
    #expect(throws: SystemFault.self) { try RawClient(port: server.port) }
    #expect(server.abortedReplies == 0)
  }

  @Test func `a chain of redirects leads to its target hop by hop`() throws {
    let server = try LoopbackServer()
    server.redirect("/r", hops: 3, to: "http://127.0.0.1:1/end", status: 307)
    let client = try RawClient(port: server.port)
    var places: [String] = []
    for path in ["/r", "/r/1", "/r/2"] {
      try client.get(path)
      let head = try client.receiveReply().head
      #expect(head.hasPrefix("HTTP/1.1 307 Temporary Redirect\r\n"))
      places += head.split(separator: "\r\n").filter { $0.hasPrefix("Location: ") }.map { String($0.dropFirst(10)) }
    }
    #expect(places == ["/r/1", "/r/2", "http://127.0.0.1:1/end"])
  }

  @Test func `the date is as set`() throws {
    let server = try LoopbackServer { _ in Reply("a") }
    let client = try RawClient(port: server.port)
    func head() throws -> String {
      try client.get("/")
      return try client.receiveReply().head
    }
    #expect(try head().contains(/Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/))
    server.date = .fixed("never")
    #expect(try head().contains("Date: never\r\n"))
    server.date = .none
    #expect(try head().contains("Date") == false)
    #expect(httpDate(WallTime(seconds: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(httpDate(WallTime(seconds: 951_782_400)) == "Tue, 29 Feb 2000 00:00:00 GMT")
  }

  @Test func `a wait that is in vain says for what, and a cancelled one ends`() async throws {
    let server = try LoopbackServer()
    await #expect(throws: TimedOut.self) { try await server.waitForHits("/a", 1, seconds: 0.01) }
    #expect(throws: TimedOut.self) { try server.waitForAborted(1, seconds: 0.01) }
    let waiting = Task { try await server.waitForHits("/a", 1) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test func `only the first requests are kept, all are counted`() throws {
    let server = try LoopbackServer(limitRecorded: 2)
    let client = try RawClient(port: server.port)
    for path in ["/1", "/2", "/3"] {
      try client.get(path)
      _ = try client.receiveReply()
    }
    #expect(server.requests.map(\.path) == ["/1", "/2"])
    #expect(server.allHits == 3)
    #expect(server.requests("/2").count == 1)
  }

  @Test func `a handler may use its server`() throws {
    let server = try LoopbackServer()
    server.otherwise { [weak server] in Reply("\(server?.hits($0.path) ?? -1)") }
    let client = try RawClient(port: server.port)
    for count in 1...2 {
      try client.get("/a")
      #expect(try client.receiveReply().body == Array("\(count)".utf8))
    }
  }

  @Test func `100 connections are served at once`() throws {
    let server = try LoopbackServer { Reply($0.path) }
    let clients = try (0..<100).map { _ in try RawClient(port: server.port) }
    for round in 0..<5 {
      for (number, client) in clients.enumerated() { try client.get("/\(round)/\(number)") }
      for (number, client) in clients.enumerated() {
        #expect(try client.receiveReply().body == Array("/\(round)/\(number)".utf8))
      }
    }
    #expect(server.connectionsOpened == 100)
    #expect(server.allHits == 500)
  }

  @Test func `a closed port refuses`() throws {
    let closed = try ClosedPort()
    #expect(throws: SystemFault.self) { try RawClient(port: closed.port) }
  }

  @Test func `a server that is let go of closes its port`() throws {
    var server: LoopbackServer? = try LoopbackServer()
    let port = try #require(server?.port)
    server = nil
    #expect(throws: SystemFault.self) { try RawClient(port: port) }
  }
}

func latinText(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
