internal import CurlTransfer

/// Requests that follow one another mostly send the same fields: those of the last one are kept.
final class CurlSentFields: Sendable {
  private let last = Lock<(asked: HeaderFields, sent: TransferFields)?>(nil)

  func fields(for asked: HeaderFields, _ make: () -> TransferFields) -> TransferFields {
    if let last = last.withLock({ $0 }), last.asked == asked { return last.sent }
    let sent = make()
    let old = last.withLock { last in
      let old = last
      last = (asked, sent)
      return old
    }
    withExtendedLifetime(old) {}
    return sent
  }
}
