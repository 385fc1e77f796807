import TestSupport

/// The two nginx that serve the sets: HTTP/1.1, and HTTP/2 over TLS with a certificate made on the spot.
struct BenchmarkServer {
  private let plain: RealServer
  private let secure: RealServer
  private let certificates: Certificates

  /// A PEM file.
  var authorities: String { certificates.authority }
  /// Of the plain one.
  var port: Int { plain.port }

  /// - Parameter root: what is served.
  init(root: String) throws {
    certificates = try Certificates()
    // In pieces of at most 2 MiB, so that one large body does not keep a worker from the others.
    let directives = "access_log off; gzip_static on; tcp_nopush on; sendfile_max_chunk 2m;"
    plain = try RealServer(.nginx(root: root, workers: 2, directives: directives))
    secure = try RealServer(
      .nginx(root: root, workers: 2, directives: directives, security: .init(certificates, http2: true)))
  }

  func url(_ path: String, isSecure: Bool = false) -> String { (isSecure ? secure : plain).url("/" + path) }

  func stop() {
    plain.stop()
    secure.stop()
  }
}
