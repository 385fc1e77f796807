internal import ManagedObjects

/// What a server's thread and the tests share. The thread holds this and never the server itself, whose `deinit` can
/// therefore stop the thread.
final class ServerOffice: Sendable {
  let routes = Lock(Routes())
  let log = Watched(ServerLog())
  /// Wakes the thread: a gate has opened, or it is to stop.
  let signal: Signal
  let stops = Lock(false)
  private let limitRecorded: Int

  init(limitRecorded: Int) throws {
    self.limitRecorded = limitRecorded
    signal = try Signal()
  }

  /// Counts the request and says what to answer.
  func answer(_ request: Request) -> (Reply, LoopbackServer.ConnectionRule) {
    log.update { log in
      log.hits[request.path, default: 0] += 1
      if log.requests.count < limitRecorded { log.requests.append(request) }
    }
    let (reply, rule) = routes.withLock { ($0.reply(to: request.path), $0.rule) }
    return (reply.decided(for: request), rule)
  }
}
