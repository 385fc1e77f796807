/// Which reply goes to which path, and how connections are treated.
struct Routes: Sendable {
  private struct Route: Sendable {
    let replies: [Reply]
    var used = 0
  }

  private var table: [String: Route] = [:]
  /// Asked where no path fits; nil: 404.
  var handler: (@Sendable (Request) -> Reply)?
  var date = LoopbackServer.DateField.system
  var rule = LoopbackServer.ConnectionRule()

  /// The replies for successive requests; the last one repeats.
  mutating func set(_ path: String, _ replies: [Reply]) {
    table[path] = replies.isEmpty ? nil : Route(replies: replies)
  }

  /// The reply whose turn it is. What is left to decide is decided outside the lock.
  mutating func reply(to path: String) -> Reply {
    if let route = table[path] {
      table[path]?.used += 1
      return route.replies[min(route.used, route.replies.count - 1)]
    }
    if let handler { return Reply(handler) }
    return Reply(404, "Nothing is here.\n")
  }
}
