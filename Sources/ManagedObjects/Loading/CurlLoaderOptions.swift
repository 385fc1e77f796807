/// How `CurlLoader` loads.
public struct CurlLoaderOptions: Sendable {
  /// Until the connection stands, look-up of the name and TLS included. Default: 10 s.
  public var connectTimeout = Duration.seconds(10)
  /// Without a byte of a body in either direction; the response's head has to come within it, whole. Counted in whole
  /// seconds, a fraction is rounded up. Default: 60 s.
  public var idleTimeout = Duration.seconds(60)
  /// Bytes of a response's status line and fields, 1xx responses and trailers included. Default: 256 KiB, at most some
  /// 300 KiB.
  public var limitHeadBytes = 256 << 10
  /// Default: 10.
  public var limitRedirects = 10
  /// Whether a redirect may lead from https to http. Default: false.
  public var allowsDowngradeToHTTP = false
  /// Request fields, besides Authorization, Cookie and the manager's `Policy.secretFields`, that are not sent on when a
  /// redirect leads to another origin.
  public var secretFields: Set<String> = []
  /// Sent unless a request has a User-Agent of its own.
  public var userAgent = "ManagedObjects/0.1"
  /// Connections kept open; must be no fewer than the loads at once. Default: 64.
  public var limitConnections = 64
  /// A PEM file of certificate authorities that replaces the system's; nil (default): the system's. Certificates are
  /// always verified; to trust one of your own, name it here.
  public var certificateAuthorityFile: String?
  /// Shown to servers that ask for one; nil (default): none.
  public var clientCertificate: ClientCertificate?
  /// Default: HTTP/2 where a server offers it over TLS, else HTTP/1.1.
  public var httpVersion = HTTPVersionChoice.automatic
  /// Default: as the environment says when the loader is made.
  public var proxy = ProxyChoice.environment
  /// Which addresses may be connected to. Default: any.
  public var addressPolicy = AddressPolicy.any
  /// Addresses to use in place of the name service, by host: `["example.com": "127.0.0.1"]`; several with commas, IPv6 in
  /// brackets. Letter case does not matter.
  public var hostOverrides: [String: String] = [:]

  public init() {}

  /// As a manager of this policy makes its loader.
  init(_ policy: Policy) {
    secretFields = policy.secretFields
    limitConnections = max(1, policy.limitTransfers)
  }
}

/// Which HTTP `CurlLoader` speaks.
public enum HTTPVersionChoice: Sendable {
  /// HTTP/2 over TLS where the server offers it by ALPN (RFC 7301), many loads on one connection; else HTTP/1.1.
  case automatic
  /// HTTP/1.1 only.
  case http1
  /// HTTP/2 from the first byte on, also without TLS ("h2c", RFC 9113 section 3.3): for servers known to speak it. Without
  /// TLS each load has a connection of its own: libcurl 7.88 fails at a second one.
  case http2PriorKnowledge
}

/// By which proxy `CurlLoader` loads. A proxy is asked with the whole URL for http, and for a tunnel (CONNECT) for https.
/// What is cached does not depend on it.
public enum ProxyChoice: Sendable {
  /// `http_proxy` (not `HTTP_PROXY`, which clients of a CGI program can set), `https_proxy`, `HTTPS_PROXY`, `all_proxy`,
  /// `ALL_PROXY`, and the exceptions in `no_proxy`, `NO_PROXY`; lower case goes first. A variable holds what `url` does.
  case environment
  /// Every server is asked directly, whatever the environment says.
  case none
  /// `http://proxy:3128`, or `https:` to speak TLS with the proxy, or `http://user:password@proxy:3128`, percent-encoded.
  /// - Parameter except: hosts that are asked directly, as `no_proxy` lists them: `.corp, 10.0.0.0/8, [::1], localhost`.
  case url(String, except: String = "")
}

/// Which addresses `CurlLoader` may connect to. Checked when a connection is opened, so that it holds for redirects and
/// for names that suddenly mean another address ("DNS rebinding").
///
/// A proxy looks up names itself: behind one only addresses in URLs and `localhost` can be refused, the rest is the
/// proxy's to do. The proxy's own address may be any.
public enum AddressPolicy: Sendable {
  case any
  /// Only those of the public Internet: not loopback, private, link-local, multicast or otherwise special ones (RFC 6890).
  /// Anything else ends the load with `.refusedByPolicy`.
  case publicOnly
}

/// A certificate of the client's own, in PEM files.
public struct ClientCertificate: Sendable {
  public var certificateFile: String
  /// nil: the key stands in `certificateFile`.
  public var keyFile: String?
  /// Of the key; nil: it has none.
  public var passphrase: String?

  public init(certificateFile: String, keyFile: String? = nil, passphrase: String? = nil) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.passphrase = passphrase
  }
}

// What is printed, or looked at by `dump`, tells no secret.

extension ClientCertificate: CustomStringConvertible, CustomReflectable {
  public var description: String { "\(certificateFile)\(passphrase == nil ? "" : ", with a passphrase")" }
  public var customMirror: Mirror { Mirror(self, children: ["certificateFile": certificateFile]) }
}

extension ProxyChoice: CustomStringConvertible, CustomReflectable {
  public var description: String {
    switch self {
    case .environment: "environment"
    case .none: "none"
    case .url(let text, let except): "url(\(redacted(text)), except: \(except))"
    }
  }

  public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }
}
