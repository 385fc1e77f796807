import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// One reads what others replace and remove: managers and caches of their own on one folder, as processes have them.
struct ReplacedEntryStoryTests {
  #if THREAD_SANITIZER
    private static let size = 5 << 20
  #else
    private static let size = 50 << 20
  #endif

  private struct Mixture: Error {}

  /// The number of the version that the bytes are, all of them.
  @Sendable private static func version(of loaded: Loaded) throws -> Int {
    let data = try loaded.data()
    guard let first = data.first, data == Data(repeating: first, count: size) else { throw Mixture() }
    return Int(first)
  }

  @Test(.timeLimit(.minutes(2)), arguments: FileCacheTests.Kind.allCases)
  func `a slow reader of a large entry ends with one version while others refresh and trim it`(
    kind: FileCacheTests.Kind
  ) async throws {
    let room = try StoryRoom(kind)
    let version = Lock(UInt8(1))
    room.server.on("/big") { _ in Reply([UInt8](repeating: version.withLock { $0 }, count: Self.size), hour) }
    let whole = ObjectDecoder<Int>("version", decode: Self.version)
    #expect(try await room.manager().object(for: room.request("/big"), decodedBy: whole) == 1)

    let (begun, go) = (Latch(), Latch())
    let slow = RecordingUser<Int>(variant: "slow") { loaded in
      #expect(loaded.source == .file)
      let before = try Self.version(of: loaded)
      begun.countDown()
      try go.wait(seconds: 60)
      let after = try Self.version(of: loaded)
      return before == after ? after : -1
    }
    let reader = try room.manager()
    reader.manage(slow, for: room.request("/big"))
    try await begun.wait()

    let isOver = Lock(false)
    let trims = Task.detached {
      let cache = try kind.open(at: room.cacheFolder, CacheFolder.limits(bytes: 4096))
      while !isOver.withLock({ $0 }) {
        _ = try cache.trim(budget: .milliseconds(20))
        await Task.yield()
      }
    }
    for round in 2...6 {
      version.withLock { $0 = UInt8(round) }
      var request = room.request("/big")
      request.mode = .reload
      async let refreshed = room.manager().object(for: request, decodedBy: whole)
      // The old one, the new one, or a miss that is loaded anew; never an error, never a mixture.
      let found = try await room.manager().object(for: room.request("/big"), decodedBy: whole)
      #expect(found == round || found == round - 1)
      #expect(try await refreshed == round)
    }
    isOver.withLock { $0 = true }
    try await trims.value
    go.countDown()
    #expect(try await slow.object() == 1)
  }
}
