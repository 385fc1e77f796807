internal import CCurl
internal import Glibc

/// One easy handle of libcurl, used for one transfer after another, on the engine's thread only.
///
/// It is reset between transfers, so that no option of one request reaches another; a reset keeps the connections.
/// Where the next request is like the last one in all but its path, its options are those that stand already, and it is
/// not. The texts and lists given to libcurl by pointer live here until the next `prepare`.
@safe final class EasyHandle {
  let easy: UnsafeMutableRawPointer
  /// What it carries now.
  private(set) var transfer: Transfer?
  /// Of the addresses that were found, the first that is not allowed.
  var refusedAddress: AddressRefusal?
  /// Where the engine keeps it among those that run.
  var place = 0
  private var isPaused = false
  private var address = AddressCheck()
  /// Whose options are set; nil: nobody's that could be used again.
  private var standing: TransferRequest?
  private var bufferBytes = 0
  /// Of the last transfer's body; nil: there was none.
  private var lastBodyBytes: Int?
  private var fields: UnsafeMutablePointer<curl_slist>?
  /// libcurl has them.
  private var hasFields = false
  /// What `fields` was built from.
  private var fieldLines: [UInt8] = []
  var addresses: UnsafeMutablePointer<curl_slist>?
  let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  init?() {
    guard let easy = unsafe curl_easy_init() else { return nil }
    unsafe self.easy = unsafe easy
  }

  deinit {
    unsafe curl_easy_cleanup(easy)
    unsafe curl_slist_free_all(fields)
    unsafe curl_slist_free_all(addresses)
    unsafe errorText.deallocate()
  }

  /// The handle that libcurl knows by this pointer. It is alive: the engine keeps it while it runs.
  static func find(_ easy: UnsafeMutableRawPointer) -> EasyHandle? {
    guard let pointer = unsafe mo_easy_getinfo_private(easy) else { return nil }
    return unsafe Unmanaged<EasyHandle>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Sets everything up; nil when all went well, else why it did not.
  func prepare(_ transfer: Transfer) -> TransferFailure? {
    unsafe errorText.pointee = 0
    isPaused = false
    refusedAddress = nil
    self.transfer = transfer
    let request = transfer.request
    if let failure = address.failure(request) ?? fieldFailure(request) { return failure }
    if !hasOptions(for: request) { setOptions(request) }
    set(CURLOPT_URL, request.url)
    setFields(request)
    setBuffer(BufferRule.bytes(lastBody: lastBodyBytes))
    return nil
  }

  /// Lets the transfer go.
  func clear() {
    lastBodyBytes = transfer?.bodyBytes
    transfer = nil
  }

  private func hasOptions(for request: TransferRequest) -> Bool {
    guard address.isSameServer, let standing else { return false }
    return request.hasOptions(of: standing)
  }

  private func setOptions(_ request: TransferRequest) {
    unsafe curl_easy_reset(easy)
    (bufferBytes, hasFields) = (0, false)
    setCallbacks()
    setLimits(request)
    setConnection(request)
    setRequest(request)
    standing = request.leavesOptions ? request : nil
  }

  private func pause() {
    isPaused = true
    _ = unsafe curl_easy_pause(easy, CURLPAUSE_RECV)
  }

  /// Goes on after a pause; what libcurl held back may come inside this call. Returns libcurl's code.
  func resume() -> Int {
    guard isPaused else { return 0 }
    isPaused = false
    return Int(unsafe curl_easy_pause(easy, CURLPAUSE_CONT).rawValue)
  }

  // MARK: Options

  func set(_ option: CURLoption, _ value: Int) { _ = unsafe mo_easy_setopt_long(easy, option, value) }

  /// libcurl copies the text.
  func set(_ option: CURLoption, _ text: String) {
    _ = unsafe text.withCString { unsafe mo_easy_setopt_pointer(easy, option, $0) }
  }

  /// What libcurl has for it by itself is given up.
  func setNothing(_ option: CURLoption) { _ = unsafe mo_easy_setopt_pointer(easy, option, nil) }

  private func setCallbacks() {
    let me = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe mo_easy_setopt_pointer(easy, CURLOPT_PRIVATE, me)
    _ = unsafe mo_easy_setopt_pointer(easy, CURLOPT_WRITEDATA, me)
    _ = unsafe mo_easy_setopt_pointer(easy, CURLOPT_HEADERDATA, me)
    _ = unsafe mo_easy_setopt_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    _ = unsafe mo_easy_setopt_writer(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, user in
      unsafe EasyHandle.call(user) { unsafe $0.bodyCame(UnsafeRawBufferPointer(start: bytes, count: size &* count)) }
    }
    _ = unsafe mo_easy_setopt_writer(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, user in
      unsafe EasyHandle.call(user) { unsafe $0.lineCame(UnsafeRawBufferPointer(start: bytes, count: size &* count)) }
    }
  }

  private func setLimits(_ request: TransferRequest) {
    set(CURLOPT_NOSIGNAL, 1)
    // A look-up of a name that hangs must not hold up the thread when its transfer is removed.
    set(CURLOPT_QUICK_EXIT, 1)
    set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(request.connectTimeout))
    set(CURLOPT_LOW_SPEED_LIMIT, 1)
    set(CURLOPT_LOW_SPEED_TIME, (Self.milliseconds(request.idleTimeout) + 999) / 1000)
    if let total = request.totalTimeout { set(CURLOPT_TIMEOUT_MS, Self.milliseconds(total)) }
  }

