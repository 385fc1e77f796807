import Testing

@testable import CurlTransfer

@Suite struct TLSFaultRuleTests {
  private func fault(_ code: Int, result: Int = 0, _ detail: String = "") -> TransferFailure.TLSFault? {
    var facts = FailureRule.Facts(
      request: TransferRequest(
        url: "https://example.com/", origin: TransferOrigin(scheme: "https", host: "example.com", port: 443)),
      code: code)
    facts.verifyResult = result
    facts.detail = detail
    return TLSFaultRule.fault(facts)
  }

  @Test(
    arguments: [
      (10, .expired), (9, .notYetValid), (18, .unknownAuthority), (19, .unknownAuthority), (20, .unknownAuthority),
      (21, .unknownAuthority), (62, .wrongName), (64, .wrongName), (23, .refused), (0, .refused),
    ] as [(Int, TransferFailure.TLSFault)])
  func `OpenSSL's number says what is wrong with a certificate`(_ result: Int, _ expected: TransferFailure.TLSFault) {
    #expect(fault(60, result: result) == expected)
  }

  @Test(
    arguments: [
      ("SSL: no alternative certificate subject name matches target host name 'x'", .wrongName),
      ("server certificate verification failed. certificate has expired", .expired),
      ("SSL certificate problem: certificate is not yet valid", .notYetValid),
      ("SSL certificate problem: self-signed certificate", .unknownAuthority),
      ("SSL certificate problem: unable to get local issuer certificate", .unknownAuthority),
    ] as [(String, TransferFailure.TLSFault)])
  func `words say it where there is no number`(_ detail: String, _ expected: TransferFailure.TLSFault) {
    #expect(fault(60, detail) == expected)
  }

  @Test func `an alert about our certificate is told from a connection that broke`() {
    #expect(fault(56, "OpenSSL SSL_read: tlsv13 alert certificate required, errno 0") == .clientCertificate)
    #expect(fault(35, "sslv3 alert bad certificate") == .clientCertificate)
    #expect(fault(35, "tlsv1 alert protocol version") == .handshake)
    #expect(fault(56, "Recv failure: Connection reset by peer") == nil)
  }

  @Test func `files that cannot be read are named for what they are`() {
    #expect(fault(77) == .authorityFile && fault(58) == .clientCertificate && fault(59) == .handshake)
  }

  @Test func `every message names the server`() {
    let faults: [TransferFailure.TLSFault] = [
      .expired, .notYetValid, .unknownAuthority, .wrongName, .refused, .clientCertificate, .handshake,
    ]
    for fault in faults {
      let message = TLSFaultRule.message(fault, host: "h", place: "h, port 443", reason: "because")
      #expect(message.contains("h, port 443"))
    }
  }
}
