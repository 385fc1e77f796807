internal import CurlTransfer
public import FoundationEssentials

/// Loads http and https with libcurl: HTTP/1.1, and HTTP/2 over TLS, all loads of one loader on one thread.
///
/// Redirects are followed by this library's own rule, a transfer for each hop, and are shown to nobody. The bodies are
/// passed on as they come over the wire. Cookies are not kept. A loader that is let go ends its loads as `.cancelled` with
/// reason `.closed`.
///
/// All loads share the loader's connections. One whose method is idempotent (RFC 9110 section 9.2.2) is sent again, in the
/// end on a new connection, where one that had served before was closed before a byte of the answer came: servers close
/// idle and used-up connections just as the next request leaves. One of any other method, as POST, has a connection made
/// for it and is sent once.
public final class CurlLoader: Loader {
  private let engine: CurlEngine
  private let line: CurlLine

  /// The environment is read here, once.
  public convenience init(options: CurlLoaderOptions = CurlLoaderOptions()) {
    self.init(options: options, environment: ProcessInfo.processInfo.environment)
  }

  init(options: CurlLoaderOptions, environment: [String: String]) {
    engine = CurlEngine(limitConnections: options.limitConnections)
    line = CurlLine(engine.desk, options, ProxyRule(options.proxy, environment: environment))
  }

  /// True for http and https.
  public func accepts(_ url: URL) -> Bool {
    guard let scheme = url.scheme?.lowercased() else { return false }
    return scheme == "https" || scheme == "http"
  }

  /// On the loader's own thread, soon; here and now where that is no more.
  func onOwnThread(_ work: @escaping @Sendable () -> Void) {
    if !engine.run(work) { work() }
  }

  var isOwnThread: Bool { engine.isOwnThread }

  public func start(_ request: LoadRequest, into sink: LoadSink) -> LoadStop { start(request, for: sink) }

  /// The load holds the target until its end.
  func start(_ request: LoadRequest, for target: any CurlLoadTarget) -> LoadStop {
    let load = CurlLoad(for: target, on: line)
    load.begin(request)
    return LoadStop(load)
  }
}

/// What a load needs of a `LoadSink`.
protocol CurlLoadTarget: AnyObject, Sendable {
  var isWanted: Bool { get }
  func whenNotFull(_ call: @escaping @Sendable () -> Void)
  func interim(_ head: LoadHead)
  func redirected(by hop: RedirectHop)
  func head(_ head: LoadHead)
  func take(_ bytes: RawSpan) -> LoadSink.Appetite
  func finish(_ timings: LoadTimings?)
  func fail(_ error: ObjectError)
}

extension LoadSink: CurlLoadTarget {}
