import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// A process that may have few descriptors.
struct DescriptorStoryTests {
  #if THREAD_SANITIZER
    private static let loads = 500
  #else
    private static let loads = 5_000
  #endif

  @Test(.timeLimit(.minutes(4)))
  func `loads of every ending and hits from eight threads need no more than sixty-four descriptors`() async throws {
    let server = try LoopbackServer { request in
      switch request.path.prefix(2) {
      case "/g": Reply(request.path, hour)
      case "/m": Reply(404)
      case "/h": Reply([UInt8](repeating: 1, count: 300_000), hour).held(until: Gate(), afterBytes: 100_000)
      default: Reply("no number", hour)
      }
    }
    let dead = try LoopbackServer()
    let deadURL = dead.url("/")
    dead.stop()
    // In a process of its own, where the limit harms nobody else.
    await #expect(processExitsWith: .success) { [origin = server.origin as String, deadURL = deadURL as String] in
      try await FewDescriptors(origin, deadURL).run(loads: Self.loads)
    }
    try await server.wait(for: "all connections are closed") { $0.connectionsOpen == 0 }
  }
}

/// What runs in the child.
private struct FewDescriptors {
  private let origin: String
  private let deadURL: String
  private let folder: TemporaryFolder
  private let manager: ObjectManager

  init(_ origin: String, _ deadURL: String) throws {
    self.origin = origin
    self.deadURL = deadURL
    var limit = rlimit(rlim_cur: 64, rlim_max: 64)
    #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    folder = try TemporaryFolder("descriptors")
    manager = try Self.manager(folder)
  }

  private static func manager(_ folder: TemporaryFolder) throws -> ObjectManager {
    var policy = Policy()
    policy.retry = .never
    return ObjectManager(cache: try FileCache(folder: folder.url.appending(path: "cache")), policy: policy)
  }

  func run(loads: Int) async throws {
    let events = manager.events(bufferingNewest: loads * 4)
    let start = Self.openDescriptors
    try await inCrowd(of: loads) { try await load($0, of: loads) }
    manager.shutdown()
    for await event in events {
      if case .cacheFailed(_, let error) = event { Issue.record(error) }
    }
    try await until("descriptors are given back", seconds: 2) { Self.openDescriptors <= start + 8 }
    try hits(of: loads / 5)
    try await until("descriptors are given back", seconds: 2) { Self.openDescriptors <= start + 8 }
  }

  /// At most so many at once that they could not all be running.
  private func inCrowd(of count: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        if number >= 100 { try await group.next() }
        group.addTask { try await work(number) }
      }
      try await group.waitForAll()
    }
  }

  private func load(_ number: Int, of loads: Int) async throws {
    switch number % 5 {
    case 0:
      let path = "/good\(number)"
      #expect(try await manager.object(for: ObjectRequest(origin + path), decodedBy: .text) == path)
    case 1: await expect(.httpStatus, ObjectRequest("\(origin)/missing\(number)"))
    case 2: await expect(.transport, ObjectRequest("\(deadURL)\(number)"))
    case 3: await cancel(ObjectRequest("\(origin)/held\(number)"))
    default: await expect(.undecodable, ObjectRequest("\(origin)/undecodable\(number)"))
    }
  }

  private func expect(_ code: ObjectError.Code, _ request: ObjectRequest) async {
    let error = await failure { try await manager.object(for: request, as: Int.self) }
    #expect(error?.code == code, "\(request.locations): \(error?.message ?? "no error")")
  }

  /// When some of the body is here.
  private func cancel(_ request: ObjectRequest) async {
    let isBegun = Latch()
    let load = Task {
      await failure {
        try await manager.answer(for: request, decodedBy: .data) { if $0.receivedBytes > 0 { isBegun.countDown() } }
      }
    }
    do { try await isBegun.wait(seconds: 60) } catch { Issue.record(error) }
    load.cancel()
    #expect(await load.value?.reason == .left)
  }

  /// Of a manager with an empty memory, from eight threads.
  private func hits(of count: Int) throws {
    let manager = try Self.manager(folder)
    let latch = Latch(8)
    for part in 0..<8 {
      Thread.detachNewThread {
        for number in stride(from: part, to: count, by: 8) {
          let user = RecordingUser.text()
          manager.manage(user, for: ObjectRequest("\(origin)/good\(number * 5)"))
          do { #expect(try user.ending(seconds: 60).get() == "/good\(number * 5)") } catch { Issue.record(error) }
        }
        latch.countDown()
      }
    }
    try latch.wait(seconds: 120)
    #expect(manager.statistics.fileHits == count && manager.statistics.loads == 0)
  }

  private static var openDescriptors: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? .max
  }
}
