import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Many users at once, and callbacks that do what they like.
struct ConcurrencyStoryTests {
  private let room: StoryRoom

  init() throws { room = try StoryRoom() }

  @Test func `one leaves early, one in the very moment of the answer, and the third is served once`() async throws {
    for round in 0..<100 {
      let gate = Gate()
      let path = "/slow\(round)"
      room.server.on(path, Reply("late", hour).held(until: gate))
      let manager = try room.manager()
      let users = (0..<3).map { _ in RecordingUser.text() }
      for user in users { manager.manage(user, for: room.request(path)) }
      try await room.server.waitForHits(path, 1)
      manager.leave(users[0])
      #expect(users[0].endings.count == 1)
      gate.open()
      manager.leave(users[1])
      #expect(try await users[2].object() == "late")
      #expect(try await users[1].ending().outcome.isReadyOrLeft)
      #expect(users.allSatisfy { $0.endings.count == 1 })
      #expect(room.server.hits(path) == 1)
    }
  }

  @Test func `all three leave, and the server sees the connection closed early`() async throws {
    room.server.on("/slow", Reply(Array(repeating: 0, count: 1 << 20)).held(until: Gate(), afterBytes: 10))
    let manager = try room.manager()
    let users = (0..<3).map { _ in RecordingUser.text() }
    for user in users { manager.manage(user, for: room.request("/slow")) }
    try await room.server.waitForHits("/slow", 1)
    for user in users { manager.leave(user) }
    try await room.server.waitForAborted(1)
    #expect(users.allSatisfy { $0.endings.map(\.reason) == [.left] })
  }

