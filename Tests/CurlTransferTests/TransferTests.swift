import CurlTransfer
import TestSupport
import Testing

/// What comes in: heads, bodies, and how each way of ending them is told.
@Suite struct TransferTests {
  let engine = CurlEngine()
  let server: LoopbackServer

  init() throws { server = try LoopbackServer() }

  @Test func `a small body comes whole with its head and facts`() async throws {
    server.on("/a", Reply("hello", ["X-One": "1"]))
    let record = try await engine.run(server, "/a")
    #expect(record.heads.count == 1)
    #expect(record.heads[0].hasPrefix("HTTP/1.1 200 OK\r\n") && record.heads[0].hasSuffix("\r\n\r\n"))
    #expect(record.heads[0].contains("X-One: 1\r\n"))
    #expect(record.body == Array("hello".utf8))
    let facts = try #require(record.facts)
    #expect(facts.bodyBytes == 5 && facts.version == .http11 && !facts.reusedConnection)
    #expect(facts.address == "127.0.0.1" && facts.total > .zero && facts.firstByte <= facts.total)
    #expect(record.surprises.isEmpty && record.ends.count == 1)
  }

  @Test func `a second transfer uses the connection of the first`() async throws {
    server.on("/a", Reply("hello"))
    _ = try await engine.run(server, "/a")
    let second = try await engine.run(server, "/a")
    #expect(second.facts?.reusedConnection == true)
    #expect(server.connectionsOpened == 1)
  }

  @Test func `a server that closes used-up connections costs no failure`() async throws {
    server.rule = .init(limitRequests: 2, announces: false)
    server.on("/a", Reply("hello"))
    for _ in 0..<9 {
      let record = try await engine.run(server, "/a")
      #expect(record.facts != nil)
    }
    #expect(server.hits("/a") == 9)
  }

  @Test func `a body of many megabytes comes without loss`() async throws {
    let count = 20_000_000
    server.on("/a", Reply(200, body: .pattern(Pattern(seed: 1), count: count)))
    let record = try await engine.run(server, "/a")
    #expect(record.body == Pattern(seed: 1).bytes(count))
  }

  @Test func `chunks are put together`() async throws {
    server.on("/a", Reply("hello world").chunked(1, 2, 3))
    let record = try await engine.run(server, "/a")
    #expect(record.body == Array("hello world".utf8) && record.facts != nil)
  }

  @Test func `a body of HTTP 1_0 ends where the connection does`() async throws {
    server.on("/a", Reply("hello").closeDelimited(version: "HTTP/1.0"))
    let record = try await engine.run(server, "/a")
    #expect(record.body == Array("hello".utf8))
    #expect(record.facts?.version == .http10)
  }

