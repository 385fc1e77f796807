internal import CurlTransfer
internal import FoundationEssentials

/// Turns a load into a transfer, or says why it cannot be one.
enum CurlRequestRule {
  static func transfer(
    for request: LoadRequest, _ options: CurlLoaderOptions
  ) -> Result<(TransferRequest, URLRule.Location), ObjectError> {
    let location: URLRule.Location
    switch URLRule.parse(request.location) {
    case .failure(let refusal): return .failure(ObjectError(.invalidURL, refusal.why))
    case .success(let read): location = read
    }
    guard location.isHTTP, let port = location.effectivePort else {
      return .failure(
        ObjectError(.unsupportedScheme, "\(location.scheme) is not loaded over HTTP; give the manager a loader for it.")
      )
    }
    if let name = request.fields.refusedName {
      return .failure(
        ObjectError(.invalidRequest, "The field \(name.debugDescription) cannot be sent; mend its name or value."))
    }
    let origin = TransferOrigin(scheme: location.scheme, host: location.host, port: port)
    var transfer = TransferRequest(url: location.text, origin: origin)
    transfer.method = request.method
    transfer.body = request.body.map { Array($0) }
    transfer.fields = fields(of: request, options)
    transfer.connectTimeout = options.connectTimeout
    transfer.idleTimeout = options.idleTimeout
    transfer.limitHeadBytes = options.limitHeadBytes
    transfer.certificateAuthorityFile = options.certificateAuthorityFile
    transfer.addresses = options.hostOverrides[location.host]
    return .success((transfer, location))
  }

  /// The request's own, and the two that every client is expected to send (RFC 9110 sections 10.1.5 and 12.5.1).
  private static func fields(of request: LoadRequest, _ options: CurlLoaderOptions) -> TransferFields {
    var fields = TransferFields()
    for line in request.fields.block.split(separator: 0x0A) {
      guard let colon = line.firstIndex(of: 0x3A) else { continue }
      fields.append(name: line[..<colon], value: line[(colon + 1)...].dropFirst())
    }
    if !request.fields.contains("User-Agent") { fields.append("User-Agent", options.userAgent) }
    if !request.fields.contains("Accept") { fields.append("Accept", "*/*") }
    return fields
  }
}
