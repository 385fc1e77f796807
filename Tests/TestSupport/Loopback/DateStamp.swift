internal import Glibc
package import ManagedObjects

/// The Date field of a server's replies, written anew once a second. Used by the server's thread alone.
final class DateStamp {
  private var second: Int64 = .min
  private var formatted = ""

  func text(_ office: ServerOffice) -> String? {
    switch office.routes.withLock({ $0.date }) {
    case .none: return nil
    case .fixed(let text): return text
    case .system:
      let now = SystemTime().wallNow
      if now.seconds != second {
        second = now.seconds
        formatted = httpDate(now)
      }
      return formatted
    }
  }
}

/// IMF-fixdate (RFC 9110 section 5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT".
package func httpDate(_ time: WallTime) -> String {
  var seconds = time_t(time.seconds)
  var parts = tm()
  gmtime_r(&seconds, &parts)
  let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  func padded(_ number: Int32, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
  let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0, 2) }.joined(separator: ":")
  let date = "\(padded(parts.tm_mday, 2)) \(months[Int(parts.tm_mon)]) \(padded(parts.tm_year + 1900, 4))"
  return "\(days[Int(parts.tm_wday)]), \(date) \(clock) GMT"
}