  @Test func `a body shorter than its length is partial`() async throws {
    server.on("/a", Reply("hello world").cut(after: 5))
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .partial && record.failure?.code == 18)
    #expect(record.failure?.message == "127.0.0.1 closed the connection too early: 5 of 11 bytes came.")
    #expect(record.body == Array("hello".utf8))
  }

  @Test(arguments: [Chunking.Fault.missingEnd, .cut(afterChunks: 1)])
  func `chunks without their end are partial`(_ fault: Chunking.Fault) async throws {
    server.on("/a", Reply("hello world").chunked(4, fault: fault))
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .partial)
  }

  @Test(arguments: ["zz", "", "-5", "FFFFFFFFFFFFFFFFFFFF"])
  func `a chunk size that is no number is bad framing`(_ size: String) async throws {
    server.on("/a", Reply("hello world").chunked(4, fault: .sizeLine(chunk: 1, size)))
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .badFraming)
    #expect(record.failure?.message.hasPrefix("The answer of 127.0.0.1 is not HTTP: ") == true)
  }

  @Test(arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "<html>hello</html>", "HTTP/1.1 abc\r\n\r\n"])
  func `an answer that is not HTTP is bad framing`(_ text: String) async throws {
    server.on("/a", .raw(text).closing(announced: false))
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .badFraming)
    #expect(record.body.isEmpty)
  }

  @Test func `a body after an uninvited 101 is refused`() async throws {
    server.on("/a", .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhello").closing(announced: false))
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .badFraming)
    #expect(record.body.isEmpty)
  }

  @Test func `a connection that is reset in mid-body is told as such`() async throws {
    server.on("/a", Reply(200, body: .pattern(Pattern(), count: 100_000)).reset(after: 50_000))
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .reset)
    #expect(record.failure?.message.contains("127.0.0.1") == true)
  }

  @Test func `a server that hangs up without a byte is told as such`() async throws {
    server.on("/a", .hangUp)
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .noReply)
  }

  @Test func `each 1xx response is a block of its own`() async throws {
    server.on("/a", Reply("hello").interim(103, ["Link": "</s.css>"]).interim(102))
    let record = try await engine.run(server, "/a")
    #expect(record.heads.map { $0.prefix(12) } == ["HTTP/1.1 103", "HTTP/1.1 102", "HTTP/1.1 200"])
    #expect(record.heads[0].contains("Link: </s.css>\r\n\r\n") && !record.heads[2].contains("Link"))
    #expect(record.facts != nil)
  }

  @Test func `trailers without number end the transfer`() async throws {
    let trailers = String(repeating: "X-Sum: 0123456789\r\n", count: 20_000)
    server.on("/a", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\(trailers)\r\n"))
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .headTooLarge && record.body == Array("hello".utf8))
    #expect(record.failure?.message.contains("trailers") == true)
  }

  @Test func `trailers are not shown as a head`() async throws {
    server.on(
      "/a",
      .raw(
        """
        HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r
        5\r\nhello\r\n0\r\nX-Sum: 1\r\nHTTP/1.1 500 Bad\r\n\r\n
        """))
    let record = try await engine.run(server, "/a")
    #expect(record.heads.count == 1 && record.status == 200)
    #expect(record.body == Array("hello".utf8))
  }

  @Test func `a head larger than the limit ends the transfer`() async throws {
    server.on("/a", Reply("hello").padded(headBytes: 300_000))
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .headTooLarge)
    #expect(record.failure?.message == "The response head or trailers of 127.0.0.1 are larger than 262144 bytes.")
    #expect(record.heads.isEmpty && record.body.isEmpty)
  }

  @Test func `one endless line of a head ends the transfer`() async throws {
    server.on("/a", Reply("hello").padded(headBytes: 200_000, lineBytes: 200_000))
    let record = try await engine.run(server, "/a")
    #expect(record.kind == .headTooLarge)
  }

  @Test func `1xx responses without number end the transfer`() async throws {
    var reply = Reply("hello")
    for _ in 0..<1000 { reply = reply.interim(103, ["Link": "</s.css>; rel=preload"]) }
    server.on("/a", reply)
    var request = TransferRequest(server, "/a")
    request.limitHeadBytes = 16_384
    let record = try await engine.run(request)
    #expect(record.kind == .headTooLarge)
  }

  @Test func `a head just below the limit passes`() async throws {
    server.on("/a", Reply("hello").padded(headBytes: 200_000))
    let record = try await engine.run(server, "/a")
    #expect(record.facts != nil && record.heads.first?.utf8.count ?? 0 > 190_000)
  }

  @Test func `a body as coded by the server is left as it is`() async throws {
    let packed: [UInt8] = [0x1F, 0x8B, 1, 2, 3]
    server.on("/a", Reply(200, packed, ["Content-Encoding": "gzip"]))
    let record = try await engine.run(server, "/a")
    #expect(record.body == packed && record.facts != nil)
  }

  @Test(arguments: [204, 304])
  func `a status without a body ends at its head`(_ status: Int) async throws {
    server.on("/a", Reply(status, ["ETag": "\"1\""]))
    let record = try await engine.run(server, "/a")
    #expect(record.status == status && record.facts?.bodyBytes == 0)
  }

  @Test func `a redirect is delivered and not followed`() async throws {
    server.redirect("/a", to: "/b")
    let record = try await engine.run(server, "/a")
    #expect(record.status == 302 && server.hits("/b") == 0)
  }
}
