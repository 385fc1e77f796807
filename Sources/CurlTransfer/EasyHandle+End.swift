internal import CCurl
internal import Glibc

/// What libcurl knows of a transfer at its end.
extension EasyHandle {
  func end(_ code: Int) -> TransferEnd {
    guard let transfer else { return .failed(.init(kind: .other, code: code, message: "The transfer was lost.")) }
    if code == 0 { return .finished(facts(transfer)) }
    return .failed(FailureRule.failure(failureFacts(transfer, code)))
  }

  private func long(_ info: CURLINFO) -> Int { unsafe mo_easy_getinfo_long(easy, info) }
  private func microseconds(_ info: CURLINFO) -> Duration { .microseconds(unsafe mo_easy_getinfo_offset(easy, info)) }
  private var reusedConnection: Bool { long(CURLINFO_NUM_CONNECTS) == 0 }

  private func facts(_ transfer: Transfer) -> TransferFacts {
    TransferFacts(
      bodyBytes: transfer.bodyBytes, nameLookup: microseconds(CURLINFO_NAMELOOKUP_TIME_T),
      connect: microseconds(CURLINFO_CONNECT_TIME_T), tls: microseconds(CURLINFO_APPCONNECT_TIME_T),
      firstByte: microseconds(CURLINFO_STARTTRANSFER_TIME_T),
      total: microseconds(CURLINFO_TOTAL_TIME_T), version: version, reusedConnection: reusedConnection,
      address: unsafe mo_easy_getinfo_text(easy, CURLINFO_PRIMARY_IP).map { unsafe String(cString: $0) } ?? "")
  }

  private var version: TransferFacts.HTTPVersion {
    switch long(CURLINFO_HTTP_VERSION) {
    case Int(CURL_HTTP_VERSION_1_0): .http10
    case Int(CURL_HTTP_VERSION_1_1): .http11
    case Int(CURL_HTTP_VERSION_2_0): .http2
    case Int(CURL_HTTP_VERSION_3): .http3
    default: .unknown
    }
  }

  private func failureFacts(_ transfer: Transfer, _ code: Int) -> FailureRule.Facts {
    let systemError = long(CURLINFO_OS_ERRNO)
    let promised = unsafe mo_easy_getinfo_offset(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    var facts = FailureRule.Facts(request: transfer.request, code: code)
    facts.systemError = systemError
    if systemError != 0 {
      facts.systemText = unsafe String(cString: strerror(Int32(truncatingIfNeeded: systemError)))
    }
    facts.detail = unsafe String(cString: errorText)
    facts.wasResolved = microseconds(CURLINFO_NAMELOOKUP_TIME_T) > .zero
    facts.wasConnected = microseconds(CURLINFO_PRETRANSFER_TIME_T) > .zero
    facts.wasReused = facts.wasConnected && reusedConnection
    facts.connectStatus = long(CURLINFO_HTTP_CONNECTCODE)
    facts.verifyResult = long(CURLINFO_SSL_VERIFYRESULT)
    facts.hasHead = !transfer.heads.isEmpty
    facts.headIsFinal = transfer.heads.isFinal
    facts.bodyBytes = transfer.bodyBytes
    facts.promisedBytes = promised >= 0 && transfer.heads.isFinal ? Int(promised) : nil
    facts.elapsed = ContinuousClock.now - transfer.started
    facts.cause = transfer.cause
    facts.refusedAddress = refusedAddress
    return facts
  }
}
