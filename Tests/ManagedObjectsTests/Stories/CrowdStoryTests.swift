import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// How many come at once. The sanitizer makes everything some ten times slower.
#if THREAD_SANITIZER
  private let crowd = 2_000
#else
  private let crowd = 20_000
#endif

/// How many requests a server gets: a debug build needs more than a millisecond for each.
#if DEBUG
  private let loads = crowd / 10
#else
  private let loads = crowd
#endif

/// Users by the ten thousand: all are told, once, and nothing is left behind.
struct CrowdStoryTests {
  /// Live handlers and transfers.
  private static let places = 64

  private static func policy() -> Policy {
    var policy = Policy()
    policy.limitTransfers = places
    policy.limitTransfersPerHost = places
    return policy
  }

  private static func waiting(_ location: String) -> ObjectRequest {
    var request = ObjectRequest(location)
    request.whenFull = .wait
    return request
  }

  /// Answers on another thread, with the location as the body.
  private static func answeringLoader() -> HeldLoader {
    HeldLoader { request, sink in
      DispatchQueue.global().async {
        sink.head(LoadHead(fields: ["Cache-Control": "max-age=60"]))
        sink.append(Data(request.location.utf8))
        sink.finish()
      }
    }
  }

  private func expectNothingLeft(of manager: ObjectManager) async throws {
    try await until("nothing is under way") {
      let statistics = manager.statistics
      return statistics.liveHandlers == 0 && statistics.waitingHandlers == 0 && statistics.runningTransfers == 0
    }
    #expect(manager.liveHandlers.isEmpty)
  }

  // MARK: All at once

