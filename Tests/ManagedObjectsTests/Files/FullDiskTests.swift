import Foundation
import Glibc
import TestSupport
import Testing

@testable import ManagedObjects

/// Real disks of a mebibyte or so, filled up under both caches: errors and misses, never a signal, and all is well again
/// when there is room.
@Suite(.serialized, .enabled(if: SmallDisk.isAllowed))
struct FullDiskTests {
  private func open(_ kind: FileCacheTests.Kind, on disk: SmallDisk, shards: Int = 256) throws -> any StoredCache {
    let folder = disk.folder.url.appending(path: "cache")
    return switch kind {
    case .file: try FileCache(folder: folder, limits: CacheFolder.limits())
    case .big: try BigFileCache(folder: folder, limits: CacheFolder.limits(), shards: shards)
    }
  }

  /// Takes all the room that is left.
  private func fill(_ disk: SmallDisk) {
    let file = Glibc.open(disk.folder.path("filler"), O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    var piece = [UInt8](repeating: 7, count: 1 << 16)
    while !piece.isEmpty {
      let count = write(file, piece, piece.count)
      if count <= 0 { piece.removeLast((piece.count + 1) / 2) }
    }
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a disk that is filled up by puts costs those puts, and nothing that was stored`(
    kind: FileCacheTests.Kind
  ) throws {
    let disk = try SmallDisk(bytes: 2 << 20)
    let cache = try open(kind, on: disk)
    var stored: [Int] = []
    var refused = 0
    for number in 0..<200 {
      do {
        try cache.put(key("\(number)"), body([2000, 20_000, 100_000][number % 3], seed: UInt8(number)))
        stored.append(number)
      } catch {
        #expect((error as? ObjectError)?.code == .cacheBroken)
        refused += 1
      }
    }
    #expect(refused > 50 && stored.count > 20)
    for number in stored {
      #expect(try cache.get(key("\(number)")) == body([2000, 20_000, 100_000][number % 3], seed: UInt8(number)))
    }
    #expect(try cache.verify(repairs: false) { _ in }.badEntries == 0)
    #expect(try cache.statistics().entries == stored.count)
    let files = disk.folder.names.filter { $0.split(separator: "/").last?.first == "t" && $0.count > 33 }
    #expect(files.isEmpty, "nothing half written is left: \(files)")
    try cache.remove(key("\(stored[0])"))
    try disk.resize(to: 64 << 20)
    try cache.put(key("new"), body(1 << 20))
    #expect(try cache.get(key("new")) == body(1 << 20))
  }

  /// A write to a mapping that the disk has no room for is SIGBUS, so room for the counters is taken before.
  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a full disk under the mapped counters is no signal`(kind: FileCacheTests.Kind) throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    let cache = try open(kind, on: disk, shards: 4096)
    try cache.put(key("k"), body(1000))
    fill(disk)
    for number in 0..<50 { #expect(throws: ObjectError.self) { try cache.put(key("\(number)"), body(9000)) } }
    #expect(try cache.get(key("k")) == body(1000))
    try cache.remove(key("k"))
    let counters = try #require(cache.core.store.openFolder()).counters
    #expect(counters.isShared)
    for shard in 0..<counters.shards { counters.add(entries: 1, bytes: 4096, to: shard) }
    #expect(counters.total.entries == counters.shards)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `on a disk that is full from the start the counts are this instance's own`(kind: FileCacheTests.Kind) throws {
    let disk = try SmallDisk(bytes: 1 << 20)
    try open(kind, on: disk, shards: 4096).put(key("k"), body(1000))
    // As after a crash of the machine that lost them.
    try FileManager.default.removeItem(atPath: disk.folder.path("cache/counters"))
    fill(disk)
    let cache = try open(kind, on: disk, shards: 4096)
    #expect(try cache.get(key("k")) == body(1000))
    #expect(try #require(cache.core.store.openFolder()).counters.isShared == false)
    #expect(throws: ObjectError.self) { try cache.put(key("n"), body(9000)) }
    try cache.clear()
    #expect(try cache.lookUp(key("k")) == nil)
  }
}
