/// The state of one transfer: what came so far, and what is passed on to whom.
///
/// Sound although unchecked: made by whoever starts the transfer and handed over through the inbox's lock; from then on
/// only the engine's thread has it.
final class Transfer: @unchecked Sendable {
  let id: TransferID
  let request: TransferRequest
  let receiver: any TransferReceiver
  private(set) var heads: HeadCollector
  private(set) var bodyBytes = 0
  /// By our own clock, since libcurl's count of the time lags behind its time-outs.
  private(set) var started = ContinuousClock.now
  /// Why a callback refused what came; libcurl then reports a mere "write error".
  private(set) var cause: FailureRule.Cause?

  init(id: TransferID, request: TransferRequest, receiver: any TransferReceiver) {
    self.id = id
    self.request = request
    self.receiver = receiver
    heads = HeadCollector(limitBytes: request.limitHeadBytes)
  }

  /// It is about to be given to libcurl; until now it waited for the engine's thread.
  func begin() {
    started = .now
    receiver.began(as: id)
  }

  /// False: the transfer is to end.
  func headLine(_ line: RawSpan, status: @autoclosure () -> Int) -> Bool {
    switch heads.take(line) {
    case .more: break
    case .end: receiver.headReceived(heads.takeBlock(status: status()))
    case .tooLarge: cause = .headTooLarge
    }
    return cause == nil
  }

  func body(_ bytes: RawSpan) -> TransferFlow {
    // After an uninvited 101 libcurl takes all that follows for a body.
    guard heads.isFinal else {
      cause = .bodyBeforeHead
      return .stop
    }
    bodyBytes += bytes.byteCount
    let flow = receiver.bodyReceived(bytes)
    if case .stop = flow { cause = .stopped }
    return flow
  }
}

extension Transfer {
  /// Ends it for a reason of the engine's own.
  func end(_ kind: TransferFailure.Kind, _ detail: String = "") {
    var facts = FailureRule.Facts(request: request, code: 0)
    facts.detail = detail
    receiver.ended(.failed(TransferFailure(kind: kind, code: 0, message: FailureRule.message(kind, facts))))
  }
}

extension TransferFailure {
  static func closed(_ request: TransferRequest) -> TransferFailure {
    let facts = FailureRule.Facts(request: request, code: 0)
    return TransferFailure(kind: .closed, code: 0, message: FailureRule.message(.closed, facts))
  }
}