  @Test(.timeLimit(.minutes(2))) func `twenty thousand callers of one url cause one request, and each gets the object`()
    async throws
  {
    let room = try StoryRoom()
    let gate = Gate()
    room.server.on("/one", Reply("for all", hour).held(until: gate))
    let manager = try room.manager()
    let request = room.request("/one")
    let served = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<crowd { group.addTask { try await manager.object(for: request, decodedBy: .text) } }
      try await until("all have come", seconds: 60) { manager.statistics.joins == crowd - 1 }
      gate.open()
      return try await group.reduce(into: 0) { served, text in served += text == "for all" ? 1 : 0 }
    }
    #expect(served == crowd)
    #expect(room.server.allHits == 1)
    #expect(manager.statistics.loads == 1 && manager.statistics.decodes == 1)
    try await expectNothingLeft(of: manager)
  }

  @Test(.timeLimit(.minutes(4))) func `thousands of callers of as many urls each get their own`() async throws {
    let room = try StoryRoom()
    room.server.otherwise { Reply($0.path, hour) }
    let manager = try room.manager()
    let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<loads {
        let request = room.request("/\(number)")
        group.addTask { try await manager.object(for: request, decodedBy: .text) == "/\(number)" }
      }
      return try await group.reduce(into: 0) { wrong, isRight in wrong += isRight ? 0 : 1 }
    }
    #expect(wrong == 0)
    #expect(room.server.allHits == loads)
    #expect(room.server.connectionsOpened <= 64)
    try await expectNothingLeft(of: manager)
  }

  // MARK: All leave

  @Test(.timeLimit(.minutes(2))) func `thousands that wait and sixty-four that run are left, and each is told once`()
    async throws
  {
    let loader = HeldLoader()
    let manager = ObjectManager(loaders: [loader], policy: Self.policy())
    let users = (0..<crowd / 2 + Self.places).map { _ in RecordingUser.text() }
    for (number, user) in users.enumerated() { manager.manage(user, for: Self.waiting("mem:\(number)")) }
    try await loader.waitForStarts(Self.places)
    #expect(manager.statistics.waitingHandlers == crowd / 2)
    let latch = Latch(8)
    for part in 0..<8 {
      Thread.detachNewThread {
        for user in users.indices where user % 8 == part { #expect(manager.leave(users[user])) }
        latch.countDown()
      }
    }
    try await latch.wait(seconds: 60)
    // Told by `leave` itself, before it returned.
    #expect(users.allSatisfy { $0.endings.map(\.reason) == [.left] })
    try await expectNothingLeft(of: manager)
    try await loader.waitForStops(loader.starts)
    let next = RecordingUser.text()
    manager.manage(next, for: ObjectRequest("mem:next"))
    try await until("the next load") { loader.sink("mem:next") != nil }
    loader.answer("mem:next", "served")
    #expect(try await next.object() == "served")
  }

  @Test(.timeLimit(.minutes(2)), arguments: [CancelReason.left, .closed])
  func `thousands of awaiting tasks are cancelled, or their manager is shut down, and each throws why`(
    reason: CancelReason
  ) async throws {
    let loader = HeldLoader()
    let manager = ObjectManager(loaders: [loader], policy: Self.policy())
    let told = try await withThrowingTaskGroup(of: CancelReason?.self) { group in
      for number in 0..<crowd / 2 + Self.places {
        group.addTask { await failure { try await manager.data(for: ObjectRequest("mem:\(number)")) }?.reason }
      }
      try await until("all wait", seconds: 60) { manager.statistics.waitingHandlers == crowd / 2 }
      if reason == .closed { manager.shutdown() } else { group.cancelAll() }
      return try await group.reduce(into: 0) { told, why in told += why == reason ? 1 : 0 }
    }
    #expect(told == crowd / 2 + Self.places)
    try await expectNothingLeft(of: manager)
    try await loader.waitForStops(loader.starts)
  }

  @Test(.timeLimit(.minutes(2))) func `users that die by the thousand in mid-load disturb none that live`() async throws
  {
    let manager = ObjectManager(loaders: [Self.answeringLoader()], policy: Self.policy())
    var users: [RecordingUser<String>?] = (0..<crowd).map { _ in RecordingUser.text() }
    // One in ten lives; two in three share their URL with others.
    let kept = users.indices.filter { $0 % 10 == 0 }
    for (number, user) in users.enumerated() {
      guard let user else { continue }
      manager.manage(user, for: Self.waiting("mem:\(number / 3)"))
      if number >= 500, (number - 500) % 10 != 0 { users[number - 500] = nil }
    }
    for number in users.indices where number % 10 != 0 { users[number] = nil }
    for number in kept {
      let ending = try await users[number]?.ending(seconds: 60)
      #expect(ending?.object == "mem:\(number / 3)")
    }
    try await expectNothingLeft(of: manager)
    #expect(kept.allSatisfy { users[$0]?.endings.count == 1 })
  }

  // MARK: What others do

  @Test func `a decoder that blocks holds up nobody but those who want its object`() async throws {
    let loader = Self.answeringLoader()
    var policy = Self.policy()
    policy.limitDecoders = 2
    let manager = ObjectManager(loaders: [loader], policy: policy)
    let (begun, go) = (Latch(), Latch())
    let blocked = RecordingUser<String>(variant: "blocking") { _ in
      begun.countDown()
      try go.wait(seconds: 60)
      return "late"
    }
    manager.manage(blocked, for: ObjectRequest("mem:blocked"))
    try await begun.wait()
    let others = (0..<crowd / 10).map { _ in RecordingUser.text() }
    for (number, user) in others.enumerated() { manager.manage(user, for: Self.waiting("mem:\(number)")) }
    for (number, user) in others.enumerated() { #expect(try await user.object(seconds: 60) == "mem:\(number)") }
    #expect(blocked.endings.isEmpty)
    go.countDown()
    #expect(try await blocked.object() == "late")
  }

  @Test(.timeLimit(.minutes(2))) func `the manager is let go with thousands at every stage, and each is told once`()
    async throws
  {
    let loader = HeldLoader { request, sink in
      // Every fourth load is never answered, and soon holds one of the places for ever.
      guard !request.location.hasSuffix("0"), !request.location.hasSuffix("4") else { return }
      DispatchQueue.global().async {
        sink.head(LoadHead())
        sink.append(Data(request.location.utf8))
        sink.finish()
      }
    }
    var manager: ObjectManager? = ObjectManager(loaders: [loader], policy: Self.policy())
    let users = (0..<crowd).map { _ in RecordingUser.text() }
    for (number, user) in users.enumerated() { manager?.manage(user, for: Self.waiting("mem:\(number)")) }
    try await loader.waitForStarts(Self.places)
    weak let gone = manager
    manager = nil
    #expect(gone == nil)
    for (number, user) in users.enumerated() {
      let ending = try await user.ending(seconds: 60)
      #expect(ending.reason == .closed || ending.object == "mem:\(number)")
    }
    let closed = users.count { $0.endings.first?.reason == .closed }
    #expect(closed > crowd / 2)
    #expect(users.allSatisfy { $0.endings.count == 1 })
    // What ran was called off; what had been answered needs no stop.
    try await until("all unanswered loads are stopped") {
      loader.loads.allSatisfy {
        $0.isStopped || !($0.request.location.hasSuffix("0") || $0.request.location.hasSuffix("4"))
      }
    }
  }
}
