import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Many requests, extreme limits, and users that come at the wrong moment.
struct CrowdTests {
  /// Holds "mem:held…" and answers all else inside `start`.
  private static func loader() -> HeldLoader {
    HeldLoader { request, sink in
      guard !request.location.hasPrefix("mem:held") else { return }
      sink.head(LoadHead(fields: ["Cache-Control": "max-age=60"]))
      sink.append(Data("x".utf8))
      sink.finish()
    }
  }

  @Test(.timeLimit(.minutes(2))) func `twenty thousand that wait for one place get it one after the other`()
    async throws
  {
    let loader = Self.loader()
    var policy = Policy()
    policy.limitLiveHandlers = 1
    let manager = ObjectManager(loaders: [loader], policy: policy)
    async let first = manager.data(for: ObjectRequest("mem:held"))
    try await loader.waitForStarts(1)
    async let errors = manager.prefetch((0..<20_000).map { ObjectRequest("mem:\($0)") })
    try await until("all wait", seconds: 60) { manager.statistics.waitingHandlers == 20_000 }
    // On a thread with a small stack, as all but the first are.
    DispatchQueue(label: "answer").async { loader.answer("mem:held", "first") }
    #expect(try await first == Data("first".utf8))
    #expect(await errors.isEmpty)
    #expect(loader.starts == 20_001)
  }

  @Test func `limits without end and limits below zero harm nothing`() async throws {
    for limit in [Int.max, 0, -1, Int.min] {
      var policy = Policy()
      policy.limitLiveHandlers = limit
      policy.limitTransfers = limit
      policy.limitTransfersPerHost = limit
      policy.limitBodyInMemoryBytes = limit
      policy.limitMemoryCost = limit
      policy.limitDecoders = limit
      policy.limitReplacedThreads = limit
      policy.limitFileThreads = limit
      policy.failureMemory.limitEntries = limit
      policy.retry.limitTries = limit
      let loader = Self.loader()
      let manager = ObjectManager(loaders: [loader], cache: MemoryBackend(), policy: policy)
      for number in 0..<100 {
        let user = RecordingUser.text()
        manager.manage(user, for: ObjectRequest("mem:\(number)"))
        #expect(try await user.object() == "x")
      }
      let user = RecordingUser.text()
      manager.manage(user, for: ObjectRequest("mem:held"))
      try await until("a load") { loader.sink("mem:held") != nil }
      loader.answer("mem:held", head: LoadHead(status: 404))
      #expect(try await user.ending().error?.head?.status == 404)
    }
  }

  @Test func `who joins while the only decoding users die gets its object all the same`() async throws {
    let loader = HeldLoader()
    var policy = Policy()
    policy.limitDecoders = 1
    let manager = ObjectManager(loaders: [loader], policy: policy)
    let (begun, go) = (Latch(), Latch())
    let slow = RecordingUser<Int>(variant: "slow") { _ in
      begun.countDown()
      try go.wait()
      return 1
    }
    manager.manage(slow, for: ObjectRequest("mem:slow"))
    try await loader.waitForStarts(1)
    loader.answer(0, "s")
    try await begun.wait()
    var dying: RecordingUser<String>? = .text()
    if let dying { manager.manage(dying, for: ObjectRequest("mem:a")) }
    try await loader.waitForStarts(2)
    loader.answer("mem:a", "here")
    // Made while the other lives, so that it is not of the same identity.
    let late = RecordingUser.text()
    dying = nil
    let handler = manager.manage(late, for: ObjectRequest("mem:a"))
    #expect(handler?.state == .loaded)
    go.countDown()
    #expect(try await late.object() == "here")
    #expect(loader.starts == 2)
  }

  @Test func `a hit does not wait for those who coordinate loads`() async throws {
    let core = Core(
      loaders: [Self.loader()], backend: nil, interceptors: [], policy: Policy(), time: SystemTime())
    let request = ObjectRequest("mem:a")
    let first = RecordingUser.text()
    _ = core.manage(first, request, nil)
    _ = try await first.object()
    let second = RecordingUser.text()
    try core.read { _ in
      let done = Latch()
      Thread.detachNewThread {
        _ = core.manage(second, request, nil)
        done.countDown()
      }
      return Result { try done.wait() }
    }.get()
    #expect(second.endings.first?.object == "x")
    #expect(core.statistics.memoryHits == 1)
  }

  @Test func `after shutdown nothing is handed out from memory either`() async throws {
    let manager = ObjectManager(loaders: [Self.loader()])
    let request = ObjectRequest("mem:a")
    _ = try await manager.object(for: request, decodedBy: .text)
    manager.shutdown()
    let user = RecordingUser.text()
    #expect(manager.manage(user, for: request) == nil)
    #expect(user.endings.map(\.reason) == [.closed])
    await #expect(throws: ObjectError.self) { try await manager.object(for: request, decodedBy: .text) }
  }

  @Test func `a load is told to begin before it is told to end, also by a loader that answers at once`() async throws {
    let manager = ObjectManager(loaders: [Self.loader()])
    let events = manager.events()
    _ = try await manager.data(for: ObjectRequest("mem:a"))
    manager.shutdown()
    var told: [String] = []
    for await event in events {
      switch event {
      case .loadStarted: told.append("started")
      case .loadFinished: told.append("finished")
      case .decoded: told.append("decoded")
      default: told.append("\(event)")
      }
    }
    #expect(told == ["started", "finished", "decoded"])
  }

  @Test func `a broken cache with a new message for each object is told of a few times only`() {
    var health = CacheHealth()
    let told = (0..<1000).count { health.failed(ObjectError(.cacheBroken, "The entry \($0) is broken.")) }
    #expect(told > 0 && told <= 16)
    health.worked()
    let isToldAgain = health.failed(ObjectError(.cacheBroken, "The entry 1 is broken."))
    #expect(isToldAgain)
  }
}