  @Test func `fifty users from eight threads cause one request and fifty deliveries`() async throws {
    let gate = Gate()
    room.server.on("/big", Reply("big", hour).held(until: gate))
    let manager = try room.manager()
    let users = (0..<50).map { _ in RecordingUser.text() }
    let latch = Latch(8)
    for thread in 0..<8 {
      Thread.detachNewThread {
        for index in stride(from: thread, to: 50, by: 8) { manager.manage(users[index], for: room.request("/big")) }
        latch.countDown()
      }
    }
    try await latch.wait()
    gate.open()
    for user in users { #expect(try await user.object() == "big") }
    #expect(room.server.hits("/big") == 1)
  }

  @Test func `fifty users of a failing url fail once each, and the next asks anew`() async throws {
    let gate = Gate()
    room.server.on("/bad", Reply(500, "bad").held(until: gate), Reply("good", hour))
    let manager = try room.strictManager()
    let users = (0..<50).map { _ in RecordingUser.text() }
    for user in users { manager.manage(user, for: room.request("/bad")) }
    gate.open()
    for user in users { #expect(try await user.ending().error?.head?.status == 500) }
    #expect(users.allSatisfy { $0.endings.count == 1 })
    #expect(room.server.hits("/bad") == 1)
    #expect(try await manager.object(for: room.request("/bad"), decodedBy: .text) == "good")
  }

  @Test func `users that keep arriving while the load ends all get it from one request`() async throws {
    for round in 0..<20 {
      let path = "/edge\(round)"
      let gate = Gate()
      room.server.on(path, Reply("edge", hour).held(until: gate))
      let manager = try room.manager()
      let users = (0..<400).map { _ in RecordingUser.text() }
      let latch = Latch(2)
      for half in 0..<2 {
        Thread.detachNewThread {
          for index in stride(from: half, to: 400, by: 2) {
            if index == 100 { gate.open() }
            manager.manage(users[index], for: room.request(path))
          }
          latch.countDown()
        }
      }
      try await latch.wait()
      for user in users { #expect(try await user.object() == "edge") }
      #expect(room.server.hits(path) == 1)
    }
  }

  @Test func `different decoders at once are right from the network, from memory and from the file`() async throws {
    room.server.on("/data", Reply("abc", hour))
    let manager = try room.manager()
    for manager in [manager, manager, try room.manager()] {
      let upper = RecordingUser<String>(variant: "upper") {
        String(decoding: try $0.data(), as: UTF8.self).uppercased()
      }
      let count = RecordingUser<Int>(variant: "count") { $0.count }
      let raw = RecordingUser.data()
      let broken = RecordingUser<String>(variant: "broken") { _ in throw Broken() }
      manager.manage(upper, for: room.request("/data"))
      manager.manage(count, for: room.request("/data"))
      manager.manage(raw, for: room.request("/data"))
      manager.manage(broken, for: room.request("/data"))
      #expect(try await upper.object() == "ABC")
      #expect(try await count.object() == 3)
      #expect(try await raw.object() == Data("abc".utf8))
      #expect(try await broken.ending().error?.code == .undecodable)
    }
    #expect(room.server.hits("/data") == 1)
  }

  @Test func `every call of the library may be made from inside every callback`() async throws {
    for path in ["/a", "/b", "/missing"] { room.server.on(path, path == "/missing" ? Reply(404) : Reply("x", hour)) }
    for delivery in [Delivery.direct, .pool, .custom { work in DispatchQueue.global().async(execute: work) }] {
      let manager = try room.strictManager()
      let user = BusyUser(manager, room, delivery)
      let other = RecordingUser.text()
      manager.manage(other, for: room.request("/b"))
      for (round, path) in ["/a", "/missing", "/a", "/a"].enumerated() {
        manager.manage(user, for: room.request(path))
        try await user.rounds.wait(round + 1)
      }
      #expect(user.endings.withLock { $0 } >= 4)
      manager.shutdown()
    }
  }

  @Test func `users that ask for each other inside their callbacks do not deepen the stack`() async throws {
    room.server.on("/a", Reply("x", hour))
    let manager = try room.manager()
    _ = try await manager.object(for: room.request("/a"), decodedBy: .text)
    let chain = Chain(manager, room.request("/a"), length: 20_000)
    chain.next()
    try await chain.done.wait(seconds: 30)
    #expect(chain.deepest.withLock { $0 } <= 2)
  }

  @Test func `the last reference to the manager may be dropped inside a callback`() async throws {
    room.server.on("/a", Reply("x", hour))
    let holder = Lock<ObjectManager?>(try room.manager())
    let user = DroppingUser { holder.withLock { $0.take() } }
    holder.withLock { $0 }?.manage(user, for: room.request("/a"))
    try await user.ended.wait()
    #expect(user.ended.elements == ["x"])
    #expect(holder.withLock { $0 == nil })
  }

  @Test func `a storm of users, leaves and lost references ends everybody once`() async throws {
    room.server.otherwise { Reply($0.path, hour) }
    let manager = try room.manager { $0.limitLiveHandlers = 8 }
    let users = (0..<1200).map { _ in RecordingUser.text() }
    let latch = Latch(4)
    for thread in 0..<4 {
      Thread.detachNewThread {
        var random = SeededRandom(seed: UInt64(thread))
        for index in stride(from: thread, to: 1200, by: 4) {
          manager.manage(users[index], for: room.request("/\(index % 40)"))
          if Int.random(in: 0..<4, using: &random) == 0 { manager.leave(users[index]) }
          if Int.random(in: 0..<8, using: &random) == 0 {
            manager.manage(RecordingUser.text(), for: room.request("/dropped\(index % 9)"))
          }
        }
        latch.countDown()
      }
    }
    try await latch.wait()
    for user in users { _ = try await user.ending() }
    #expect(users.allSatisfy { $0.endings.count == 1 })
    try await until("nothing is under way") { manager.liveHandlers.isEmpty }
    #expect(manager.statistics.runningTransfers == 0 && manager.statistics.waitingHandlers == 0)
  }
}

extension Ending.Outcome {
  fileprivate var isReadyOrLeft: Bool {
    switch self {
    case .ready, .cancelled(.left): true
    default: false
    }
  }
}

/// Calls everything there is from inside its callbacks.
private final class BusyUser: ManagedUser {
  let rounds = Collector<Int>()
  let endings = Lock(0)
  let delivery: Delivery
  private let manager: ObjectManager
  private let room: StoryRoom
  private let others = Lock<[RecordingUser<String>]>([])

  init(_ manager: ObjectManager, _ room: StoryRoom, _ delivery: Delivery) {
    self.manager = manager
    self.room = room
    self.delivery = delivery
  }

  func readyFromLoaded(_ loaded: Loaded) throws -> String {
    callEverything()
    return String(decoding: try loaded.data(), as: UTF8.self)
  }

  func progressed(_ progress: LoadProgress) { callEverything() }

  func ended(_ ending: Ending<String>) {
    endings.withLock { $0 += 1 }
    callEverything()
    rounds.append(1)
  }

  private func callEverything() {
    let other = RecordingUser.text()
    others.withLock { $0.append(other) }
    manager.manage(other, for: room.request("/a"))
    manager.manage(other, for: room.request("/b"))
    manager.leave(other)
    _ = manager.peek(room.request("/a"), decodedBy: .text)
    _ = manager.statistics
    _ = manager.liveHandlers
    manager.setPriority(.high, of: other)
    manager.removeAllFromMemory()
    manager.forgetFailures()
    Task { [manager, room] in
      try? await manager.removeAll()
      _ = try? await manager.contains(room.request("/a"))
    }
  }
}

/// A new user for each step, asked for inside the callback of the one before.
private final class Chain: Sendable {
  final class Link: ManagedUser {
    let chain: Chain
    init(_ chain: Chain) { self.chain = chain }
    func readyFromLoaded(_ loaded: Loaded) throws -> String { String(decoding: try loaded.data(), as: UTF8.self) }
    var representation: Representation { ObjectDecoder<String>.text.representation }
    func ended(_ ending: Ending<String>) { chain.entered { chain.next() } }
  }

  let done = Latch()
  let deepest = Lock(0)
  private let depth = Lock(0)
  private let left: Lock<Int>
  private let links = Lock<[Link]>([])
  private let manager: ObjectManager
  private let request: ObjectRequest

  init(_ manager: ObjectManager, _ request: ObjectRequest, length: Int) {
    self.manager = manager
    self.request = request
    left = Lock(length)
  }

  func next() {
    let isDone = left.withLock {
      $0 -= 1
      return $0 < 0
    }
    if isDone { return done.countDown() }
    let link = Link(self)
    links.withLock { $0.append(link) }
    manager.manage(link, for: request)
  }

  func entered(_ body: () -> Void) {
    let now = depth.withLock {
      $0 += 1
      return $0
    }
    deepest.withLock { $0 = max($0, now) }
    body()
    depth.withLock { $0 -= 1 }
  }
}

private final class DroppingUser: ManagedUser {
  let ended = Collector<String>()
  private let drop: @Sendable () -> ObjectManager?
  init(_ drop: @escaping @Sendable () -> ObjectManager?) { self.drop = drop }
  func readyFromLoaded(_ loaded: Loaded) throws -> String { String(decoding: try loaded.data(), as: UTF8.self) }
  func ended(_ ending: Ending<String>) {
    _ = drop()
    ended.append(ending.object ?? "\(ending.outcome)")
  }
}
