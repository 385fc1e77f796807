internal import CCurl
internal import Glibc

/// An address that was found for a name but may not be connected to.
struct AddressRefusal: Equatable {
  var address: String
  /// As `AddressRule` names it.
  var purpose: String
}

/// How a transfer reaches its server.
extension EasyHandle {
  func setConnection(_ request: TransferRequest) {
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    setVersion(request)
    setTLS(request)
    setProxy(request.proxy)
    if request.isPublicOnly, request.proxy == nil { checkAddresses() }
    if let list = request.addresses { resolve(request.origin, to: list) }
  }

  private func setVersion(_ request: TransferRequest) {
    let version =
      switch request.version {
      case .automatic: CURL_HTTP_VERSION_2TLS
      case .http11: CURL_HTTP_VERSION_1_1
      case .http2PriorKnowledge: CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
      }
    set(CURLOPT_HTTP_VERSION, Int(version))
    // Only ALPN tells early that a connection carries many transfers. Elsewhere waiting would mean that all
    // transfers to a host stand still until the first one is answered.
    let isSecure = request.origin.scheme == "https"
    if isSecure, request.version != .http11 { set(CURLOPT_PIPEWAIT, 1) }
    // libcurl 7.88 fails, with error 16, at every second request on a plain connection that speaks HTTP/2.
    if !isSecure, request.version == .http2PriorKnowledge {
      set(CURLOPT_FRESH_CONNECT, 1)
      set(CURLOPT_FORBID_REUSE, 1)
    }
  }

  /// Certificate and name are always verified: libcurl's default, and there is no way here to change it.
  private func setTLS(_ request: TransferRequest) {
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    if let file = request.certificateAuthorityFile {
      set(CURLOPT_CAINFO, file)
      set(CURLOPT_PROXY_CAINFO, file)
      // Nor the folder of authorities that libcurl may have been built with.
      setNothing(CURLOPT_CAPATH)
      setNothing(CURLOPT_PROXY_CAPATH)
    }
    guard let own = request.clientCertificate else { return }
    set(CURLOPT_SSLCERT, own.file)
    set(CURLOPT_SSLKEY, own.keyFile ?? own.file)
    // Never nothing: OpenSSL would ask for it on the terminal.
    set(CURLOPT_KEYPASSWD, own.passphrase ?? "")
  }

  /// Always said, so that libcurl takes none from the environment.
  private func setProxy(_ proxy: TransferProxy?) {
    guard let proxy else {
      set(CURLOPT_PROXY, "")
      set(CURLOPT_NOPROXY, "*")
      return
    }
    set(CURLOPT_PROXY, proxy.description)
    set(CURLOPT_NOPROXY, "")
    if let user = proxy.user { set(CURLOPT_PROXYUSERNAME, user) }
    if let password = proxy.password { set(CURLOPT_PROXYPASSWORD, password) }
    // A proxy that only opens a tunnel is told none of the request's fields, and what it says is none of the response's.
    set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
  }

  /// As CURLOPT_RESOLVE(3) has it: `name:port:address,address`.
  private func resolve(_ origin: TransferOrigin, to list: String) {
    unsafe curl_slist_free_all(addresses)
    unsafe addresses = "\(origin.host):\(origin.port):\(list)".withCString { unsafe curl_slist_append(nil, $0) }
    _ = unsafe mo_easy_setopt_pointer(easy, CURLOPT_RESOLVE, addresses)
  }

  // MARK: Addresses

  /// Judges each address when a socket for it is opened: behind that nothing changes any more.
  private func checkAddresses() {
    let me = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe mo_easy_setopt_pointer(easy, CURLOPT_OPENSOCKETDATA, me)
    _ = unsafe mo_easy_setopt_socket_opener(easy) { user, _, address in
      guard let address = unsafe address else { return curl_socket_t(-1) }
      let mayOpen = unsafe EasyHandle.call(user) { unsafe $0.allows(address) ? 1 : 0 } == 1
      guard mayOpen else { return curl_socket_t(-1) }
      let (family, type) = unsafe (address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue))
      return unsafe socket(family, type, address.pointee.protocol)
    }
  }

  private func allows(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
    let bytes = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { buffer in
      let count = unsafe mo_address_bytes(address, buffer.baseAddress)
      return unsafe Array(buffer.prefix(count))
    }
    guard let purpose = AddressRule.purpose(of: bytes) else { return true }
    if refusedAddress == nil { refusedAddress = AddressRefusal(address: Self.text(bytes), purpose: purpose) }
    return false
  }

  private static func text(_ bytes: [UInt8]) -> String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
      let family = bytes.count == 4 ? AF_INET : AF_INET6
      guard unsafe inet_ntop(family, bytes, text.baseAddress, socklen_t(INET6_ADDRSTRLEN)) != nil else { return "?" }
      return unsafe String(cString: text.baseAddress!)
    }
  }
}
