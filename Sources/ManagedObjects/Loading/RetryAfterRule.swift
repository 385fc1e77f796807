/// Reads Retry-After (RFC 9110 section 10.2.3): seconds, or a date.
package enum RetryAfterRule {
  /// No server means more than this; it keeps sums far from overflow.
  private static var limitSeconds: Int64 { 1 << 31 }

  /// nil: no wait was asked for that can be understood, so the ordinary delay applies. A date in the past: zero.
  package static func delay(_ value: String?, now: WallTime) -> Duration? {
    guard let value else { return nil }
    let text = String(decoding: trimmed(Array(value.utf8)[...]), as: UTF8.self)
    if !text.isEmpty, text.utf8.allSatisfy(isDigit) {
      return Int64(text).map { .seconds(min($0, limitSeconds)) }
    }
    return HTTPDate.parse(text, now: now).map { min(max(.zero, $0 - now), .seconds(limitSeconds)) }
  }
}
