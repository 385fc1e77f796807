/// One HTTP exchange, as libcurl is to make it. Nothing is added to `fields` but `Host` and the framing of the body.
package struct TransferRequest: Sendable {
  /// The exact text for libcurl: absolute, `http` or `https`, a path that is sent as it stands.
  package var url: String
  /// What the caller read from `url`; when libcurl reads anything else, the transfer fails before it begins.
  package var origin: TransferOrigin
  /// A token (RFC 9110 section 9.1); any other text fails the transfer.
  package var method = "GET"
  package var fields = TransferFields()
  /// nil: none. Sent with its length; POST, PUT and PATCH without one send a length of 0.
  package var body: [UInt8]?

  /// Until the connection stands, TLS included; the look-up of the name counts.
  package var connectTimeout = Duration.seconds(10)
  /// Without a byte of a body in either direction: libcurl counts no others, so that a head that trickles ends here too. It
  /// counts whole seconds; a fraction is rounded up.
  package var idleTimeout = Duration.seconds(60)
  /// From the start to the last byte; nil: none.
  package var totalTimeout: Duration?

  /// Bytes of all head blocks and the trailers together, status lines and 1xx blocks included. libcurl bounds one line by
  /// 100 KiB.
  package var limitHeadBytes = 256 << 10

  package var version = TransferVersion.automatic
  /// A PEM file that replaces the system's certificate authorities; nil: the system's.
  package var certificateAuthorityFile: String?
  /// Shown to a server that asks for one; nil: none.
  package var clientCertificate: TransferCertificate?
  /// nil: straight to the origin. The environment is never looked at here: whoever makes the request decides.
  package var proxy: TransferProxy?
  /// Addresses to connect to in place of what the name's look-up would give, as `127.0.0.1` or `[::1],127.0.0.1`.
  package var addresses: String?
  /// Refuses addresses that are not public (`AddressRule`) when a socket is opened, whatever name, redirect or look-up
  /// led there. The address of a proxy is not judged. All transfers of one engine should have the same: a connection
  /// that stands is used again without another look.
  package var isPublicOnly = false
  /// A connection is made for it, as always for a method that is not idempotent (`isIdempotent`).
  package var wantsNewConnection = false

  package init(url: String, origin: TransferOrigin) {
    self.url = url
    self.origin = origin
  }
}

extension TransferRequest {
  /// Asking twice does what asking once does (RFC 9110 section 9.2.2). Of methods that are not known nobody can tell.
  package var isIdempotent: Bool { ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method) }

  /// Whether all that libcurl is told of it holds for a next one too, but for URL and fields. No addresses: libcurl takes
  /// a list of those for one transfer.
  var leavesOptions: Bool { method == "GET" && body == nil && addresses == nil && !wantsNewConnection }

  /// Whether what libcurl was told of another request holds for this one, but for URL and fields.
  func hasOptions(of other: TransferRequest) -> Bool {
    leavesOptions && origin == other.origin && connectTimeout == other.connectTimeout
      && idleTimeout == other.idleTimeout && totalTimeout == other.totalTimeout && version == other.version
      && isPublicOnly == other.isPublicOnly && certificateAuthorityFile == other.certificateAuthorityFile
      && clientCertificate == other.clientCertificate && proxy == other.proxy
  }
}

/// Which HTTP is spoken.
package enum TransferVersion: Sendable {
  /// HTTP/2 where the server offers it by ALPN, else HTTP/1.1.
  case automatic
  case http11
  /// HTTP/2 from the first byte on, on plain connections too (RFC 9113 section 3.3).
  case http2PriorKnowledge
}

/// PEM files.
package struct TransferCertificate: Hashable, Sendable {
  package var file: String
  /// nil: the key stands in `file` too.
  package var keyFile: String?
  package var passphrase: String?

  package init(file: String, keyFile: String?, passphrase: String?) {
    self.file = file
    self.keyFile = keyFile
    self.passphrase = passphrase
  }
}

/// A proxy for HTTP: asked with the whole URL for http, to open a tunnel (CONNECT) for https.
package struct TransferProxy: Hashable, Sendable, CustomStringConvertible {
  /// `http`, or `https` for TLS to the proxy itself.
  package var scheme: String
  /// IPv6 in its brackets.
  package var host: String
  package var port: Int
  /// Both as they are, not percent-encoded. Sent to the proxy alone.
  package var user: String?
  package var password: String?

  package init(scheme: String, host: String, port: Int, user: String? = nil, password: String? = nil) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.user = user
    self.password = password
  }

  /// For messages: without user and password.
  package var description: String { "\(scheme)://\(host):\(port)" }
}

/// Scheme, host and port of a URL: whom a request is for.
package struct TransferOrigin: Hashable, Sendable {
  /// `http` or `https`, in lower case.
  package var scheme: String
  /// A name or address in lower case; IPv6 with or without its brackets.
  package var host: String
  package var port: Int

  package init(scheme: String, host: String, port: Int) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }
}

// What is printed, or looked at by `dump`, tells no secret.

extension TransferProxy: CustomReflectable {
  package var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }
}

extension TransferCertificate: CustomStringConvertible, CustomReflectable {
  package var description: String { file }
  package var customMirror: Mirror { Mirror(self, children: ["file": file]) }
}
