import CurlTransfer
import Foundation
import TestSupport
import Testing

/// TLS against `openssl s_server`, with a certificate made for the test.
@Suite(.enabled(if: SecureServer.isWanted)) struct TLSTests {
  private func request(_ server: SecureServer, host: String = "localhost") -> TransferRequest {
    var request = TransferRequest(
      url: "https://\(host):\(server.port)/", origin: TransferOrigin(scheme: "https", host: host, port: server.port))
    request.addresses = "127.0.0.1"
    return request
  }

  @Test func `a certificate of an authority that was named is trusted`() async throws {
    let server = try SecureServer()
    var request = request(server)
    request.certificateAuthorityFile = server.certificate
    let record = try await CurlEngine().run(request)
    #expect(record.status == 200 && record.bodyBytes > 0)
    #expect(try #require(record.facts).tls > .zero)
  }

  @Test func `a certificate of an authority unknown to the system is refused`() async throws {
    let server = try SecureServer()
    let record = try await CurlEngine().run(request(server))
    #expect(record.kind == .tls && record.heads.isEmpty)
    #expect(record.failure?.message.contains("certificate") == true)
  }

  @Test func `a certificate for another name is refused`() async throws {
    let server = try SecureServer()
    var request = request(server, host: "box.invalid")
    request.certificateAuthorityFile = server.certificate
    let record = try await CurlEngine().run(request)
    #expect(record.kind == .tls && record.failure?.message.contains("box.invalid") == true)
  }

  @Test func `no version of TLS before 1_2 is spoken`() async throws {
    let server = try SecureServer(options: ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
    var request = request(server)
    request.certificateAuthorityFile = server.certificate
    #expect(try await CurlEngine().run(request).kind == .tls)
  }
}

/// A TLS server of one process, which answers every GET with a page about the connection.
private final class SecureServer: Sendable {
  let port: Int
  let certificate: String
  private let folder: TemporaryFolder
  private let process: Process

  private static let binary = "/usr/bin/openssl"

  static var isWanted: Bool {
    FileManager.default.isExecutableFile(atPath: binary) || ProcessInfo.processInfo.environment["CI"] == "true"
  }

  init(options: [String] = []) throws {
    folder = try TemporaryFolder("tls")
    certificate = "\(folder.path)/certificate.pem"
    let key = "\(folder.path)/key.pem"
    let making = try Self.run([
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
      "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
    ]).process
    making.waitUntilExit()
    let (process, output) = try Self.run(
      ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www"] + options)
    self.process = process
    port = try Self.port(from: output)
  }

  deinit {
    // The child was born with the signals of its parent's thread blocked, and those of the pool block SIGTERM.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private static func run(_ arguments: [String]) throws -> (process: Process, output: FileHandle) {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(filePath: binary)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    return (process, pipe.fileHandleForReading)
  }

  /// It says where it listens: "ACCEPT 127.0.0.1:40123".
  private static func port(from output: FileHandle) throws -> Int {
    var text = ""
    while true {
      let bytes = output.availableData
      if bytes.isEmpty { throw SystemFault("openssl s_server", ENOENT) }
      text += String(decoding: bytes, as: UTF8.self)
      let line = text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1).first { $0.hasPrefix("ACCEPT ") }
      if let line, let port = line.split(separator: ":").last.flatMap({ Int($0) }) { return port }
    }
  }
}
