import Foundation
import TestSupport

/// The nginx that serves the sets: HTTP/1.1, and HTTP/2 over TLS with a certificate made on the spot.
struct BenchmarkServer {
  private let server: RealServer
  private let tlsPort: Int
  /// The certificate, which is its own authority.
  let certificate: String

  var port: Int { server.port }

  /// - Parameters:
  ///   - root: what is served.
  ///   - folder: for the certificate.
  init(root: String, folder: String) throws {
    certificate = folder + "/certificate.pem"
    let key = folder + "/key.pem"
    _ = try ChildProcess(
      [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
        key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
      ], output: folder + "/openssl")
    tlsPort = try ClosedPort().port
    let location = "access_log off; gzip_static on; tcp_nopush on; sendfile_max_chunk 2m;"
    // The second server stands between the end of the first one's location and the end that the template writes.
    server = try RealServer(
      root: root, workers: 2,
      directives: """
        \(location) } }
        server {
          listen 127.0.0.1:\(tlsPort) ssl http2; root \(root);
          ssl_certificate \(certificate); ssl_certificate_key \(key);
          keepalive_requests 1000000; http2_max_concurrent_streams 128;
          location / { \(location)
        """)
  }

  func url(_ path: String, isSecure: Bool = false) -> String {
    isSecure ? "https://127.0.0.1:\(tlsPort)/\(path)" : "http://127.0.0.1:\(port)/\(path)"
  }

  func stop() { server.stop() }
}