  private func setBuffer(_ bytes: Int) {
    guard bytes != bufferBytes else { return }
    bufferBytes = bytes
    set(CURLOPT_BUFFERSIZE, bytes)
  }

  private func setRequest(_ request: TransferRequest) {
    set(CURLOPT_PATH_AS_IS, 1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    // On a connection that has served before libcurl sends a request again, up to five times and whatever its method, where
    // that closes before a byte of the answer: but the server may have done what it was asked.
    if request.wantsNewConnection || !request.isIdempotent { set(CURLOPT_FRESH_CONNECT, 1) }
    setBody(request)
    switch request.method {
    case "HEAD": set(CURLOPT_NOBODY, 1)
    case "GET" where request.body == nil: break
    default: set(CURLOPT_CUSTOMREQUEST, request.method)
    }
  }

  /// A method that is expected to have a body sends its length even when that is 0 (RFC 9110 section 8.6).
  private func setBody(_ request: TransferRequest) {
    guard request.method != "HEAD", request.body != nil || ["POST", "PUT", "PATCH"].contains(request.method)
    else { return }
    let body = request.body ?? []
    _ = unsafe mo_easy_setopt_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
    _ = unsafe body.withUnsafeBytes {
      unsafe mo_easy_setopt_pointer(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress ?? UnsafeRawPointer(errorText))
    }
  }

  /// Requests that follow one another mostly have the same fields: the list is built when they differ.
  private func setFields(_ request: TransferRequest) {
    if unsafe fields == nil || request.fields.lines != fieldLines {
      buildFields(request.fields)
      hasFields = false
    }
    if hasFields { return }
    hasFields = true
    _ = unsafe mo_easy_setopt_pointer(easy, CURLOPT_HTTPHEADER, fields)
  }

  private func buildFields(_ source: TransferFields) {
    unsafe curl_slist_free_all(fields)
    unsafe fields = nil
    fieldLines = source.lines
    // libcurl's own additions are switched off by naming them without a value, see CURLOPT_HTTPHEADER(3).
    addLine("Expect:")
    for name in ["Accept", "Content-Type"] where !source.contains(name) { addLine("\(name):") }
    unsafe source.lines.withUnsafeBufferPointer { lines in
      var start = 0
      while start < lines.count {
        let line = unsafe UnsafeRawPointer(lines.baseAddress! + start).assumingMemoryBound(to: CChar.self)
        unsafe fields = unsafe curl_slist_append(fields, line)
        unsafe start += strlen(line) + 1
      }
    }
  }

  private func addLine(_ line: String) {
    unsafe fields = line.withCString { unsafe curl_slist_append(fields, $0) }
  }

  private func fieldFailure(_ request: TransferRequest) -> TransferFailure? {
    if let name = request.fields.refusedName {
      return TransferFailure(
        kind: .invalid, code: 0,
        message:
          "The field \(name.debugDescription) cannot be sent: it holds a line break, NUL, or a name that is no token.")
    }
    guard !request.method.isEmpty, request.method.utf8.allSatisfy(TransferFields.isTokenByte) else {
      return TransferFailure(
        kind: .invalid, code: 0, message: "\(request.method.debugDescription) is no method of HTTP.")
    }
    return nil
  }

  /// At least 1: libcurl takes 0 for its own default, or for no limit.
  static func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    guard seconds < 1_000_000 else { return 1_000_000_000 }
    return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
  }

  // MARK: What comes

  /// From a callback of libcurl to the handle it belongs to. The handle is alive: it is running.
  static func call(_ user: UnsafeMutableRawPointer?, _ body: (EasyHandle) -> Int) -> Int {
    guard let user = unsafe user else { return 0 }
    return unsafe Unmanaged<EasyHandle>.fromOpaque(user)._withUnsafeGuaranteedRef { body($0) }
  }

  /// Returns how much was taken; anything but all of it ends the transfer.
  private func lineCame(_ line: UnsafeRawBufferPointer) -> Int {
    guard let transfer else { return line.count &+ 1 }
    let goesOn = unsafe transfer.headLine(line.bytes, status: mo_easy_getinfo_long(easy, CURLINFO_RESPONSE_CODE))
    return goesOn ? line.count : line.count &+ 1
  }

  private func bodyCame(_ bytes: UnsafeRawBufferPointer) -> Int {
    switch unsafe transfer?.body(bytes.bytes) {
    case .more: break
    case .pause: pause()
    case .stop, nil: return bytes.count &+ 1
    }
    return bytes.count
  }
}
