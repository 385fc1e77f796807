internal import CurlTransfer

/// A failed transfer in the library's terms: a stable code, and what to do about it.
enum CurlFailureRule {
  static func error(for failure: TransferFailure, head: LoadHead?) -> ObjectError {
    switch failure.kind {
    case .stopped: ObjectError(.left)
    case .closed: ObjectError(.closed)
    default: ObjectError(code(for: failure.kind), message(for: failure), head: head, underlying: failure)
    }
  }

  static func code(for kind: TransferFailure.Kind) -> ObjectError.Code {
    switch kind {
    case .timedOut: .timedOut
    case .partial: .wrongLength
    case .headTooLarge: .tooLarge
    case .invalid: .invalidRequest
    case .addressRefused: .refusedByPolicy
    case .tls(.handshake): .transport
    case .tls: .tls
    case .stopped, .closed: .cancelled
    case .resolve, .connect, .refused, .proxy, .noReply, .reset, .badFraming, .sendFailed, .other: .transport
    }
  }

  private static func message(for failure: TransferFailure) -> String {
    guard let advice = advice(for: failure.kind) else { return failure.message }
    return "\(failure.message) \(advice)"
  }

  private static func advice(for kind: TransferFailure.Kind) -> String? {
    switch kind {
    case .tls(.unknownAuthority):
      "If it is to be trusted, name its authority in CurlLoaderOptions.certificateAuthorityFile."
    case .tls(.authorityFile): "Check CurlLoaderOptions.certificateAuthorityFile."
    case .tls(.clientCertificate): "Check CurlLoaderOptions.clientCertificate."
    case .proxy: "Check CurlLoaderOptions.proxy, or the environment's http_proxy, https_proxy and no_proxy."
    case .addressRefused: "CurlLoaderOptions.addressPolicy says so."
    case .timedOut(.connect): "Raise CurlLoaderOptions.connectTimeout if it is only slow."
    case .timedOut(.idle): "Raise CurlLoaderOptions.idleTimeout if it is only slow."
    case .partial, .reset, .noReply: "Ask again."
    case .headTooLarge: "Raise CurlLoaderOptions.limitHeadBytes if that is meant."
    default: nil
    }
  }
}
