internal import FoundationEssentials

/// The Authorization field that a URL's userinfo stands for.
enum BasicCredentials {
  /// RFC 7617 section 2, as libcurl makes it: of `joe:pw` with its percent-encoding undone.
  static func field(_ userinfo: String) -> String {
    let decoded = unescaped(Array(userinfo.utf8))
    let pair = decoded.contains(Byte.colon) ? decoded : decoded + [Byte.colon]
    return "Basic " + Data(pair).base64EncodedString()
  }

  private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var at = 0
    while at < bytes.count {
      if bytes[at] == Byte.percent, at + 2 < bytes.count, let high = hexadecimalValue(bytes[at + 1]),
        let low = hexadecimalValue(bytes[at + 2])
      {
        result.append(high << 4 | low)
        at += 3
      } else {
        result.append(bytes[at])
        at += 1
      }
    }
    return result
  }
}
