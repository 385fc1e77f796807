import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// TLS, HTTP/2 and tunnels, with the servers that people run.
@Suite(.serialized, .enabled(if: DebianPackage.areWanted(.nginx, .openssl)))
struct SecureStoryTests {
  let folder: TemporaryFolder
  let certificates: Certificates

  init() throws {
    folder = try TemporaryFolder("secure")
    certificates = try Certificates()
    for index in 0..<200 { try folder.write("www/\(index).txt", "body of \(index)") }
  }

  private var root: String { folder.path("www") }

  private func server(http2: Bool = true, wantsClient: Bool = false, directives: String = "") throws -> RealServer {
    let security = ServerProgram.Security(certificates, http2: http2, wantsClient: wantsClient)
    return try RealServer(.nginx(root: root, directives: directives, security: security))
  }

  private func manager(
    environment: [String: String] = [:], transfers: Int = 64, _ change: (inout CurlLoaderOptions) -> Void = { _ in }
  ) -> ObjectManager {
    var options = CurlLoaderOptions()
    options.certificateAuthorityFile = certificates.authority
    change(&options)
    var policy = Policy()
    policy.retry = .never
    policy.failureMemory = .none
    policy.limitTransfersPerHost = transfers
    policy.freshness = .ttl(.zero)
    return ObjectManager(loaders: [CurlLoader(options: options, environment: environment)], policy: policy)
  }

  private typealias Result = Swift.Result<Answer<String>, ObjectError>

