/// How a transfer ended.
package enum TransferEnd: Sendable {
  /// The response is complete as far as HTTP can tell: the promised length, the last chunk, or the close where neither was said.
  case finished(TransferFacts)
  case failed(TransferFailure)
}

/// What is known of a transfer that came to its end.
package struct TransferFacts: Hashable, Sendable {
  /// Bytes given to `bodyReceived`.
  package var bodyBytes: Int
  /// From the start until each step was done; zero for steps that were not needed (a reused connection has no look-up).
  package var nameLookup: Duration
  package var connect: Duration
  package var tls: Duration
  package var firstByte: Duration
  package var total: Duration
  package var version: HTTPVersion
  package var reusedConnection: Bool
  /// The address of the server, as text; "" where none was reached.
  package var address: String

  package enum HTTPVersion: String, Sendable {
    case http10 = "1.0"
    case http11 = "1.1"
    case http2 = "2"
    case http3 = "3"
    case unknown = ""
  }
}

/// Why a transfer failed.
package struct TransferFailure: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The request cannot be sent as it is; nothing was.
    case invalid
    /// The name has no address.
    case resolve
    /// No connection, for another reason than the two below.
    case connect
    /// The machine is there, but nobody listens on the port.
    case refused
    case tls(TLSFault)
    /// The proxy cannot be reached, or refuses.
    case proxy
    /// No address of the name is public, and only such are allowed.
    case addressRefused
    case timedOut(Phase)
    /// The connection was closed before a byte of the response.
    case noReply
    /// The connection broke.
    case reset
    /// The body is shorter than it was promised.
    case partial
    /// What came is not HTTP.
    case badFraming
    case headTooLarge
    /// The request could not be sent.
    case sendFailed
    /// By `stop`, or by the receiver's `.stop`.
    case stopped
    /// The engine was closed.
    case closed
    case other
  }

  package enum Phase: Hashable, Sendable { case resolve, connect, idle, total }

  /// Why there is no secure connection.
  package enum TLSFault: Hashable, Sendable {
    case expired
    case notYetValid
    /// Nobody that is trusted vouches for the server's certificate.
    case unknownAuthority
    /// The certificate is good, for another name.
    case wrongName
    /// The server's certificate is not accepted for another reason.
    case refused
    /// Our own certificate cannot be read, or the server does not take it, or wants one.
    case clientCertificate
    /// The file of certificate authorities cannot be read.
    case authorityFile
    /// The talk about keys broke off.
    case handshake
  }

  package var kind: Kind
  /// libcurl's number of the error, see libcurl-errors(3); 0 where libcurl was not asked.
  package var code: Int
  /// What happened, in one sentence that names the host and never a user or password.
  package var message: String
  /// The connection had served before and ended before a byte of this response: most likely the server had closed it
  /// just then, and has not looked at the request; and if it has, asking again does no harm.
  package var wasStale = false
}
