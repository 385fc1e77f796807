import TestSupport
import Testing

@Suite(.enabled(if: RealServer.isWanted)) struct RealServerTests {
  @Test func `nginx serves the files of a folder and logs it`() async throws {
    let folder = try TemporaryFolder()
    try folder.write("sub/a.txt", "hello")
    let server = try RealServer(root: folder.path)
    let client = try RawClient(port: server.port)
    try client.get("/sub/a.txt")
    let reply = try client.receiveReply()
    #expect(reply.head.hasPrefix("HTTP/1.1 200 OK\r\nServer: nginx"))
    #expect(reply.head.contains("Content-Type: text/plain"))
    #expect(reply.body == Array("hello".utf8))
    try client.get("/missing")
    #expect(try client.receiveReply().head.hasPrefix("HTTP/1.1 404"))
    try await server.waitForLog(2)
    #expect(server.accessLog[0] == "GET /sub/a.txt HTTP/1.1 200 5")
    #expect(server.hits("/sub/a.txt") == 1)
  }

  @Test func `several run side by side, and each ends with its stop`() throws {
    let folder = try TemporaryFolder()
    let servers = try (0..<3).map { _ in try RealServer(root: folder.path, workers: 2, directives: "autoindex on;") }
    #expect(Set(servers.map(\.port)).count == 3)
    for server in servers {
      server.stop()
      server.stop()
      #expect(throws: SystemFault.self) { try RawClient(port: server.port) }
    }
  }

  @Test func `what nginx says against its configuration is told`() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: (any Error).self) { try RealServer(root: folder.path, directives: "nonsense;") }
    #expect(error.map { "\($0)" }?.contains("unknown directive \"nonsense\"") == true)
  }
}