  private func load(_ server: RealServer, _ indices: Range<Int>, _ manager: ObjectManager) async -> [Int: Result] {
    await withTaskGroup(of: (Int, Result).self) { group in
      for index in indices {
        group.addTask {
          let request = ObjectRequest(server.url("/\(index).txt"))
          do throws(ObjectError) {
            return (index, .success(try await manager.answer(for: request, decodedBy: .text)))
          } catch { return (index, .failure(error)) }
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
  }

  private func expectGood(_ results: [Int: Result], _ count: Int) {
    #expect(results.count == count)
    for (index, result) in results {
      switch result {
      case .success(let answer): #expect(answer.object == "body of \(index)")
      case .failure(let error): Issue.record("\(index): \(error)")
      }
    }
  }

  // MARK: HTTP/2

  @Test func `one HTTP_2 connection carries many loads at once`() async throws {
    let server = try server()
    let results = await load(server, 0..<64, manager())
    expectGood(results, 64)
    try await server.waitForReplies(64)
    #expect(Set(server.replies.map(\.connection)).count == 1)
    #expect(server.replies.allSatisfy { $0.version == "HTTP/2.0" })
    let timings = results.values.compactMap { try? $0.get().timings }
    #expect(timings.count == 64 && timings.allSatisfy { $0.httpVersion == "2" })
    // One made the connection, with TLS; the others found it.
    #expect(timings.count { $0.tls != nil } == 1 && timings.count { $0.reusedConnection } == 63)
  }

  @Test func `HTTP_1 is spoken where the server or the caller wants it`() async throws {
    let old = try server(http2: false)
    let new = try server()
    for (server, version) in [(old, HTTPVersionChoice.automatic), (new, .http1)] {
      let manager = manager { $0.httpVersion = version }
      let answer = try await manager.answer(for: ObjectRequest(server.url("/1.txt")), decodedBy: .text)
      #expect(answer.timings?.httpVersion == "1.1" && answer.timings?.tls != nil)
    }
  }

  @Test func `a connection that the server winds up costs no failure`() async throws {
    // GOAWAY after every 20 streams (nginx closes a location here to speak of the whole server).
    let server = try server(directives: "} keepalive_requests 20; location /unused {")
    expectGood(await load(server, 0..<200, manager()), 200)
    try await server.waitForReplies(200)
    #expect(Set(server.replies.map(\.connection)).count >= 10)
    #expect(server.replies.allSatisfy { $0.version == "HTTP/2.0" })
  }

  @Test(.enabled(if: DebianPackage.areWanted(.caddy)))
  func `HTTP_2 is spoken without TLS where it is promised, and only there`() async throws {
    let server = try RealServer(.caddy(root: root))
    let promised = await load(server, 0..<64, manager { $0.httpVersion = .http2PriorKnowledge })
    expectGood(promised, 64)
    let timings = promised.values.compactMap { try? $0.get().timings }
    #expect(timings.count == 64 && timings.allSatisfy { $0.httpVersion == "2" && $0.tls == nil })
    let plain = await load(server, 0..<1, manager())
    #expect(try plain[0]?.get().timings?.httpVersion == "1.1")
  }

  @Test(arguments: [true, false]) func `a server that was started anew costs no failure`(_ http2: Bool) async throws {
    let server = try server(http2: http2)
    let manager = manager()
    for round in 0..<3 {
      expectGood(await load(server, 0..<8, manager), 8)
      guard round < 2 else { break }
      server.stop()
      try server.start()
    }
  }

  // MARK: Certificates

  private func refusal(_ url: String, _ manager: ObjectManager) async throws -> ObjectError {
    try #require(await failure { try await manager.object(for: ObjectRequest(url), decodedBy: .text) })
  }

  @Test func `an authority that nobody named is not trusted, and the error says where to name it`() async throws {
    let server = try server()
    let error = try await refusal(server.url("/1.txt"), manager { $0.certificateAuthorityFile = nil })
    #expect(error.code == .tls && error.message.contains("certificateAuthorityFile"))
    #expect(server.replies.isEmpty)
  }

  @Test func `a certificate for another name is not trusted`() async throws {
    let server = try server()
    let error = try await refusal(
      "https://box.invalid:\(server.port)/1.txt", manager { $0.hostOverrides = ["box.invalid": "127.0.0.1"] })
    #expect(error.code == .tls && error.message.contains("box.invalid") && error.message.contains("another name"))
  }

  @Test func `a file of authorities that is not there is named`() async throws {
    let server = try server()
    let error = try await refusal(server.url("/1.txt"), manager { $0.certificateAuthorityFile = "/nowhere.pem" })
    #expect(error.code == .tls && error.message.contains("/nowhere.pem"))
    #expect(server.replies.isEmpty)
  }

  @Test func `a client's certificate opens a server that asks for it`() async throws {
    let server = try server(wantsClient: true)
    let url = server.url("/1.txt")
    #expect(try await refusal(url, manager()).head?.status == 400)
    let own = ClientCertificate(certificateFile: certificates.client, keyFile: certificates.clientKey)
    let manager = manager { $0.clientCertificate = own }
    #expect(try await manager.object(for: ObjectRequest(url), decodedBy: .text) == "body of 1")
    let lost = self.manager { $0.clientCertificate = ClientCertificate(certificateFile: "/nowhere.pem") }
    let error = try await refusal(url, lost)
    #expect(error.code == .tls && error.message.contains("clientCertificate") && error.message.contains("/nowhere.pem"))
  }

  // MARK: Proxies

  @Test(.enabled(if: DebianPackage.areWanted(.tinyproxy)))
  func `https goes through a tunnel of the proxy, http through the proxy itself`() async throws {
    let secure = try server()
    let plain = try RealServer(.nginx(root: root))
    let proxy = try RealServer(.tinyproxy(login: "joe hidden"))
    let address = "http://joe:hidden@127.0.0.1:\(proxy.port)"
    let manager = manager(environment: ["http_proxy": address, "HTTPS_PROXY": address])
    for server in [secure, plain] {
      let text = try await manager.object(for: ObjectRequest(server.url("/1.txt")), decodedBy: .text)
      #expect(text == "body of 1")
      try await server.waitForReplies(1)
    }
    #expect(plain.replies.first?.via?.contains("tinyproxy") == true)
    #expect(secure.replies.first?.via == nil && secure.replies.first?.version == "HTTP/2.0")
    #expect(proxy.log.contains { $0.contains("CONNECT") })
  }

  @Test(.enabled(if: DebianPackage.areWanted(.tinyproxy)))
  func `a proxy that wants another password is one clear error`() async throws {
    let server = try server()
    let proxy = try RealServer(.tinyproxy(login: "joe secret"))
    let manager = manager { $0.proxy = .url("http://joe:hidden@127.0.0.1:\(proxy.port)") }
    let error = try await refusal(server.url("/1.txt"), manager)
    #expect(
      error.message.contains("127.0.0.1:\(proxy.port)") && error.message.contains("407")
        || error.message.contains("401"))
    #expect(!error.message.contains("hidden") && server.replies.isEmpty)
  }
}
