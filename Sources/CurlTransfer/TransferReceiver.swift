/// Takes what one transfer brings. All calls come from the engine's thread, one at a time, and must not block it.
///
/// The order is `began`, any number of interim heads, one final head, bytes, `ended`. `ended` comes exactly once,
/// whatever happens; a transfer that the engine no longer takes is ended on the caller's thread, inside `start`.
package protocol TransferReceiver: AnyObject, Sendable {
  /// Comes first, so that the receiver can stop or resume itself without waiting for what `start` returns.
  func began(as id: TransferID)

  /// One block of status line and fields, its empty line included, byte for byte; 1xx responses are blocks of their own.
  /// HTTP/2 is shown in the same form, as `HTTP/2 200 \r\n…`. Trailers are not shown.
  func headReceived(_ raw: [UInt8])

  /// Bytes of the body without the transfer's framing. They are taken, whatever is returned.
  func bodyReceived(_ bytes: RawSpan) -> TransferFlow

  func ended(_ end: TransferEnd)
}

extension TransferReceiver {
  package func began(as id: TransferID) {}
}

/// What the receiver wants next.
package enum TransferFlow: Sendable {
  case more
  /// Nothing until `CurlEngine.resume`. What libcurl has received already may still come, at most its buffer.
  case pause
  /// The end, as `.stopped`; the connection is closed.
  case stop
}

/// One transfer of one engine.
package struct TransferID: Hashable, Sendable {
  let number: UInt64
}
