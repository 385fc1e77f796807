import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Thousands of real files from real servers, byte for byte, and what those servers saw.
struct MachineStoryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("story") }

  typealias Meanwhile = (ObjectManager, _ arrived: Watched<Int>) async throws -> Void

  /// Fetches files through a manager of its own. Nothing may fail or differ, and no descriptor be left.
  /// - Parameter meanwhile: run beside it.
  private func haul(
    _ paths: [String], from server: RealServer, with loader: CurlLoaderOptions = CurlLoaderOptions(),
    caching: Bool = false, policy: Policy = Policy(), meanwhile: Meanwhile = { _, _ in }
  ) async throws -> Haul {
    let before = openDescriptors()
    let haul = try await haul(
      paths, from: server, meanwhile,
      ObjectManager(
        loaders: [CurlLoader(options: loader)],
        cache: caching ? FileCache(folder: folder.url.appending(path: "cache")) : nil, policy: policy))
    #expect(haul.faults.isEmpty, "\(haul.faults.count) of \(paths.count): \(haul.faults.prefix(3))")
    try await until("all descriptors to be closed") { openDescriptors() <= before }
    return haul
  }

  private func haul(
    _ paths: [String], from server: RealServer, _ meanwhile: Meanwhile, _ manager: consuming ObjectManager
  ) async throws -> Haul {
    let manager = manager
    let arrived = Watched(0)
    async let coming = Haul(paths, through: manager, counting: arrived) { server.url(MachineFiles.target($0)) }
    try await meanwhile(manager, arrived)
    let haul = await coming
    await manager.settle()
    return haul
  }

  private static let patient: Policy = {
    var policy = Policy()
    policy.retry.limitTries = 20
    policy.retry.firstDelay = .milliseconds(20)
    policy.retry.limitDelay = .milliseconds(500)
    return policy
  }()

  // MARK: nginx

  @Test(.enabled(if: DebianPackage.areWanted(.nginx)))
  func `ten thousand files come byte for byte, in bounded memory, and are kept`() async throws {
    let paths = try filesOfThisMachine(10_000)
    let server = try RealServer(.nginx(root: "/", directives: "add_header Cache-Control max-age=3600;"))
    var policy = Policy()
    policy.limitMemoryCost = 16 << 20
    let first = try await haul(paths, from: server, caching: true, policy: policy)
    #expect(first.sources == [.network: paths.count])
    try await server.waitForReplies(paths.count)
    #expect(server.log.count == paths.count)
    if !isSanitized { #expect(first.ownMemoryBytes < 64 << 20, "of \(first.bytes) bytes") }
    let again = Array(paths.prefix(1000))
    let second = try await haul(again, from: server, caching: true, policy: policy)
    #expect(second.sources == [.file: again.count])
    #expect(server.log.count == paths.count)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx)))
  func `files whose freshness has expired are confirmed by 304`() async throws {
    let paths = try filesOfThisMachine(500)
    let server = try RealServer(.nginx(root: "/", directives: "expires -1;"))
    _ = try await haul(paths, from: server, caching: true)
    let second = try await haul(paths, from: server, caching: true)
    #expect(second.sources == [.revalidated: paths.count])
    try await server.waitForReplies(2 * paths.count)
    let replies = server.replies
    #expect(replies.count { $0.status == 200 } == paths.count && replies.count { $0.status == 304 } == paths.count)
    #expect(replies.allSatisfy { $0.status == 200 || $0.bytes == 0 })
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx)))
  func `what nginx packs is unpacked to the same bytes`() async throws {
    let paths = try filesOfThisMachine(1000)
    let server = try RealServer(
      .nginx(root: "/", directives: "gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;"))
    _ = try await haul(paths, from: server, caching: true)
    try await server.waitForReplies(paths.count)
    let replies = server.replies
    #expect(replies.count { $0.coding == "gzip" } > paths.count / 2)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx)))
  func `a server that dies and comes back costs time and no object`() async throws {
    let paths = try filesOfThisMachine(2000)
    let server = try RealServer(.nginx(root: "/", directives: "limit_rate 2m;"))
    let haul = try await haul(paths, from: server, policy: Self.patient) { manager, arrived in
      for part in 1...2 {
        try await arrived.wait(for: "a part of the files", seconds: 60) { $0 >= part * paths.count / 4 }
        server.stop()
        let retries = manager.statistics.retries
        try await until("somebody to notice") { manager.statistics.retries >= retries + 8 }
        try server.start()
      }
    }
    #expect(haul.sources == [.network: paths.count])
  }

  // MARK: TLS

  @Test(.enabled(if: DebianPackage.areWanted(.nginx, .openssl)))
  func `HTTP_2 over TLS brings thousands of files on one connection`() async throws {
    let paths = try filesOfThisMachine(shortOrLong(3000, 10_000))
    let certificates = try Certificates()
    let server = try RealServer(.nginx(root: "/", security: .init(certificates, http2: true)))
    var options = CurlLoaderOptions()
    options.certificateAuthorityFile = certificates.authority
    let haul = try await haul(paths, from: server, with: options)
    #expect(haul.sources == [.network: paths.count])
    try await server.waitForReplies(paths.count)
    let replies = server.replies
    #expect(replies.count == paths.count && replies.allSatisfy { $0.version == "HTTP/2.0" })
    #expect(Set(replies.map(\.connection)).count == 1)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx, .openssl)))
  func `a server that asks for a certificate serves those who have one, on a few connections`() async throws {
    let paths = try filesOfThisMachine(500)
    let certificates = try Certificates()
    let server = try RealServer(.nginx(root: "/", security: .init(certificates, wantsClient: true)))
    var options = CurlLoaderOptions()
    options.certificateAuthorityFile = certificates.authority
    options.clientCertificate = ClientCertificate(
      certificateFile: certificates.client, keyFile: certificates.clientKey)
    _ = try await haul(paths, from: server, with: options)
    try await server.waitForReplies(paths.count)
    let replies = server.replies
    #expect(replies.count == paths.count && replies.allSatisfy { $0.version == "HTTP/1.1" })
    #expect(Set(replies.map(\.connection)).count <= Policy().limitTransfersPerHost)
  }

  // MARK: A proxy

  @Test(.enabled(if: DebianPackage.areWanted(.nginx, .tinyproxy)))
  func `a proxy brings the same bytes, and all come by it`() async throws {
    let paths = try filesOfThisMachine(shortOrLong(3000, 10_000))
    let server = try RealServer(.nginx(root: "/"))
    let proxy = try RealServer(.tinyproxy(login: "me secret"))
    var options = CurlLoaderOptions()
    options.proxy = .url("http://me:secret@127.0.0.1:\(proxy.port)")
    let haul = try await haul(paths, from: server, with: options)
    #expect(haul.sources == [.network: paths.count])
    try await server.waitForReplies(paths.count)
    let replies = server.replies
    #expect(replies.count == paths.count && replies.allSatisfy { $0.via?.contains("tinyproxy") == true })
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx, .openssl, .tinyproxy)))
  func `HTTP_2 in a proxy's tunnel brings the same bytes on one connection`() async throws {
    let paths = try filesOfThisMachine(500)
    let certificates = try Certificates()
    let server = try RealServer(.nginx(root: "/", security: .init(certificates, http2: true)))
    let proxy = try RealServer(.tinyproxy())
    var options = CurlLoaderOptions()
    options.certificateAuthorityFile = certificates.authority
    options.proxy = .url("http://127.0.0.1:\(proxy.port)")
    _ = try await haul(paths, from: server, with: options)
    try await server.waitForReplies(paths.count)
    let replies = server.replies
    #expect(replies.allSatisfy { $0.version == "HTTP/2.0" } && Set(replies.map(\.connection)).count == 1)
    #expect(proxy.log.count { $0.contains("CONNECT 127.0.0.1:\(server.port) ") } == 1)
  }

  // MARK: Others

  @Test(.enabled(if: DebianPackage.areWanted(.lighttpd)))
  func `lighttpd serves the same bytes`() async throws {
    let paths = try filesOfThisMachine(500)
    let server = try RealServer(.lighttpd(root: "/"))
    _ = try await haul(paths, from: server)
    let again = try await haul(paths, from: server, caching: true)
    #expect(again.sources == [.network: paths.count])
    server.stop()
    #expect(server.replies.count { $0.status == 200 } == 2 * paths.count)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.python3)))
  func `Python's server, which speaks HTTP_1_0 and closes after each reply, serves the same bytes`() async throws {
    let paths = try filesOfThisMachine(500)
    let server = try RealServer(.python(root: "/"))
    _ = try await haul(paths, from: server, caching: true)
    try await server.waitForReplies(paths.count)
    #expect(server.replies.count { $0.status == 200 } == paths.count)
  }
}
