/// How `CurlLoader` loads.
public struct CurlLoaderOptions: Sendable {
  /// Until the connection stands, look-up of the name and TLS included. Default: 10 s.
  public var connectTimeout = Duration.seconds(10)
  /// Without a byte. Counted in whole seconds, a fraction is rounded up. Default: 60 s.
  public var idleTimeout = Duration.seconds(60)
  /// Bytes of a response's status line and fields, 1xx responses included. Default: 256 KiB, at most some 300 KiB.
  public var limitHeadBytes = 256 << 10
  /// Default: 10.
  public var limitRedirects = 10
  /// Whether a redirect may lead from https to http. Default: false.
  public var allowsDowngradeToHTTP = false
  /// Request fields, besides Authorization and Cookie, that are not sent on when a redirect leads to another origin.
  public var secretFields: Set<String> = []
  /// Sent unless a request has a User-Agent of its own.
  public var userAgent = "ManagedObjects/0.1"
  /// Connections kept open; must be no fewer than the loads at once. Default: 64.
  public var limitConnections = 64
  /// A PEM file of certificate authorities that replaces the system's; nil: the system's.
  public var certificateAuthorityFile: String?
  /// Addresses to use in place of the name service, by host: `["example.com": "127.0.0.1"]`; several with commas, IPv6 in
  /// brackets.
  public var hostOverrides: [String: String] = [:]

  public init() {}

  /// As a manager of this policy makes its loader.
  init(_ policy: Policy) {
    secretFields = policy.secretFields
    limitConnections = max(1, policy.limitTransfers)
  }
}
