import TestSupport
import Testing

/// What a client really sees on the wire.
@Suite struct MishapTests {
  /// Asks for the reply and leaves the rest to `look`.
  private func ask(_ reply: Reply, _ look: (RawClient, LoopbackServer) throws -> Void) throws {
    let server = try LoopbackServer()
    server.on("/a", reply)
    let client = try RawClient(port: server.port)
    try client.get("/a")
    try look(client, server)
  }

  @Test func `a cut reply ends in order after its bytes`() throws {
    try ask(Reply("hello").cut(after: 2)) { client, server throws in
      #expect(try client.receiveHead().contains("Content-Length: 5"))
      #expect(try client.receiveToEnd() == Array("he".utf8))
      client.close()
      try server.wait(for: "no connection") { $0.connectionsOpen == 0 }
      #expect(server.abortedReplies == 0)
    }
  }

  @Test(arguments: [0, 3, 200_000]) func `a reset comes after the bytes before it`(count: Int) throws {
    let pattern = Pattern()
    let reply = Reply(200, body: .pattern(pattern, count: 1_000_000)).reset(after: count)
    try ask(reply) { client, _ throws in
      _ = try client.receiveHead()
      #expect(try client.receive(count: count) == pattern.bytes(count))
      #expect(throws: SystemFault.self) { try client.receive() }
    }
  }

  @Test func `hanging up closes in order without a byte and resetting does not`() throws {
    try ask(.hangUp) { client, _ throws in #expect(try client.receiveToEnd() == []) }
    try ask(.reset) { client, _ throws in #expect(throws: SystemFault.self) { try client.receive() } }
  }

  @Test func `a body held inside comes in two parts`() throws {
    let gate = Gate()
    try ask(Reply("hello").held(until: gate, afterBytes: 3)) { client, server throws in
      _ = try client.receiveHead()
      #expect(try client.receive(count: 3) == Array("hel".utf8))
      #expect(server.log.finishedReplies == 0)
      gate.open()
      #expect(try client.receive(count: 2) == Array("lo".utf8))
    }
  }

  @Test func `a delayed and paced reply takes its time`() throws {
    let began = ContinuousClock.now
    try ask(Reply("hello").delayed(by: .milliseconds(20)).paced(bytes: 2, every: .milliseconds(10))) {
      client, _ throws in
      #expect(try client.receiveReply().body == Array("hello".utf8))
      #expect(.now - began >= .milliseconds(40))
    }
  }

  @Test func `a large body arrives whole`() throws {
    let pattern = Pattern(seed: 3)
    try ask(Reply(200, body: .pattern(pattern, count: 3_000_001))) { client, _ throws in
      #expect(try client.receiveReply().body == pattern.bytes(3_000_001))
    }
  }

  @Test func `connections close after so many requests, with or without a word`() throws {
    for announces in [true, false] {
      let server = try LoopbackServer { Reply($0.path) }
      server.rule = .init(limitRequests: 2, announces: announces)
      let client = try RawClient(port: server.port)
      try client.get("/1")
      #expect(try client.receiveReply().head.contains("Connection") == false)
      try client.get("/2")
      #expect(try client.receiveReply().head.contains("Connection: close") == announces)
      #expect(try client.receiveToEnd() == [])
    }
  }

  @Test func `an idle connection closes after its time, a busy one does not`() throws {
    let server = try LoopbackServer()
    server.rule = .init(limitIdle: .milliseconds(20))
    server.on("/held", .never)
    let idle = try RawClient(port: server.port)
    let busy = try RawClient(port: server.port)
    try busy.get("/held")
    try server.waitForHits("/held", 1)
    #expect(try idle.receiveToEnd() == [])
    try server.wait(for: "one connection") { $0.connectionsOpen == 1 && $0.connectionsOpened == 2 }
  }

  @Test func `a client that asks to close is obeyed`() throws {
    let server = try LoopbackServer { _ in Reply("a") }
    let client = try RawClient(port: server.port)
    try client.get("/", "Connection: close")
    #expect(try client.receiveReply().head.contains("Connection: close"))
    #expect(try client.receiveToEnd() == [])
  }

  @Test func `nonsense is answered with 400 and kept`() throws {
    let server = try LoopbackServer()
    let client = try RawClient(port: server.port)
    try client.send("what\r\n\r\n")
    #expect(try client.receiveHead().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    #expect(try client.receiveToEnd() == [])
    #expect(server.log.malformed == [Array("what\r\n\r\n".utf8)])
    #expect(server.allHits == 0)
  }

  @Test func `a client that expects 100 gets it before it sends its body`() throws {
    let server = try LoopbackServer { Reply($0.body) }
    let client = try RawClient(port: server.port)
    try client.send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    #expect(try client.receiveHead() == "HTTP/1.1 100 Continue\r\n\r\n")
    try client.send("hi")
    #expect(try client.receiveReply().body == Array("hi".utf8))
  }

  @Test func `a request that came just before the client closed counts`() throws {
    let server = try LoopbackServer()
    let client = try RawClient(port: server.port)
    try client.get("/a")
    client.close()
    try server.waitForHits("/a", 1)
    try server.wait(for: "no connection") { $0.connectionsOpen == 0 }
  }
}
