import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Servers that ask for patience, in a time turned by hand.
struct RetryAfterStoryTests {
  /// What a server says, and what then has to hold.
  struct Patience: Sendable, CustomTestStringConvertible {
    let status: Int
    /// nil: no field. Made when the request is here.
    let field: @Sendable (_ now: WallTime) -> String?
    /// No second request comes sooner.
    let wait: Duration
    let testDescription: String

    init(_ status: Int, _ name: String, wait: Duration, _ field: @escaping @Sendable (WallTime) -> String?) {
      self.status = status
      self.field = field
      self.wait = wait
      testDescription = "\(status) \(name)"
    }

    init(_ status: Int, _ value: String?, wait: Duration = .zero) {
      self.init(status, value ?? "without a field", wait: wait) { _ in value }
    }

    static let kinds = [
      Patience(429, "2", wait: .seconds(2)),
      Patience(503, "2", wait: .seconds(2)),
      Patience(503, "a date 2 s ahead", wait: .seconds(2)) { httpDate($0 + .milliseconds(2999)) },
      Patience(429, "a date in the past", wait: .zero) { httpDate($0 + .seconds(-86_400)) },
      Patience(429, "-5"), Patience(429, "abc"), Patience(503, ""), Patience(429, nil),
    ]
  }

  private let room: StoryRoom
  private let time = ManualClock()
  /// When which path was asked for.
  private let asked = Collector<(path: String, at: Moment)>()

  init() throws { room = try StoryRoom() }

  private func manager() throws -> ObjectManager {
    ObjectManager(cache: try FileCache(folder: room.cacheFolder), time: time)
  }

  private func users(_ manager: ObjectManager, count: Int) -> [RecordingUser<String>] {
    (0..<count).map { number in
      let user = RecordingUser.text()
      manager.manage(user, for: room.request("/\(number)"))
      return user
    }
  }

  /// Lets time pass, but never while something is on its way, until all have their endings.
  private func pass(_ manager: ObjectManager, until users: [RecordingUser<String>]) async throws {
    try await until("all are told", seconds: 60) { [time] in
      if manager.statistics.runningTransfers == 0 { time.advance(by: .milliseconds(50)) }
      return users.allSatisfy { !$0.endings.isEmpty }
    }
  }

  private func times(_ path: String) -> [Moment] {
    asked.elements.filter { $0.path == path }.map(\.at)
  }

  @Test(arguments: Patience.kinds) func `no url is asked for again before the wait that its server stated`(
    patience: Patience
  ) async throws {
    room.server.otherwise { [asked, time] request in
      let isFirst = !asked.elements.contains { $0.path == request.path }
      asked.append((request.path, time.now))
      guard isFirst else { return Reply(request.path, hour) }
      guard let field = patience.field(time.wallNow) else { return Reply(patience.status, "no") }
      return Reply(patience.status, "no", ["Retry-After": field])
    }
    let manager = try manager()
    let users = users(manager, count: 20)
    try await pass(manager, until: users)
    for (number, user) in users.enumerated() {
      #expect(try await user.object() == "/\(number)")
      let times = times("/\(number)")
      #expect(times.count == 2)
      if let first = times.first, let last = times.last { #expect(last - first >= patience.wait) }
    }
  }

  @Test(arguments: [429, 503]) func `who is always told to wait is asked three times, and no such answer is stored`(
    status: Int
  ) async throws {
    room.server.otherwise { [asked, time] request in
      asked.append((request.path, time.now))
      return Reply(status, "no", ["Retry-After": "2", "Cache-Control": "max-age=60"])
    }
    let manager = try manager()
    let users = users(manager, count: 20)
    try await pass(manager, until: users)
    for (number, user) in users.enumerated() {
      #expect(try await user.ending().error?.head?.status == status)
      let times = times("/\(number)")
      #expect(times.count == RetryPolicy().limitTries)
      for (earlier, later) in zip(times, times.dropFirst()) { #expect(later - earlier >= .seconds(2)) }
      #expect(try await manager.contains(room.request("/\(number)")) == false)
    }
    await manager.settle()
    #expect(room.entryFiles.isEmpty)
  }

  @Test func `error pages that grow from try to try are not taken for progress`() async throws {
    room.server.otherwise { [asked, time] request in
      asked.append((request.path, time.now))
      return Reply(503, [UInt8](repeating: 1, count: 1000 * asked.elements.count))
    }
    let manager = try manager()
    let users = users(manager, count: 1)
    try await pass(manager, until: users)
    #expect(try await users[0].ending().error?.head?.status == 503)
    #expect(room.server.allHits == RetryPolicy().limitTries)
  }

  @Test(arguments: [429, 503]) func `a wait of a day fails at once, and the message names it`(status: Int) async throws
  {
    room.server.otherwise { _ in Reply(status, "no", ["Retry-After": "86400"]) }
    let manager = try manager()
    let users = users(manager, count: 20)
    for user in users {
      let error = try await user.ending().error
      #expect(error?.code == .retryLater && error?.head?.status == status)
      #expect(error?.message.contains("86400 s") == true)
    }
    #expect(room.server.allHits <= 20)
    #expect(manager.statistics.retries == 0)
  }
}
