internal import Glibc
internal import ManagedObjects

/// An HTTP/1.1 server in this process, on 127.0.0.1 and a free port, that does what a test tells it to.
///
///     let server = try LoopbackServer()
///     server.on("/a", Reply(503), Reply("hello"))      // 503 once, then hello for ever
///     server.on("/b", Reply(bytes).cut(after: 100))
///     … server.url("/a") …
///     server.hits("/a") == 2
///
/// One thread serves all connections; keep-alive and pipelining as in RFC 9112. A handler runs on that thread: it may
/// use the server, but not wait. Where nothing is said of a path the reply is 404. What a handler captures lives as
/// long as the server does, so a handler that captures its own server needs `stop()`.
package final class LoopbackServer: Sendable {
  package enum DateField: Sendable {
    case none
    case system
    case fixed(String)
  }

  /// When the server closes a connection of its own will.
  package struct ConnectionRule: Sendable {
    /// After so many requests; nil: never.
    package var limitRequests: Int?
    /// "Connection: close" on the last reply, or not a word.
    package var announces = true
    /// After so much time without a request, without a word; nil: never. For connections that come to rest from now on.
    package var limitIdle: Duration?

    package init(limitRequests: Int? = nil, announces: Bool = true, limitIdle: Duration? = nil) {
      self.limitRequests = limitRequests
      self.announces = announces
      self.limitIdle = limitIdle
    }
  }

  package let address: String
  package let port: Int
  private let office: ServerOffice
  private let thread: Lock<pthread_t?>
  private let isStopped = Watched(false)

  /// - Parameter limitRecorded: Only the first so many requests are kept in `requests`; all are counted.
  package init(address: String = "127.0.0.1", limitRecorded: Int = 20_000) throws {
    office = try ServerOffice(limitRecorded: limitRecorded)
    let (listener, port) = try Socket.listening(on: address)
    self.address = address
    self.port = port
    Socket.setBlocking(listener, false)
    thread = Lock(try ServerThread.start(listener: listener, office: office))
  }

  package convenience init(_ handler: @escaping @Sendable (Request) -> Reply) throws {
    try self.init()
    office.routes.withLock { $0.handler = handler }
  }

  deinit { stop() }

  package var origin: String { "http://\(address):\(port)" }
  package func url(_ path: String) -> String { origin + path }

  // MARK: What it answers

  /// The replies to successive requests for this path, whatever their query and method; the last one repeats.
  package func on(_ path: String, _ replies: Reply...) { on(path, sequence: replies) }
  package func on(_ path: String, sequence replies: [Reply]) { office.routes.withLock { $0.set(path, replies) } }
  package func on(_ path: String, _ handler: @escaping @Sendable (Request) -> Reply) { on(path, Reply(handler)) }

  /// Asked for every path that nothing else was said of.
  package func otherwise(_ handler: @escaping @Sendable (Request) -> Reply) {
    office.routes.withLock { $0.handler = handler }
  }

  /// `hops` redirects one after the other: path, path/1, path/2, …, then `target`, which may be elsewhere.
  package func redirect(_ path: String, hops: Int = 1, to target: String, status: Int = 302) {
    for hop in 0..<hops {
      let here = hop == 0 ? path : "\(path)/\(hop)"
      on(here, .redirect(to: hop == hops - 1 ? target : "\(path)/\(hop + 1)", status: status))
    }
  }

  /// The Date of replies that bring none themselves. Default: `.system`.
  package var date: DateField {
    get { office.routes.withLock { $0.date } }
    set { office.routes.withLock { $0.date = newValue } }
  }

  package var rule: ConnectionRule {
    get { office.routes.withLock { $0.rule } }
    set { office.routes.withLock { $0.rule = newValue } }
  }

  // MARK: What it saw

  package var log: ServerLog { office.log.value }
  package func hits(_ path: String) -> Int { log.hits[path] ?? 0 }
  /// Requests in all.
  package var allHits: Int { log.allHits }
  package var requests: [Request] { log.requests }
  package func requests(_ path: String) -> [Request] { requests.filter { $0.path == path } }
  package var abortedReplies: Int { log.abortedReplies }
  package var connectionsOpened: Int { log.connectionsOpened }
  package var connectionsOpen: Int { log.connectionsOpen }

  /// Waits until the log meets the condition.
  @discardableResult
  package func wait(
    for what: String, seconds: Double = 10, until isMet: @escaping @Sendable (ServerLog) -> Bool
  ) async throws -> ServerLog {
    try await office.log.wait(for: what, seconds: seconds, until: isMet)
  }

  /// The same for code that is not async; blocks the thread.
  @discardableResult
  package func wait(
    for what: String, seconds: Double = 10, until isMet: @escaping @Sendable (ServerLog) -> Bool
  ) throws -> ServerLog {
    try office.log.wait(for: what, seconds: seconds, until: isMet)
  }

  package func waitForHits(_ path: String, _ count: Int, seconds: Double = 10) async throws {
    try await wait(for: "\(count) hits of \(path)", seconds: seconds) { $0.hits[path] ?? 0 >= count }
  }

  package func waitForHits(_ path: String, _ count: Int, seconds: Double = 10) throws {
    try wait(for: "\(count) hits of \(path)", seconds: seconds) { $0.hits[path] ?? 0 >= count }
  }

  package func waitForAborted(_ count: Int, seconds: Double = 10) async throws {
    try await wait(for: "\(count) aborted replies", seconds: seconds) { $0.abortedReplies >= count }
  }

  package func waitForAborted(_ count: Int, seconds: Double = 10) throws {
    try wait(for: "\(count) aborted replies", seconds: seconds) { $0.abortedReplies >= count }
  }

  // MARK: End

  /// Closes all connections and the port. When it returns the server's thread is gone, and with it whatever a handler
  /// was doing (a handler that calls this does not wait for itself). Doing it again does nothing.
  package func stop() {
    guard let thread = thread.withLock({ $0.take() }) else { return waitUntilStopped() }
    office.stops.withLock { $0 = true }
    office.signal.raise()
    if pthread_equal(thread, pthread_self()) != 0 {
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
    // What the handlers captured is let go of here, outside the lock.
    let old = office.routes.withLock { routes in
      let old = routes
      routes = Routes()
      return old
    }
    withExtendedLifetime(old) {}
    isStopped.update { $0 = true }
  }

  private func waitUntilStopped() { _ = try? isStopped.wait(for: "the server's end", seconds: 60) { $0 } }
}
