import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Decoders that do not return: their requests end, the others go on.
struct HungDecoderTests {
  private let loader = HeldLoader()
  private let time = ManualClock()

  private func manager(_ policy: Policy = Policy()) -> ObjectManager {
    ObjectManager(loaders: [loader], policy: policy, time: time)
  }

  private func hanging(_ release: Latch, _ entered: Latch) -> RecordingUser<Int> {
    RecordingUser<Int>(variant: "hangs") { _ in
      entered.countDown()
      try release.wait(seconds: 60)
      return 1
    }
  }

  private func policy(replacing: Int) -> Policy {
    var policy = Policy()
    policy.limitDecoders = 1
    policy.limitReplacedThreads = replacing
    policy.decodeTimeout = .seconds(5)
    return policy
  }

  @Test func `a decoder that hangs ends its request, and others are decoded on another thread`() async throws {
    let (release, entered) = (Latch(), Latch())
    defer { release.countDown() }
    let manager = manager(policy(replacing: 1))
    let hung = hanging(release, entered)
    manager.manage(hung, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "x")
    try await entered.wait()
    time.advance(by: .seconds(4))
    #expect(hung.endings.isEmpty)
    time.advance(by: .seconds(2))
    #expect(try await hung.ending().error?.code == .decodeTimedOut)
    #expect(manager.liveHandlers.isEmpty)
    let next = RecordingUser.text()
    manager.manage(next, for: ObjectRequest("mem:b"))
    try await loader.waitForStarts(2)
    loader.answer("mem:b", "y")
    #expect(try await next.object() == "y")
    release.countDown()
    try await until("its late object is dropped") { manager.statistics.decodes == 2 }
    #expect(hung.endings.count == 1)
  }

  /// On machines with any number of cores: each has a decoder that does nothing but compute.
  @Test func `decoders that compute on every core hold up no timer, no file and no callback`() async throws {
    var policy = Policy()
    policy.decodeTimeout = .milliseconds(100)
    let manager = ObjectManager(loaders: [loader], cache: MemoryBackend(), policy: policy)
    let isOver = Lock(false)
    defer { isOver.withLock { $0 = true } }
    let end = Moment.now + .seconds(30)
    let users = (0..<Machine.cores).map { _ in
      RecordingUser<Int>(variant: "computes") { _ in
        while !isOver.withLock({ $0 }), Moment.now < end {}
        return 1
      }
    }
    for (number, user) in users.enumerated() { manager.manage(user, for: ObjectRequest("mem:\(number)")) }
    try await loader.waitForStarts(users.count)
    for number in users.indices { loader.answer(.number(number), "x") }
    for user in users { #expect(try await user.ending().error?.code == .decodeTimedOut) }
    #expect(Moment.now < end)
  }

  @Test func `when every decoding thread hangs, those that wait for one and those that come fail, until one is back`()
    async throws
  {
    let (release, entered) = (Latch(), Latch())
    defer { release.countDown() }
    let manager = manager(policy(replacing: 0))
    let (hung, waiting, late) = (hanging(release, entered), RecordingUser.text(), RecordingUser.text())
    manager.manage(hung, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "x")
    try await entered.wait()
    manager.manage(waiting, for: ObjectRequest("mem:b"))
    try await loader.waitForStarts(2)
    loader.answer("mem:b", "x")
    time.advance(by: .seconds(6))
    #expect(try await hung.ending().error?.code == .decodeTimedOut)
    #expect(try await waiting.ending().error?.code == .decodeTimedOut)
    manager.manage(late, for: ObjectRequest("mem:c"))
    try await loader.waitForStarts(3)
    loader.answer("mem:c", "x")
    #expect(try await late.ending().error?.code == .decodeTimedOut)
    release.countDown()
    try await until("its thread is back") { manager.statistics.decodes == 1 }
    let ending = try await firstSuccess(manager)
    #expect(ending == "x" && waiting.endings.count == 1 && waiting.decodes == 0)
  }

  /// The thread is counted again a moment after its decode was.
  private func firstSuccess(_ manager: ObjectManager) async throws -> String? {
    for number in 0..<1000 {
      let user = RecordingUser.text()
      let location = "mem:again\(number)"
      manager.manage(user, for: ObjectRequest(location))
      try await until("a load") { [loader] in loader.starts(location) == 1 }
      loader.answer(.location(location), "x")
      if let object = try await user.ending().object { return object }
    }
    return nil
  }
}
