internal import FoundationEssentials

/// The Authorization field that a URL's userinfo stands for.
enum BasicCredentials {
  /// RFC 7617 section 2, as libcurl makes it: of `joe:pw` with its percent-encoding undone.
  static func field(_ userinfo: String) -> String {
    let decoded = percentDecoded(userinfo.utf8)
    let pair = decoded.contains(Byte.colon) ? decoded : decoded + [Byte.colon]
    return "Basic " + Data(pair).base64EncodedString()
  }
}
