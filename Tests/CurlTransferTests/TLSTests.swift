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
    #expect(record.kind == .tls(.unknownAuthority) && record.heads.isEmpty)
    #expect(record.failure?.message.contains("certificate") == true)
  }

  /// A signature in the name of a system's authority, and not its own: whoever finds that authority sees so, whoever does
  /// not find it knows of none.
  @Test(.enabled(if: SystemAuthority.path != nil))
  func `authorities that are named replace the system's, those in its folder too`() async throws {
    let server = try SecureServer(inTheNameOf: SystemAuthority.path)
    var request = request(server)
    let bySystem = try await CurlEngine().run(request)
    #expect(bySystem.failure != nil && bySystem.kind != .tls(.unknownAuthority))
    request.certificateAuthorityFile = server.otherAuthority
    #expect(try await CurlEngine().run(request).kind == .tls(.unknownAuthority))
  }

  @Test func `a certificate for another name is refused`() async throws {
    let server = try SecureServer()
    var request = request(server, host: "box.invalid")
    request.certificateAuthorityFile = server.certificate
    let record = try await CurlEngine().run(request)
    #expect(record.kind == .tls(.wrongName) && record.failure?.message.contains("box.invalid") == true)
  }

  @Test func `a certificate that has expired is refused, and the message says what to do`() async throws {
    let server = try SecureServer(days: -1)
    var request = request(server)
    request.certificateAuthorityFile = server.certificate
    let record = try await CurlEngine().run(request)
    #expect(record.kind == .tls(.expired))
    #expect(record.failure?.message.contains("renew") == true)
  }

  @Test func `a certificate of our own is shown to a server that asks for it`() async throws {
    let server = try SecureServer(verifiesClients: true)
    var request = request(server)
    request.certificateAuthorityFile = server.certificate
    let without = try await CurlEngine().run(request)
    #expect(without.kind == .tls(.clientCertificate))
    request.clientCertificate = TransferCertificate(
      file: server.certificate, keyFile: server.key, passphrase: nil)
    #expect(try await CurlEngine().run(request).status == 200)
  }

  @Test func `a key is opened by its passphrase, and without it nothing is asked on the terminal`() async throws {
    let server = try SecureServer(verifiesClients: true)
    let locked = try server.lockedKey(passphrase: "open sesame")
    var request = request(server)
    request.certificateAuthorityFile = server.certificate
    for (passphrase, isGood) in [("open sesame", true), ("wrong", false), (nil, false)] {
      request.clientCertificate = TransferCertificate(
        file: server.certificate, keyFile: locked, passphrase: passphrase)
      let record = try await CurlEngine().run(request)
      #expect(isGood ? record.status == 200 : record.kind == .tls(.clientCertificate))
      #expect(record.failure?.message.contains("sesame") != true)
    }
  }

  @Test func `a certificate file that is not there is named`() async throws {
    let server = try SecureServer()
    var request = request(server)
    request.certificateAuthorityFile = server.certificate
    request.clientCertificate = TransferCertificate(file: "/nowhere/own.pem", keyFile: nil, passphrase: nil)
    let record = try await CurlEngine().run(request)
    #expect(record.kind == .tls(.clientCertificate))
    #expect(record.failure?.message.contains("/nowhere/own.pem") == true)
  }

  @Test func `no version of TLS before 1_2 is spoken`() async throws {
    let server = try SecureServer(options: ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
    var request = request(server)
    request.certificateAuthorityFile = server.certificate
    #expect(try await CurlEngine().run(request).kind == .tls(.handshake))
  }
}

/// One that is found in the folder in which Debian's libcurl looks, and that signs by RSA as `SecureServer` does.
private enum SystemAuthority {
  static let path: String? = {
    let folder = "/etc/ssl/certs"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().map { "\(folder)/\($0)" }.first { path in
      path.hasSuffix(".0") && (try? SecureServer.text(of: path))?.contains("rsaEncryption") == true
    }
  }()
}

/// A TLS server of one process, which answers every GET with a page about the connection.
private final class SecureServer: Sendable {
  let port: Int
  let certificate: String
  let key: String
  /// Signs itself, and nothing else; only where the certificate is issued in another's name.
  let otherAuthority: String
  private let folder: TemporaryFolder
  private let process: Process

  private static let binary = "/usr/bin/openssl"

  static var isWanted: Bool {
    FileManager.default.isExecutableFile(atPath: binary) || ProcessInfo.processInfo.environment["CI"] == "true"
  }

  /// - Parameters:
  ///   - days: of validity, from now on; negative: it has expired.
  ///   - verifiesClients: only clients with this very certificate are served.
  ///   - authority: its name is given as the issuer's; nil: the certificate signs itself.
  init(
    days: Int = 2, verifiesClients: Bool = false, inTheNameOf authority: String? = nil, options: [String] = []
  ) throws {
    folder = try TemporaryFolder("tls")
    certificate = "\(folder.path)/certificate.pem"
    key = "\(folder.path)/key.pem"
    try Self.make([
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
      "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
    ])
    // Only this command dates a certificate back.
    if days < 0 {
      try Self.make(["x509", "-in", certificate, "-signkey", key, "-days", String(days), "-out", certificate])
    }
    otherAuthority = "\(folder.path)/other.pem"
    if let authority {
      try FileManager.default.copyItem(atPath: certificate, toPath: otherAuthority)
      try Self.issue(certificate, key, inTheNameOf: authority, in: folder.path)
    }
    var options = options
    if verifiesClients { options += ["-Verify", "1", "-verify_return_error", "-CAfile", certificate] }
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

  /// Puts one for the same key in the place of the certificate, signed by an authority that has only the name.
  private static func issue(
    _ certificate: String, _ key: String, inTheNameOf authority: String, in folder: String
  ) throws {
    let (signer, signerKey, request) = ("\(folder)/signer.pem", "\(folder)/signer.key", "\(folder)/request.pem")
    try make(["genrsa", "-out", signerKey, "2048"])
    try make(["x509", "-in", authority, "-signkey", signerKey, "-days", "2", "-out", signer])
    try make(["x509", "-x509toreq", "-in", certificate, "-signkey", key, "-copy_extensions", "copy", "-out", request])
    try make([
      "x509", "-req", "-in", request, "-CA", signer, "-CAkey", signerKey, "-days", "2", "-copy_extensions", "copy",
      "-out", certificate,
    ])
  }

  /// A certificate in words.
  static func text(of certificate: String) throws -> String {
    let output = try run(["x509", "-in", certificate, "-noout", "-text"]).output
    return String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
  }

  /// The key once more, behind a passphrase. Returns its path.
  func lockedKey(passphrase: String) throws -> String {
    let path = "\(folder.path)/locked.pem"
    try Self.make(["ec", "-in", key, "-aes256", "-passout", "pass:\(passphrase)", "-out", path])
    return path
  }

  private static func make(_ arguments: [String]) throws { try run(arguments).process.waitUntilExit() }

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
