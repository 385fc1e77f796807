import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Calls of the system that fail: one typed error, nothing left behind, nothing good lost.
struct FileStoreFaultTests {
  private static let small = body(10_000)
  private static let large = body(200_000)
  private static let huge = body(3 << 20)

  // MARK: Faults

  @Test(arguments: [FaultyFileSystem.Call.create, .write, .rename, .lock], [10_000, 200_000, 3 << 20])
  func `a fault while writing is one typed error that leaves nothing`(call: FaultyFileSystem.Call, count: Int) throws {
    let faults = [FileFault.diskFull, .readFailed, .readOnly, .noDescriptors]
    for (fault, kind) in faults.flatMap({ fault in FileCacheTests.Kind.allCases.map { (fault, $0) } }) {
      let folder = CacheFolder()
      let cache = try kind.open(folder)
      try cache.put(key("k"), body(count, seed: 1))
      folder.files.fail(call, with: fault)
      let result = Result { try cache.put(key("k"), body(count, seed: 2)) }
      folder.files.mend()
      if case .failure(let error) = result { #expect((error as? ObjectError)?.code == .cacheBroken) }
      // A lock only keeps sweepers away; without one the entry is stored all the same or not at all.
      if call != .lock { #expect(throws: ObjectError.self) { try result.get() } }
      let found = try cache.get(key("k"))
      #expect(found == body(count, seed: call == .lock && (try? result.get()) != nil ? 2 : 1))
      #expect(folder.leftovers.isEmpty)
      #expect(folder.bodies.count <= 1)
      try cache.put(key("k"), body(count, seed: 3))
      #expect(try cache.get(key("k")) == body(count, seed: 3))
    }
  }

  @Test func `a disk that fills up in the middle gives back what was written and what was given`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    var writer = try cache.begin(key("k"), expectedBytes: 1 << 20)
    let whole = body(1 << 20)
    folder.files.fail(.write, with: .diskFull, after: 3)
    var given = 0
    #expect {
      for start in stride(from: 0, to: whole.count, by: 10_000) {
        let piece = whole[start..<min(start + 10_000, whole.count)]
        try writer.append(piece.bytes)
        given += piece.count
      }
    } throws: {
      ($0 as? ObjectError)?.code == .cacheBroken
    }
    #expect(given > 100_000)
    #expect(try writer.salvage() == whole.prefix(given))
    do { _ = consume writer }
    #expect(folder.leftovers.isEmpty)
    folder.files.mend()
    try cache.put(key("k"), whole)
    #expect(try cache.get(key("k")) == whole)
  }

  @Test func `short writes are finished`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    folder.files.limitWrites(to: 999)
    try cache.put(key("s"), Self.small)
    try cache.put(key("l"), Self.large)
    folder.files.mend()
    #expect(try cache.get(key("s")) == Self.small)
    #expect(try cache.get(key("l")) == Self.large)
  }

  @Test(arguments: [FaultyFileSystem.Call.open, .read]) func `a fault while reading harms no entry`(
    call: FaultyFileSystem.Call
  ) throws {
    let faults = [FileFault.readFailed, .noDescriptors]
    for (fault, kind) in faults.flatMap({ fault in FileCacheTests.Kind.allCases.map { (fault, $0) } }) {
      let folder = CacheFolder()
      let cache = try kind.open(folder)
      try cache.put(key("s"), Self.small)
      try cache.put(key("l"), Self.large)
      folder.files.fail(call, with: fault)
      for name in ["s", "l"] {
        #expect {
          _ = try cache.lookUp(key(name))
        } throws: {
          ($0 as? ObjectError)?.code == .cacheBroken
        }
      }
      folder.files.mend()
      #expect(try cache.get(key("s")) == Self.small)
      #expect(try cache.get(key("l")) == Self.large)
      #expect(try cache.statistics().healedEntries == 0)
    }
  }

  @Test func `a large body that cannot be mapped is a typed error and stays`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("k"), Self.huge)
    let lease = try #require(try cache.lookUp(key("k")))
    folder.files.fail(.map, with: .noDescriptors)
    #expect(throws: ObjectError.self) { _ = try lease.data() }
    folder.files.mend()
    #expect(try lease.data() == Self.huge)
  }

  @Test(arguments: [100, 200_000, 2 << 20]) func `a part that is not there is no part, wherever it is asked for`(
    count: Int
  ) throws {
    let whole = body(count)
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("a"), whole)
    let lease = try #require(try cache.lookUp(key("a")))
    for (offset, most, part) in [
      (-5, 10, whole.prefix(10)), (.min, .max, whole), (3, -1, Data()), (.max, .max, Data()), (count, 1, Data()),
      (count - 2, .max, whole.suffix(2)),
    ] {
      #expect(try lease.read(at: offset, atMost: most) == part, "\(offset) \(most)")
    }
  }

  @Test func `without a second name a lent file is a copy`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("k"), Self.huge)
    let lease = try #require(try cache.lookUp(key("k")))
    folder.files.fail(.link, with: .notPermitted)
    let path = try #require(try lease.lendPath())
    #expect(FileManager.default.contents(atPath: path) == Self.huge)
  }

  @Test func `where names cannot be kept from being replaced an entry is stored all the same`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    folder.files.fail(.rename, with: .badPath, times: 1)
    try cache.put(key("k"), Self.small)
    #expect(try cache.get(key("k")) == Self.small)
    #expect(cache.statistics().entries == 1)
  }

  @Test func `counters that cannot be mapped are this instance's own`() throws {
    let folder = CacheFolder()
    folder.files.fail(.map, with: .noDescriptors)
    let cache = try folder.fileCache(CacheFolder.limits(entries: 10))
    for index in 0..<30 { try cache.put(key("\(index)"), Data()) }
    cache.settle(atMost: .seconds(10))
    #expect(cache.statistics().entries <= 10)
    #expect(cache.statistics().entries > 0)
  }
}
