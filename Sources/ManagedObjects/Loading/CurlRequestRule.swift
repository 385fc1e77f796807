internal import CurlTransfer
internal import FoundationEssentials

/// Turns a load into a transfer, or says why it cannot be one.
enum CurlRequestRule {
  static func location(of request: LoadRequest) throws(ObjectError) -> URLRule.Location {
    if let read = request.read { return read }
    do throws(URLRule.Refusal) { return try URLRule.parse(request.location).get() } catch {
      throw ObjectError(.invalidURL, error.why)
    }
  }

  /// - Parameter location: the request's, as it was read.
  static func transfer(
    for request: LoadRequest, at location: URLRule.Location, on line: CurlLine
  ) throws(ObjectError) -> TransferRequest {
    let options = line.options
    guard location.isHTTP, let port = location.effectivePort else {
      throw ObjectError(
        .unsupportedScheme, "\(location.scheme) is not loaded over HTTP; give the manager a loader for it.")
    }
    if let name = request.fields.refusedName {
      throw ObjectError(
        .invalidRequest, "The field \(name.debugDescription) cannot be sent; mend its name or value.")
    }
    if let refusal = refusal(request, location, options) { throw refusal }
    let proxy = try line.proxies.proxy(for: location).get()
    let origin = TransferOrigin(scheme: location.scheme, host: location.host, port: port)
    var transfer = TransferRequest(url: location.text, origin: origin)
    transfer.method = request.method
    transfer.body = request.body.map { Array($0) }
    transfer.fields = line.sent.fields(for: request.fields) { fields(of: request, options) }
    transfer.connectTimeout = options.connectTimeout
    transfer.idleTimeout = options.idleTimeout
    transfer.limitHeadBytes = options.limitHeadBytes
    connect(&transfer, options, by: proxy)
    transfer.addresses = line.hostOverrides[location.host]
    return transfer
  }

  private static func connect(
    _ transfer: inout TransferRequest, _ options: CurlLoaderOptions, by proxy: ProxyRule.Proxy?
  ) {
    transfer.certificateAuthorityFile = options.certificateAuthorityFile
    transfer.clientCertificate = options.clientCertificate.map {
      TransferCertificate(file: $0.certificateFile, keyFile: $0.keyFile, passphrase: $0.passphrase)
    }
    transfer.proxy = proxy.map {
      TransferProxy(scheme: $0.scheme, host: $0.host, port: $0.port, user: $0.user, password: $0.password)
    }
    transfer.isPublicOnly = options.addressPolicy == .publicOnly
    transfer.version =
      switch options.httpVersion {
      case .automatic: .automatic
      case .http1: .http11
      case .http2PriorKnowledge: .http2PriorKnowledge
      }
  }

  /// What is refused before anything is looked up.
  private static func refusal(
    _ request: LoadRequest, _ location: URLRule.Location, _ options: CurlLoaderOptions
  ) -> ObjectError? {
    if request.fields.contains("Proxy-Authorization") {
      return ObjectError(
        .invalidRequest,
        "Proxy-Authorization would reach the server too; give the proxy's user and password in CurlLoaderOptions.proxy."
      )
    }
    guard options.addressPolicy == .publicOnly, let purpose = purpose(of: location.host) else { return nil }
    return ObjectError(
      .refusedByPolicy,
      "\(location.host) is not public (\(purpose)), and CurlLoaderOptions.addressPolicy allows public addresses only.")
  }

  /// Of an address in the URL, and of names that always mean this machine (RFC 6761 section 6.3). Other names are judged
  /// when they have been looked up, which behind a proxy is not here.
  private static func purpose(of host: String) -> String? {
    let bare = host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]
    if let address = IPAddressText.bytes(of: Array(bare.utf8)) { return AddressRule.purpose(of: address) }
    let name = bare.hasSuffix(".") ? bare.dropLast() : bare
    return name == "localhost" || name.hasSuffix(".localhost") ? "loopback" : nil
  }

  /// The request's own, and the two that every client is expected to send (RFC 9110 sections 10.1.5 and 12.5.1).
  private static func fields(of request: LoadRequest, _ options: CurlLoaderOptions) -> TransferFields {
    var fields = TransferFields()
    request.fields.forEachBytes { name, value in fields.append(name: name, value: value) }
    if !request.fields.contains("User-Agent") { fields.append("User-Agent", options.userAgent) }
    if !request.fields.contains("Accept") { fields.append("Accept", "*/*") }
    return fields
  }
}
