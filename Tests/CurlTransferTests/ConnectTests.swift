import Glibc
import TestSupport
import Testing

@testable import CurlTransfer

/// How a connection is made: broken IPv6, names that had no address, addresses that are not allowed.
@Suite struct ConnectTests {
  let server: LoopbackServer
  let engine = CurlEngine()

  init() throws {
    server = try LoopbackServer()
    server.on("/a", Reply("hello"))
  }

  private func request(_ path: String = "/a", at addresses: String?) -> TransferRequest {
    var request = TransferRequest(
      url: "http://box.invalid:\(server.port)\(path)",
      origin: TransferOrigin(scheme: "http", host: "box.invalid", port: server.port))
    request.addresses = addresses
    return request
  }

  @Test(.enabled(if: SilentListener.canBe)) func `an address that never accepts costs a moment, and once only`()
    async throws
  {
    let silent = try SilentListener(port: server.port)
    let first = try #require(try await engine.run(request(at: "[::1],127.0.0.1")).facts)
    #expect(first.address == "127.0.0.1" && first.total < .milliseconds(1500))
    for _ in 0..<10 {
      let later = try #require(try await engine.run(request(at: "[::1],127.0.0.1")).facts)
      #expect(later.reusedConnection)
    }
    #expect(server.connectionsOpened == 1)
    withExtendedLifetime(silent) {}
  }

  @Test func `a name that had no address is found as soon as it has one`() async throws {
    let clock = ContinuousClock()
    var failed = RecordingReceiver.Record()
    let took = try await clock.measure { failed = try await engine.run(request(at: nil)) }
    #expect(failed.kind == .resolve && took < .seconds(5))
    #expect(failed.failure?.message.contains("name server") == true)
    #expect(try await engine.run(request(at: "127.0.0.1")).facts != nil)
  }

  @Test func `only public addresses are connected to where that is asked for`() async throws {
    for addresses in ["127.0.0.1", "[::1],127.0.0.1"] {
      var request = request(at: addresses)
      request.isPublicOnly = true
      // An engine of its own: libcurl keeps the addresses that were given.
      let record = try await CurlEngine().run(request)
      #expect(record.kind == .addressRefused)
      let message = try #require(record.failure?.message)
      #expect(message.contains("box.invalid") && message.contains("loopback"))
    }
    #expect(server.connectionsOpened == 0)
  }

  @Test func `an address in the URL is judged like any other`() async throws {
    var request = TransferRequest(server, "/a")
    request.isPublicOnly = true
    #expect(try await engine.run(request).kind == .addressRefused)
    #expect(server.connectionsOpened == 0)
  }

  @Test func `the next transfer of a handle is free to go anywhere again`() async throws {
    var request = TransferRequest(server, "/a")
    request.isPublicOnly = true
    _ = try await engine.run(request)
    request.isPublicOnly = false
    #expect(try await engine.run(request).facts != nil)
  }

  @Test func `the address of a proxy is not judged`() async throws {
    var request = request(at: nil)
    request.proxy = TransferProxy(scheme: "http", host: "127.0.0.1", port: server.port)
    request.isPublicOnly = true
    #expect(try await engine.run(request).facts != nil)
  }

  @Test func `a server that speaks only HTTP_1 is asked so, also where HTTP_2 is forced and refused`() async throws {
    var request = request(at: "127.0.0.1")
    request.version = .http11
    #expect(try await engine.run(request).facts?.version == .http11)
    request.version = .http2PriorKnowledge
    // The server reads the preface of HTTP/2 as a request and answers with an error that is no HTTP/2.
    #expect(try await CurlEngine().run(request).failure != nil)
  }
}

/// Listens on ::1 and never accepts; its queue is full, so that nobody connects any more.
private final class SilentListener {
  private var descriptors: [Int32] = []

  /// Not every container has IPv6.
  static let canBe: Bool = {
    let listener = try? SilentListener(port: 0)
    return listener != nil
  }()

  init(port: Int) throws {
    let listener = try Self.open()
    descriptors = [listener]
    var one: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    guard Self.name(port, { bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
      throw SystemFault("bind [::1]:\(port)")
    }
    guard port > 0 else { return }
    // A queue of length 0 holds one; what comes further gets no answer.
    for _ in 0..<4 {
      let filler = try Self.open()
      descriptors.append(filler)
      _ = fcntl(filler, F_SETFL, O_NONBLOCK)
      _ = Self.name(port) { connect(filler, $0, $1) }
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  private static func open() throws -> Int32 {
    let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemFault("socket") }
    return descriptor
  }

  private static func name(_ port: Int, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var name = sockaddr_in6()
    name.sin6_family = sa_family_t(AF_INET6)
    name.sin6_port = UInt16(truncatingIfNeeded: port).bigEndian
    name.sin6_addr = in6addr_loopback
    return withUnsafePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(MemoryLayout<sockaddr_in6>.size)) }
    }
  }
}
