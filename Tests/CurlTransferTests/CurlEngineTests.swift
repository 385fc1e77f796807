import Glibc
import Locking
import TestSupport
import Testing

@testable import CurlTransfer

/// Many transfers at once, stopping, pausing and closing. One test at a time, since each can fill a machine.
@Suite(.serialized) struct CurlEngineTests {
  let server: LoopbackServer

  init() throws { server = try LoopbackServer() }

  @Test func `2000 transfers 64 at once all end well on one thread`() async throws {
    let total = 2000
    for index in 0..<50 { server.on("/\(index)", Reply(200, Pattern(seed: index).bytes(1000 + index))) }
    let engine = CurlEngine(limitConnections: 64)
    let crowd = Crowd(total: total, engine: engine, server: server)
    crowd.fill(64)
    let result = try await crowd.result.wait(for: "all transfers", seconds: 60) { $0.ended == total }
    #expect(result.good == total && result.threads.count == 1)
    #expect(server.allHits == total && server.connectionsOpened <= 64)
    engine.close()
  }

  // MARK: Back-pressure

  @Test func `a slow consumer loses no byte and gets none twice`() async throws {
    let count = 3_000_000
    server.on("/a", Reply(200, body: .pattern(Pattern(seed: 7), count: count)))
    let engine = CurlEngine()
    let receiver = RecordingReceiver(flow: { _ in .pause })
    engine.start(TransferRequest(server, "/a"), receiver)
    var pauses = 0
    while receiver.record.value.ends.isEmpty {
      let record = try await receiver.record.wait(for: "a pause") { [pauses] in
        $0.pauses > pauses || !$0.ends.isEmpty
      }
      pauses = record.pauses
      if let id = record.id { engine.resume(id) }
    }
    let record = receiver.record.value
    #expect(record.body == Pattern(seed: 7).bytes(count) && record.facts != nil)
    #expect(record.surprises.isEmpty)
  }

