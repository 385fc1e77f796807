/// Why there is no secure connection, as far as libcurl and OpenSSL tell; and what to do about it.
enum TLSFaultRule {
  /// nil: it has nothing to do with TLS.
  static func fault(_ facts: FailureRule.Facts) -> TransferFailure.TLSFault? {
    let words = facts.detail.lowercased()
    switch facts.code {
    case 51, 60: return verification(facts.verifyResult, words)
    case 83, 90, 91: return .refused
    case 58, 98: return .clientCertificate
    case 77, 82: return .authorityFile
    case 35 where asksForCertificate(words): return .clientCertificate
    case 35, 53, 54, 59, 64, 66, 80: return .handshake
    // In TLS 1.3 the server looks at our certificate after we took the connection for complete.
    case 55, 56: return asksForCertificate(words) ? .clientCertificate : nil
    default: return nil
    }
  }

  /// By OpenSSL's number, see X509_STORE_CTX_get_error(3); by words where another library is used, which has no number.
  private static func verification(_ result: Int, _ words: String) -> TransferFailure.TLSFault {
    switch result {
    case 10: return .expired
    case 9: return .notYetValid
    case 18, 19, 20, 21: return .unknownAuthority
    case 62, 64: return .wrongName
    default: break
    }
    if words.contains("subject name") || words.contains("does not match") { return .wrongName }
    if words.contains("expired") { return .expired }
    if words.contains("not yet") { return .notYetValid }
    let isUnknown = ["self-signed", "self signed", "issuer", "unknown ca"].contains { words.contains($0) }
    return isUnknown ? .unknownAuthority : .refused
  }

  /// The alerts of RFC 8446 section 6.2 with which a server answers a certificate of ours, or that there is none.
  private static func asksForCertificate(_ words: String) -> Bool {
    words.contains("alert")
      && ["certificate required", "bad certificate", "unknown ca", "certificate unknown", "certificate expired"]
        .contains { words.contains($0) }
  }

  /// What happened, in one sentence; `reason` is libcurl's own.
  static func message(_ fault: TransferFailure.TLSFault, host: String, place: String, reason: String) -> String {
    switch fault {
    case .expired:
      "The certificate of \(place) has expired; its operator has to renew it. Is this machine's clock right?"
    case .notYetValid: "The certificate of \(place) is not valid yet; is this machine's clock right?"
    case .unknownAuthority: "The certificate of \(place) comes from no authority that is trusted here: \(reason)."
    case .wrongName: "The certificate of \(place) is for another name; the URL has to use one that it names: \(reason)."
    case .refused: "The certificate of \(place) is not accepted: \(reason)."
    case .clientCertificate: "\(place) and this client do not agree on the client's certificate: \(reason)."
    case .authorityFile: "The file of certificate authorities cannot be read: \(reason)."
    case .handshake: "No secure connection to \(place): \(reason)."
    }
  }
}
