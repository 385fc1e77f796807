internal import CCurl
internal import Glibc

/// Has libcurl read a URL and compares what it found with what the caller found.
///
/// Two parsers that differ are how a request reaches another host than the one that was checked and keyed: libcurl
/// takes `http:///evil/` for the host `evil`, for one.
enum AddressCheck {
  /// nil: both read the same.
  static func failure(_ request: TransferRequest) -> TransferFailure? {
    guard let read = origin(of: request.url) else {
      return refusal(request, "libcurl cannot read this URL")
    }
    let told = request.origin
    guard read.scheme == told.scheme.lowercased(), read.port == told.port,
      plain(read.host) == plain(told.host), !told.host.isEmpty
    else { return refusal(request, "libcurl reads another address in this URL") }
    return nil
  }

  private static func refusal(_ request: TransferRequest, _ why: String) -> TransferFailure {
    TransferFailure(
      kind: .invalid, code: Int(CURLE_URL_MALFORMAT.rawValue),
      message: "Nothing was sent to \(request.origin.host): \(why).")
  }

  /// What libcurl makes of the text, by the same flags as in the transfer; nil when it refuses it.
  static func origin(of url: String) -> TransferOrigin? {
    guard let handle = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(handle) }
    let flags = UInt32(CURLU_PATH_AS_IS)
    guard unsafe url.withCString({ unsafe curl_url_set(handle, CURLUPART_URL, $0, flags) }) == CURLUE_OK,
      let scheme = unsafe part(CURLUPART_SCHEME, of: handle), let host = unsafe part(CURLUPART_HOST, of: handle),
      let port = unsafe part(CURLUPART_PORT, of: handle).flatMap({ Int($0) })
    else { return nil }
    return TransferOrigin(scheme: scheme, host: host, port: port)
  }

  private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text = unsafe text
    else { return nil }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
  }

  /// A host in one spelling: lower case, IPv6 as inet_ntop(3) writes it.
  private static func plain(_ host: String) -> String {
    let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    guard bare.utf8.contains(0x3A) else { return bare.lowercased() }
    var address = in6_addr()
    guard unsafe inet_pton(AF_INET6, bare, &address) == 1 else { return bare.lowercased() }
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
      guard unsafe inet_ntop(AF_INET6, &address, text.baseAddress, socklen_t(INET6_ADDRSTRLEN)) != nil
      else { return bare.lowercased() }
      return unsafe String(cString: text.baseAddress!)
    }
  }
}
