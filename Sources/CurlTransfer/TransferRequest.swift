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
  /// Without a byte in either direction. libcurl counts whole seconds; a fraction is rounded up.
  package var idleTimeout = Duration.seconds(60)
  /// From the start to the last byte; nil: none.
  package var totalTimeout: Duration?

  /// Bytes of all head blocks together, status lines and 1xx blocks included. libcurl bounds one line by 100 KiB.
  package var limitHeadBytes = 256 << 10
  /// Receives into 512 KiB in place of 128 KiB: a third less CPU where the body has many megabytes, memory wasted elsewhere.
  package var expectsLargeBody = false
  /// A PEM file that replaces the system's certificate authorities; nil: the system's.
  package var certificateAuthorityFile: String?
  /// Addresses to connect to in place of what the name's look-up would give, as `127.0.0.1` or `[::1],127.0.0.1`.
  package var addresses: String?

  package init(url: String, origin: TransferOrigin) {
    self.url = url
    self.origin = origin
  }
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
