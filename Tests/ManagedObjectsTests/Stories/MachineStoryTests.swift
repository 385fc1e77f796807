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
  func `TLS without HTTP_2 does the same on a few connections`() async throws {
    let paths = try filesOfThisMachine(500)
    let certificates = try Certificates()
    let server = try RealServer(.nginx(root: "/", security: .init(certificates)))
    var options = CurlLoaderOptions()
    options.certificateAuthorityFile = certificates.authority
    _ = try await haul(paths, from: server, with: options)
    try await server.waitForReplies(paths.count)
    let replies = server.replies
    #expect(replies.allSatisfy { $0.version == "HTTP/1.1" })
    #expect(Set(replies.map(\.connection)).count <= Policy().limitTransfersPerHost)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx, .openssl)))
  func `a certificate of an authority that nobody knows is refused, and the error says why`() async throws {
    let server = try RealServer(.nginx(root: "/", security: .init(Certificates(), http2: true)))
    var policy = Policy()
    policy.retry.firstDelay = .milliseconds(1)
    let manager = ObjectManager(policy: policy)
    let error = await failure { try await manager.data(for: ObjectRequest(server.url("/etc/os-release"))) }
    #expect(error?.code == .transport && error?.message.contains("certificate") == true, "\(error as Any)")
    #expect(server.replies.isEmpty)
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
