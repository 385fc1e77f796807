public import FoundationEssentials

/// Why a request was cancelled.
public enum CancelReason: String, Hashable, Sendable {
  /// Its user left, or the task that awaited it was cancelled.
  case left
  /// Its handler fell off the end of the FIFO of live handlers.
  case bumped
  /// Its user asked for something else.
  case superseded
  /// The manager was shut down or let go.
  case closed
}

/// The one error of the library.
public struct ObjectError: Error, Sendable, CustomStringConvertible {
  /// Stable: the raw values appear in the tool's JSON.
  public enum Code: String, Hashable, Sendable {
    case invalidURL, invalidRequest, unsupportedScheme, refusedByPolicy
    /// `tls`: the server's certificate, or the client's, is not accepted.
    case tls
    case transport, timedOut, tooManyRedirects, httpStatus, retryLater
    case wrongLength, tooLarge, checksumMismatch
    case notCached, cacheBroken
    case undecodable, decodeTimedOut
    case outputExists, outputFailed
    case cancelled
  }

  public let code: Code
  /// What happened and what to do about it, in one sentence. URLs in it are redacted.
  public let message: String
  /// Set where `code` is `.cancelled`.
  public let reason: CancelReason?
  private let response: Response?
  public let underlying: (any Error)?

  /// The response, where one came.
  public var head: LoadHead? { response?.head }
  /// The first bytes of the body of a response that was not a success, at most 4 KiB.
  public var bodyStart: Data { response?.bodyStart ?? Data() }

  /// Apart, since most errors have none, and every task that awaits an object keeps room for an error or two.
  private final class Response: Sendable {
    let head: LoadHead?
    let bodyStart: Data

    init(_ head: LoadHead?, _ bodyStart: Data) { (self.head, self.bodyStart) = (head, bodyStart) }
  }

  public init(
    _ code: Code, _ message: String, head: LoadHead? = nil, bodyStart: Data = Data(), underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    reason = nil
    response = head == nil && bodyStart.isEmpty ? nil : Response(head, bodyStart)
    self.underlying = underlying
  }

  /// The time of a request is over.
  init(timeout: Duration) {
    self.init(.timedOut, "The request was not answered within \(timeout); allow it more time, or try again.")
  }

  public init(_ reason: CancelReason) {
    code = .cancelled
    message =
      switch reason {
      case .left: "The request was given up by its user."
      case .bumped: "Newer requests took its place; ask again, or raise Policy.limitLiveHandlers."
      case .superseded: "Its user asked for something else."
      case .closed: "The manager was shut down."
      }
    self.reason = reason
    response = nil
    underlying = nil
  }

  /// What a backend threw, in our terms: our own errors as they are, all else as `.cacheBroken`.
  init(cacheFault error: any Error) {
    self =
      error as? ObjectError
      ?? ObjectError(.cacheBroken, "The cache could not be used: \(error).", underlying: error)
  }

  /// A location that cannot be loaded, and why.
  init(invalid location: String, _ refusal: URLRule.Refusal) {
    self.init(.invalidURL, "“\(redacted(location))” cannot be loaded. \(refusal.why)")
  }

  public var description: String { "\(code.rawValue): \(message)" }
}