  @Test func `a paused transfer holds the server back and no other transfer`() async throws {
    server.on("/endless", .endless())
    server.on("/a", Reply("hello"))
    let engine = CurlEngine()
    let paused = RecordingReceiver(keepsBody: false, flow: { _ in .pause })
    engine.start(TransferRequest(server, "/endless"), paused)
    let first = try await paused.record.wait(for: "a pause") { $0.pauses > 0 }
    for _ in 0..<100 { #expect(try await engine.run(server, "/a").facts != nil) }
    // Only what had been received before the pause may have come since: one buffer.
    #expect(paused.record.value.bodyBytes <= first.bodyBytes + 128 << 10)
    engine.stop(try #require(first.id))
    #expect(try await paused.finished().kind == .stopped)
  }

  @Test func `a paused transfer is not idle`() async throws {
    let gate = Gate()
    server.on("/a", Reply(200, body: .pattern(Pattern(), count: 400_000)))
    server.on("/clock", Reply("tick").held(until: gate))
    let engine = CurlEngine()
    let paused = RecordingReceiver(flow: { $0.pauses == 0 ? .pause : .more })
    var request = TransferRequest(server, "/a")
    request.idleTimeout = .seconds(1)
    engine.start(request, paused)
    let id = try #require(try await paused.record.wait(for: "a pause") { $0.pauses > 0 }.id)
    // A transfer beside it that does run into the same time-out is the clock of this test.
    var clock = TransferRequest(server, "/clock")
    clock.idleTimeout = .seconds(2)
    #expect(try await engine.run(clock).kind == .timedOut(.idle))
    #expect(paused.record.value.ends.isEmpty)
    engine.resume(id)
    #expect(try await paused.finished().body == Pattern().bytes(400_000))
    gate.open()
  }

  @Test func `a resume that nobody needs does no harm`() async throws {
    server.on("/a", Reply("hello"))
    let engine = CurlEngine()
    let receiver = RecordingReceiver()
    let id = try #require(engine.start(TransferRequest(server, "/a"), receiver))
    for _ in 0..<10 { engine.resume(id) }
    #expect(try await receiver.finished().facts != nil)
    engine.resume(id)
    engine.stop(id)
    #expect(try await engine.run(server, "/a").facts != nil)
    #expect(receiver.record.value.ends.count == 1)
  }

  // MARK: Work on its thread

  @Test func `work is done on the engine's thread, in order, and what it begins is begun there`() async throws {
    server.on("/a", Reply("hello"))
    let engine = CurlEngine()
    let receiver = RecordingReceiver()
    let threads = Watched<[UInt]>([])
    let request = TransferRequest(server, "/a")
    let isFirstTaken = engine.run { threads.update { $0.append(UInt(pthread_self())) } }
    let isSecondTaken = engine.run { [weak engine] in
      threads.update { $0.append(UInt(pthread_self())) }
      _ = engine?.start(request, receiver)
    }
    #expect(isFirstTaken && isSecondTaken)
    #expect(try await receiver.finished().facts != nil)
    #expect(threads.value.count == 2 && Set(threads.value).count == 1 && threads.value[0] != UInt(pthread_self()))
  }

  @Test func `a closed engine refuses work, and does what it had taken`() async throws {
    let engine = CurlEngine()
    let done = Watched(0)
    var taken = 0
    for _ in 0..<100 where engine.run({ done.update { $0 += 1 } }) { taken += 1 }
    engine.close()
    let isTakenLate = engine.run {}
    #expect(taken == 100 && !isTakenLate)
    _ = try await done.wait(for: "all of it") { $0 == 100 }
  }

  // MARK: A system that has nothing to give

  @Test func `an engine that got no thread says so, and the next transfer tries again`() async throws {
    server.on("/a", Reply("hello"))
    let refusals = Watched(2)
    let engine = CurlEngine(startThread: { body in
      let isRefused = refusals.update { left in
        left -= 1
        return left >= 0
      }
      return isRefused ? false : EngineThread.start(body)
    })
    let (first, second) = (RecordingReceiver(), RecordingReceiver())
    let request = TransferRequest(server, "/a")
    engine.start(request, first)
    #expect(first.record.value.kind == .other && first.record.value.failure?.message.contains("no thread") == true)
    // What is begun by work that is done here for want of a thread tries again, too.
    let isTaken = engine.run { [weak engine] in _ = engine?.start(request, second) }
    #expect(try await second.finished().facts != nil)
    #expect(isTaken)
    #expect(first.record.value.ends.count == 1 && second.record.value.ends.count == 1)
  }

  @Test func `work that leaves work goes no deeper into the stack where there is no thread`() {
    let engine = CurlEngine(startThread: { _ in false })
    let left = Watched(200_000)
    @Sendable func goOn() {
      let isLast = left.update { left in
        left -= 1
        return left == 0
      }
      if !isLast { _ = engine.run(goOn) }
    }
    goOn()
    #expect(left.value == 0)
  }

  @Test func `an engine that got no descriptor says so, and the next transfer tries again`() async throws {
    server.on("/a", Reply("hello"))
    let (url, port) = (server.url("/a"), server.port)
    // In a process of its own, where the limit harms nobody else.
    await #expect(processExitsWith: .success) { [url = url as String, port = port as Int] in
      let request = TransferRequest(url: url, origin: TransferOrigin(scheme: "http", host: "127.0.0.1", port: port))
      // libcurl and what it uses are set up once, and not under such a limit.
      #expect(try await CurlEngine().run(request).facts != nil)
      var old = rlimit()
      #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &old) == 0)
      var none = rlimit(rlim_cur: 0, rlim_max: old.rlim_max)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
      let engine = CurlEngine()
      let refused = try await engine.run(request)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &old) == 0)
      #expect(refused.kind == .other && refused.failure?.message.contains("descriptor") == true)
      #expect(try await engine.run(request).facts != nil)
    }
  }

  // MARK: Stopping

  @Test func `the receiver ends an endless body`() async throws {
    server.on("/endless", .endless())
    let engine = CurlEngine()
    let receiver = RecordingReceiver(keepsBody: false, flow: { $0.bodyBytes > 1_000_000 ? .stop : .more })
    engine.start(TransferRequest(server, "/endless"), receiver)
    let record = try await receiver.finished()
    #expect(record.kind == .stopped && record.surprises.isEmpty)
    try await server.waitForAborted(1)
  }

  @Test func `a stopped transfer ends once and closes its connection`() async throws {
    server.on("/never", .never)
    let engine = CurlEngine()
    let receiver = RecordingReceiver()
    let id = try #require(engine.start(TransferRequest(server, "/never"), receiver))
    try await server.waitForHits("/never", 1)
    engine.stop(id)
    engine.stop(id)
    let record = try await receiver.finished()
    #expect(record.kind == .stopped && record.ends.count == 1)
    try await server.waitForAborted(1)
  }

  @Test func `a transfer stopped before it began is told all the same`() async throws {
    server.on("/a", Reply("hello"))
    let engine = CurlEngine()
    let receivers = (0..<200).map { _ in RecordingReceiver() }
    for receiver in receivers {
      let id = try #require(engine.start(TransferRequest(server, "/a"), receiver))
      engine.stop(id)
    }
    for receiver in receivers {
      let record = try await receiver.finished()
      #expect(record.ends.count == 1 && (record.kind == .stopped || record.facts != nil))
    }
  }

  @Test func `a stop from inside a callback is served after it`() async throws {
    server.on("/endless", .endless())
    let engine = CurlEngine()
    let receiver = RecordingReceiver(
      keepsBody: false,
      flow: { [weak engine] record in
        if let id = record.id { engine?.stop(id) }
        return .more
      })
    engine.start(TransferRequest(server, "/endless"), receiver)
    #expect(try await receiver.finished().kind == .stopped)
  }

  @Test func `of many transfers those that were stopped end and the others go on`() async throws {
    let gate = Gate()
    server.on("/a", Reply("hello").held(until: gate))
    let engine = CurlEngine()
    let receivers = (0..<60).map { _ in RecordingReceiver() }
    let ids = receivers.map { engine.start(TransferRequest(server, "/a"), $0) }
    try await server.waitForHits("/a", 60)
    for index in stride(from: 0, to: 60, by: 2) { engine.stop(try #require(ids[index])) }
    for index in stride(from: 0, to: 60, by: 2) { #expect(try await receivers[index].finished().kind == .stopped) }
    gate.open()
    for index in stride(from: 1, to: 60, by: 2) { #expect(try await receivers[index].finished().facts != nil) }
    #expect(receivers.allSatisfy { $0.record.value.ends.count == 1 })
  }

  // MARK: Closing

  @Test func `closing ends every transfer exactly once`() async throws {
    server.on("/never", .never)
    server.on("/endless", .endless())
    server.on("/a", Reply("hello"))
    let engine = CurlEngine()
    let receivers = (0..<90).map { _ in RecordingReceiver(keepsBody: false) }
    for (index, receiver) in receivers.enumerated() {
      let path = index < 3 ? "/endless" : index % 2 == 0 ? "/a" : "/never"
      engine.start(TransferRequest(server, path), receiver)
    }
    try await server.waitForHits("/never", 44, seconds: 60)
    engine.close()
    for (index, receiver) in receivers.enumerated() {
      let record = try await receiver.finished()
      #expect(record.kind == .closed || index > 3 && index % 2 == 0 && record.facts != nil)
      #expect(record.ends.count == 1 && record.surprises.isEmpty)
    }
    try await server.wait(for: "closed connections") { $0.connectionsOpen == 0 }
  }

  @Test func `a closed engine ends a new transfer before start returns`() {
    let engine = CurlEngine()
    engine.close()
    let receiver = RecordingReceiver()
    #expect(engine.start(TransferRequest(server, "/a"), receiver) == nil)
    #expect(receiver.record.value.kind == .closed && receiver.record.value.ends.count == 1)
  }

  @Test func `an engine that is let go ends its transfers and its thread`() async throws {
    server.on("/never", .never)
    let receiver = RecordingReceiver()
    let held: Held
    do {
      let engine = CurlEngine()
      let lost = RecordingReceiver()
      held = Held(lost)
      engine.start(TransferRequest(server, "/never"), receiver)
      engine.start(TransferRequest(server, "/never"), lost)
      try await server.waitForHits("/never", 2)
    }
    #expect(try await receiver.finished().kind == .closed)
    try await server.wait(for: "closed connections") { $0.connectionsOpen == 0 }
    // The thread's last act is to let go of what it held.
    try await until("the receiver is gone") { held.value == nil }
  }

  @Test func `an engine may be let go by its own callback`() async throws {
    server.on("/a", Reply("hello"))
    let holder = Watched<CurlEngine?>(CurlEngine())
    let receiver = RecordingReceiver(whenEnded: { _ in
      let last = holder.update { $0.take() }
      withExtendedLifetime(last) {}
    })
    holder.value?.start(TransferRequest(server, "/a"), receiver)
    #expect(try await receiver.finished().facts != nil)
    try await server.wait(for: "closed connections") { $0.connectionsOpen == 0 }
  }

  @Test func `close while others start, stop and resume loses no end`() async throws {
    server.on("/a", Reply(200, body: .pattern(Pattern(), count: 50_000)))
    for _ in 0..<20 {
      let engine = CurlEngine()
      let ends = Watched(0)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask { [server] in
            for index in 0..<25 {
              let receiver = RecordingReceiver(keepsBody: false, whenEnded: { _ in ends.update { $0 += 1 } })
              guard let id = engine.start(TransferRequest(server, "/a"), receiver) else { continue }
              if index % 3 == 0 { engine.stop(id) } else { engine.resume(id) }
            }
          }
        }
        group.addTask { engine.close() }
      }
      try await ends.wait(for: "100 ends") { $0 == 100 }
    }
  }
}

/// Keeps a number of transfers running until all are done: each that ends starts the next from the engine's thread.
private final class Crowd: Sendable {
  struct Result: Sendable {
    var started = 0
    var ended = 0
    var good = 0
    var threads: Set<UInt> = []
  }

  let result = Watched(Result())
  private let total: Int
  private let engine: CurlEngine
  private let server: LoopbackServer

  init(total: Int, engine: CurlEngine, server: LoopbackServer) {
    self.total = total
    self.engine = engine
    self.server = server
  }

  func fill(_ count: Int) { for _ in 0..<count { startNext() } }

  private func startNext() {
    let number = result.update { result -> Int? in
      guard result.started < total else { return nil }
      result.started += 1
      return result.started
    }
    guard let number else { return }
    let receiver = Member(crowd: self, seed: number % 50)
    engine.start(TransferRequest(server, "/\(number % 50)"), receiver)
  }

  final class Member: TransferReceiver {
    let crowd: Crowd
    let seed: Int
    let record = Lock<[UInt8]>([])

    init(crowd: Crowd, seed: Int) {
      self.crowd = crowd
      self.seed = seed
    }

    func headReceived(_ raw: [UInt8]) {}

    func bodyReceived(_ bytes: RawSpan) -> TransferFlow {
      let copy = bytes.withUnsafeBytes { Array($0) }
      record.withLock { $0 += copy }
      return .more
    }

    func ended(_ end: TransferEnd) {
      var isGood = record.withLock { $0 } == Pattern(seed: seed).bytes(1000 + seed)
      if case .failed = end { isGood = false }
      crowd.result.update { [isGood] result in
        result.ended += 1
        result.good += isGood ? 1 : 0
        result.threads.insert(UInt(pthread_self()))
      }
      crowd.startNext()
    }
  }
}

/// Looks whether somebody still holds an object.
private struct Held: Sendable {
  weak let value: RecordingReceiver?
  init(_ value: RecordingReceiver?) { self.value = value }
}
