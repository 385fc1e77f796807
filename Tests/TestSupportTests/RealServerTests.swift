import Testing

@testable import TestSupport

struct RealServerTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write("sub/a.txt", "hello")
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx)))
  func `nginx serves the files of a folder and logs it`() async throws {
    let server = try RealServer(.nginx(root: folder.path))
    let client = try RawClient(port: server.port)
    try client.get("/sub/a.txt", "Via: 1.1 somebody (else)")
    let reply = try client.receiveReply()
    #expect(reply.head.hasPrefix("HTTP/1.1 200 OK\r\nServer: nginx"))
    #expect(reply.head.contains("Content-Type: text/plain"))
    #expect(reply.body == Array("hello".utf8))
    try client.get("/missing")
    #expect(try client.receiveReply().head.hasPrefix("HTTP/1.1 404"))
    try await server.waitForReplies(2)
    let replies = server.replies
    #expect(replies[0].target == "/sub/a.txt" && replies[0].status == 200 && replies[0].bytes == 5)
    #expect(replies[0].via == "1.1 somebody (else)" && replies[1].via == nil)
    #expect(replies[0].connection == replies[1].connection && replies[0].connection != nil)
    #expect(server.hits("/sub/a.txt") == 1)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx)))
  func `several run side by side, and each ends with its stop`() throws {
    let servers = try (0..<3).map { _ in
      try RealServer(.nginx(root: folder.path, workers: 2, directives: "autoindex on;"))
    }
    #expect(Set(servers.map(\.port)).count == 3)
    for server in servers {
      server.stop()
      server.stop()
      #expect(throws: SystemFault.self) { try RawClient(port: server.port) }
    }
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx)))
  func `what nginx says against its configuration is told`() throws {
    let error = #expect(throws: (any Error).self) {
      try RealServer(.nginx(root: folder.path, directives: "nonsense;"))
    }
    #expect(error.map { "\($0)" }?.contains("unknown directive \"nonsense\"") == true)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx, .openssl)))
  func `nginx speaks TLS to those who ask for it`() throws {
    let server = try RealServer(.nginx(root: folder.path, security: .init(Certificates(), http2: true)))
    #expect(server.url("/a").hasPrefix("https://127.0.0.1:"))
    let client = try RawClient(port: server.port)
    try client.get("/sub/a.txt")
    #expect(try client.receiveHead().hasPrefix("HTTP/1.1 400"))
  }

  @Test(.enabled(if: DebianPackage.areWanted(.lighttpd)))
  func `lighttpd serves the same`() async throws {
    let server = try RealServer(.lighttpd(root: folder.path))
    let client = try RawClient(port: server.port)
    try client.get("/sub/a.txt")
    let reply = try client.receiveReply()
    #expect(reply.head.hasPrefix("HTTP/1.1 200 OK\r\n") && reply.head.contains("Server: lighttpd"))
    #expect(reply.body == Array("hello".utf8))
    server.stop()
    #expect(server.replies.map(\.target) == ["/sub/a.txt"] && server.replies[0].bytes == 5)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.caddy)))
  func `Caddy serves the same`() async throws {
    let server = try RealServer(.caddy(root: folder.path, directives: "header X-Own yes"))
    let client = try RawClient(port: server.port)
    try client.get("/sub/a.txt")
    let reply = try client.receiveReply()
    #expect(reply.head.hasPrefix("HTTP/1.1 200 OK\r\n") && reply.head.contains("Server: Caddy"))
    #expect(reply.head.contains("X-Own: yes") && reply.body == Array("hello".utf8))
    try await server.waitForReplies(1)
    #expect(server.replies.map(\.target) == ["/sub/a.txt"] && server.replies[0].bytes == 5)
    #expect(server.replies[0].method == "GET" && server.replies[0].status == 200)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.python3)))
  func `Python's server speaks HTTP_1_0 and closes`() async throws {
    let server = try RealServer(.python(root: folder.path))
    let client = try RawClient(port: server.port)
    try client.get("/sub/a.txt")
    let reply = String(decoding: try client.receiveToEnd(), as: UTF8.self)
    #expect(reply.hasPrefix("HTTP/1.0 200 OK\r\n") && reply.hasSuffix("\r\n\r\nhello"))
    try await server.waitForReplies(1)
    #expect(server.replies.map(\.target) == ["/sub/a.txt"] && server.replies[0].status == 200)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.tinyproxy, .nginx)))
  func `tinyproxy asks on behalf of its clients, and of those only who log in where it says so`() async throws {
    let server = try RealServer(.nginx(root: folder.path))
    for (login, field) in [(nil, "X-None: 0"), ("me secret", "Proxy-Authorization: Basic bWU6c2VjcmV0")] {
      let proxy = try RealServer(.tinyproxy(login: login))
      let client = try RawClient(port: proxy.port)
      try client.get(server.url("/sub/a.txt"), field)
      #expect(try client.receiveHead().contains(" 200 OK\r\n"))
      let stranger = try RawClient(port: proxy.port)
      try stranger.get(server.url("/sub/a.txt"))
      #expect(try stranger.receiveHead().contains(login == nil ? " 200 OK\r\n" : " 407 "))
    }
    try await server.waitForReplies(3)
    #expect(server.replies.map(\.via).allSatisfy { $0?.contains("tinyproxy") == true })
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx, .caddy, .lighttpd, .python3, .tinyproxy)))
  func `each starts again on its port, and goes with all it wrote when this process dies`() throws {
    let path = folder.path
    let programs: [ServerProgram] = [
      .nginx(root: path), .caddy(root: path), .lighttpd(root: path), .python(root: path), .tinyproxy(),
    ]
    for program in programs {
      let server = try RealServer(program)
      for _ in 0..<2 {
        server.stop()
        #expect(throws: SystemFault.self) { try RawClient(port: server.port) }
        try server.start()
        _ = try RawClient(port: server.port)
      }
      server.abandon()
      #expect(throws: SystemFault.self, "\(program.package)") { try RawClient(port: server.port) }
      #expect(!server.keepsFolder, "\(program.package)")
    }
  }
}
