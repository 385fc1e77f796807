import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// A disk that fills up while a body arrives: the object comes all the same, and the disk is as it was.
@Suite(.serialized)
struct FullDiskStoryTests {
  private let room: StoryRoom

  init() throws { room = try StoryRoom() }

  private static let sizes = [1 << 20, 3 << 20]

  private func bytes(_ count: Int) -> [UInt8] { Array(body(count)) }

  /// What the cache was reported to fail with so far.
  private func failures(_ manager: ObjectManager, while work: () async throws -> Void) async throws -> [ObjectError] {
    let events = manager.events()
    try await work()
    manager.shutdown()
    var failures: [ObjectError] = []
    for await event in events { if case .cacheFailed(_, let error) = event { failures.append(error) } }
    return failures
  }

  @Test(arguments: sizes, FileCacheTests.Kind.allCases)
  func `a disk that is full after 64 KiB costs caching once, not delivery, and is used again when there is room`(
    size: Int, kind: FileCacheTests.Kind
  ) async throws {
    let folder = CacheFolder()
    let manager = ObjectManager(cache: try kind.open(folder))
    room.server.otherwise { _ in Reply(bytes(size), hour) }
    let failures = try await failures(manager) { () async throws in
      folder.files.fail(.write, with: .diskFull, after: 1)
      #expect(try await manager.data(for: room.request("/a")) == Data(bytes(size)))
      #expect(try await manager.data(for: room.request("/b")) == Data(bytes(size)))
      await manager.settle()
      #expect(folder.leftovers.isEmpty && folder.bodies.isEmpty)
      folder.files.mend()
      #expect(try await manager.data(for: room.request("/c")) == Data(bytes(size)))
      await manager.settle()
    }
    #expect(failures.count == 1, "\(failures)")
    #expect(failures.first?.message.contains("space") == true || failures.first?.message.contains("full") == true)
    let fresh = ObjectManager(cache: try kind.open(folder))
    for path in ["/a", "/c"] { #expect(try await fresh.data(for: room.request(path)) == Data(bytes(size))) }
    #expect(room.server.hits("/c") == 1 && room.server.hits("/a") == 2)
  }

  @Test(.enabled(if: SmallDisk.isAllowed), arguments: sizes, FileCacheTests.Kind.allCases)
  func `a real disk of 1 MiB delivers larger objects, gets its space back, and caches once it has grown`(
    size: Int, kind: FileCacheTests.Kind
  ) async throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    let folder = disk.folder.url.appending(path: "cache")
    let manager = ObjectManager(cache: try kind.open(at: folder, CacheFolder.limits()))
    room.server.otherwise { Reply($0.path == "/small" ? Array("small".utf8) : bytes(size), hour) }
    let failures = try await failures(manager) { () async throws in
      #expect(try await manager.object(for: room.request("/small"), decodedBy: .text) == "small")
      await manager.settle()
      let free = disk.freeBytes
      for path in ["/a", "/b"] { #expect(try await manager.data(for: room.request(path)) == Data(bytes(size))) }
      await manager.settle()
      #expect(disk.freeBytes == free)
      // What stood there before still does.
      let fresh = ObjectManager(cache: try kind.open(at: folder, CacheFolder.limits()))
      #expect(try await fresh.answer(for: room.request("/small"), decodedBy: .text).source == .file)
      try disk.resize(to: 64 << 20)
      #expect(try await manager.data(for: room.request("/c")) == Data(bytes(size)))
      await manager.settle()
    }
    #expect(failures.count == 1, "\(failures)")
    let fresh = ObjectManager(cache: try kind.open(at: folder, CacheFolder.limits()))
    #expect(try await fresh.answer(for: room.request("/c"), decodedBy: .data).source == .file)
    #expect(room.server.hits("/c") == 1)
  }
}
