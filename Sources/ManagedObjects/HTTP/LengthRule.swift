/// How many bytes of body a response promises (RFC 9112 section 6.3).
package enum LengthRule {
  package enum Promise: Hashable, Sendable {
    /// As sent: before any Content-Encoding is undone.
    case bytes(Int)
    /// The body ends when the transport says so.
    case unknown
    /// Two lengths: whoever believes the wrong one reads another message, so the response is no good.
    case contradictory
  }

  /// - Parameter method: of the request; the answer to HEAD has fields but no body.
  package static func promise(of head: LoadHead, method: String = "GET") -> Promise {
    if method == "HEAD" || head.status < 200 || head.status == 204 || head.status == 304 { return .bytes(0) }
    return promise(of: head.fields)
  }

  /// Several equal lengths are one (RFC 9110 section 8.6); one that cannot be read promises nothing.
  package static func promise(of fields: HeaderFields) -> Promise {
    // Transfer-Encoding overrides Content-Length.
    guard !fields.contains("Transfer-Encoding") else { return .unknown }
    if let value = fields.onlyValue(of: "Content-Length"), let length = count(value) { return .bytes(length) }
    guard let list = fields.list(of: "Content-Length") else { return .unknown }
    var lengths: Set<Int> = []
    for member in list.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let length = count(trimmed(Array(member)[...])) else { return .unknown }
      lengths.insert(length)
    }
    guard lengths.count == 1, let length = lengths.first else { return .contradictory }
    return .bytes(length)
  }

  /// 1*DIGIT that fits.
  private static func count(_ digits: ArraySlice<UInt8>) -> Int? {
    guard !digits.isEmpty else { return nil }
    var count = 0
    for digit in digits {
      guard isDigit(digit) else { return nil }
      let (tens, overflows) = count.multipliedReportingOverflow(by: 10)
      let (sum, overflowsToo) = tens.addingReportingOverflow(Int(digit - 0x30))
      if overflows || overflowsToo { return nil }
      count = sum
    }
    return count
  }
}
