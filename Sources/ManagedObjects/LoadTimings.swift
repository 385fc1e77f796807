/// Where the time of a load went, and over what it came. Measured by libcurl; other loaders measure nothing.
///
/// Each stage is the time it took by itself. nil where there was none: a connection that is used again is neither looked
/// up nor opened, plain HTTP has no TLS. Of a load that was redirected the stages of all hops are added up, and the
/// facts about the connection are the last hop's. Of a load that was tried again it is the last attempt that counts.
public struct LoadTimings: Hashable, Sendable {
  /// Waiting for a transfer slot (`Policy.limitTransfers`), and for a server that asked to be left alone.
  public var queue: Duration?
  /// Asking for the address of the name: the proxy's, where one was used.
  public var resolve: Duration?
  /// Until the TCP connection stood.
  public var connect: Duration?
  /// Agreeing on keys; with a proxy, opening the tunnel too.
  public var tls: Duration?
  /// From when the connection stood until the first byte of the response.
  public var firstByte: Duration?
  /// From the end of the queue to the last byte.
  public var total: Duration?

  /// "1.0", "1.1" or "2"; nil: not known.
  public var httpVersion: String?
  /// The connection had served before, or serves others at the same time.
  public var reusedConnection = false
  /// The server's IP address, or the proxy's, where one was used; nil: not known.
  public var remoteAddress: String?

  /// Who answered, as `URLRule.Origin` is described, where redirects led there; nil: whoever was asked.
  var redirectedOrigin: String?

  init() {}
}
