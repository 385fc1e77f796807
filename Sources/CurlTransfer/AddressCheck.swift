internal import CCurl
internal import Glibc

/// Has libcurl read a URL and compares what it found with what the caller found.
///
/// Two parsers that differ are how a request reaches another host than the one that was checked and keyed: libcurl
/// takes `http:///evil/` for the host `evil`, for one.
///
/// Transfers that follow one another mostly go to one server. What stands before the path is then the same text, which both
/// read alike before; where it has no character but letters, digits, dots, hyphens and the colons, nothing in the path can
/// change that (RFC 3986 section 3.2: the authority ends at the first slash). So it is not read again.
struct AddressCheck {
  /// `http://example.com:8080/`, found in order; "" for none.
  private var approved = ""
  private var origin = TransferOrigin(scheme: "", host: "", port: 0)
  /// The last request was for the server of the one before, and neither had a user in its URL.
  private(set) var isSameServer = false

  /// nil: both read the same.
  mutating func failure(_ request: TransferRequest) -> TransferFailure? {
    isSameServer = begins(request.url) && request.origin == origin
    if isSameServer { return nil }
    if let failure = Self.failure(request) { return failure }
    (approved, origin) = (Self.plainStart(of: request.url), request.origin)
    return nil
  }

  /// Whether it begins with what was approved.
  private func begins(_ url: String) -> Bool {
    let (start, url) = (approved.utf8.span, url.utf8.span)
    guard !start.isEmpty, url.count >= start.count else { return false }
    for index in start.indices where start[index] != url[index] { return false }
    return true
  }

  /// Up to the path; "" where it has characters that might be read in two ways.
  private static func plainStart(of url: String) -> String {
    let start = url.utf8.split(separator: 0x2F, maxSplits: 3, omittingEmptySubsequences: false)
    guard start.count == 4, start[1].isEmpty, !start[2].isEmpty else { return "" }
    let isPlain = [start[0], start[2]].joined().allSatisfy { byte in
      switch byte {
      case 0x2D, 0x2E, 0x30...0x3A, 0x61...0x7A: true
      default: false
      }
    }
    return isPlain ? String(url[..<start[3].startIndex]) : ""
  }

  /// nil: both read the same.
  static func failure(_ request: TransferRequest) -> TransferFailure? {
    // By the same flags as in the transfer.
    let flags = UInt32(CURLU_PATH_AS_IS)
    guard let handle = unsafe curl_url() else { return refusal(request, "libcurl has no memory") }
    defer { unsafe curl_url_cleanup(handle) }
    guard unsafe request.url.withCString({ unsafe curl_url_set(handle, CURLUPART_URL, $0, flags) }) == CURLUE_OK
    else { return refusal(request, "libcurl cannot read this URL") }
    let told = request.origin
    let isSame =
      unsafe has(handle, CURLUPART_SCHEME) { unsafe strcasecmp($0, told.scheme) == 0 }
      && has(handle, CURLUPART_PORT) { unsafe strtol($0, nil, 10) == told.port }
      && has(handle, CURLUPART_HOST) { unsafe isHost($0, told.host) }
    return isSame ? nil : refusal(request, "libcurl reads another address in this URL")
  }

  private static func refusal(_ request: TransferRequest, _ why: String) -> TransferFailure {
    TransferFailure(
      kind: .invalid, code: Int(CURLE_URL_MALFORMAT.rawValue),
      message: "Nothing was sent to \(request.origin.host): \(why).")
  }

  /// Whether libcurl read this part, and the check takes it.
  private static func has(
    _ handle: OpaquePointer, _ part: CURLUPart, _ check: (UnsafePointer<CChar>) -> Bool
  ) -> Bool {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(handle, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text = unsafe text
    else { return false }
    defer { unsafe curl_free(text) }
    return unsafe check(text)
  }

  private static func isHost(_ read: UnsafePointer<CChar>, _ told: String) -> Bool {
    guard !told.isEmpty, !told.utf8.contains(0) else { return false }
    return unsafe strcasecmp(read, told) == 0 || plain(String(cString: read)) == plain(told)
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
