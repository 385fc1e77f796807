/// By which proxy a URL is loaded. A value: the environment is passed in.
///
/// The variables are those that curl, wget and most others read:
///
///     http_proxy                               for http
///     https_proxy, HTTPS_PROXY                 for https
///     all_proxy, ALL_PROXY                     for both, where there is none of the above
///     no_proxy, NO_PROXY                       hosts that are asked directly, see `NoProxyRule`
///
/// `HTTP_PROXY` in capitals is not read: in a CGI program it is what a client sent as the field `Proxy` (CVE-2016-5385,
/// "httpoxy"). Of two spellings the lower-case one counts; an empty variable counts as none.
struct ProxyRule: Sendable {
  /// A proxy as it was given.
  struct Proxy: Sendable, Hashable {
    /// `http` or `https`.
    var scheme: String
    var host: String
    var port: Int
    var user: String?
    var password: String?
  }

  /// What came of reading one variable or setting; the name is for messages.
  private struct Source: Sendable {
    var name: String
    var text: String
  }

  private var http: Source?
  private var https: Source?
  private var exceptions = NoProxyRule("")

  init(_ choice: ProxyChoice, environment: [String: String]) {
    switch choice {
    case .none: break
    case .environment:
      http = Self.first(of: ["http_proxy", "all_proxy", "ALL_PROXY"], in: environment)
      https = Self.first(of: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"], in: environment)
      exceptions = NoProxyRule(Self.first(of: ["no_proxy", "NO_PROXY"], in: environment)?.text ?? "")
    case .url(let text, let list):
      http = Source(name: "CurlLoaderOptions.proxy", text: text)
      https = http
      exceptions = NoProxyRule(list)
    }
  }

  private static func first(of names: [String], in environment: [String: String]) -> Source? {
    for name in names {
      if let text = environment[name], !text.isEmpty { return Source(name: name, text: text) }
    }
    return nil
  }

  /// nil: none. Fails where the proxy that was set for this URL cannot be read.
  func proxy(for location: URLRule.Location) -> Result<Proxy?, ObjectError> {
    guard let source = location.scheme == "https" ? https : http, let port = location.effectivePort,
      !exceptions.excepts(location.host, port: port)
    else { return .success(nil) }
    do throws(URLRule.Refusal) {
      return .success(try Self.read(source.text))
    } catch {
      return .failure(
        ObjectError(
          .invalidRequest, "The proxy “\(redacted(source.text))” of \(source.name) cannot be used. \(error.why)"))
    }
  }

  /// `http://joe:pw@proxy:3128/`; the scheme may be left out and is http then. The port is the scheme's own where none
  /// is given.
  private static func read(_ text: String) throws(URLRule.Refusal) -> Proxy {
    let whole = text.contains("://") ? text : "http://\(text)"
    let location = try URLRule.parse(whole).get()
    guard location.isHTTP, let port = location.effectivePort else {
      throw URLRule.Refusal(why: "Only proxies of the schemes http and https are supported.")
    }
    var proxy = Proxy(scheme: location.scheme, host: location.host, port: port)
    guard let userinfo = location.userinfo else { return proxy }
    let parts = userinfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    proxy.user = try decoded(parts[0])
    proxy.password = try decoded(parts.count == 2 ? parts[1] : "")
    return proxy
  }

  private static func decoded(_ text: Substring) throws(URLRule.Refusal) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == Byte.percent else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(hexadecimalValue), let low = rest.popFirst().flatMap(hexadecimalValue)
      else { throw URLRule.Refusal(why: "Its user or password has a % that is no escape; write %25.") }
      bytes.append(high << 4 | low)
    }
    guard !bytes.contains(0) else { throw URLRule.Refusal(why: "Its user or password has a NUL.") }
    return String(decoding: bytes, as: UTF8.self)
  }
}
