import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Readers, writers and lent files that meet on one folder.
struct FileCacheSharingTests {
  private static let small = body(10_000)
  private static let large = body(200_000)
  private static let huge = body(3 << 20)

  // MARK: Lending

  @Test(arguments: [10_000, 200_000, 3 << 20]) func `a lent path is a read-only file with just the body`(count: Int)
    throws
  {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("k"), body(count))
    var lease: (any EntryLease)? = try cache.lookUp(key("k"))
    let path = try #require(try lease?.lendPath())
    #expect(try lease?.lendPath() == path)
    try cache.remove(key("k"))
    #expect(FileManager.default.contents(atPath: path) == body(count))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o400)
    lease = nil
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a file that is lent survives the sweep, and one whose process died does not`() throws {
    let folder = CacheFolder()
    var limits = CacheFolder.limits()
    limits.graceForLeftovers = .zero
    let cache = try folder.fileCache(limits)
    for (name, body) in [("s", Self.small), ("h", Self.huge)] { try cache.put(key(name), body) }
    let leases = try ["s", "h"].map { try #require(try cache.lookUp(key($0))) }
    let paths = try leases.map { try #require(try $0.lendPath()) }
    let dead = folder.full("lent/t" + String(repeating: "0", count: 32))
    #expect(FileManager.default.createFile(atPath: dead, contents: Data("old".utf8)))
    // Another trim that a commit asked for may be under way: one at a time.
    cache.settle(atMost: .seconds(5))
    _ = cache.trim(budget: .seconds(5))
    #expect(paths.allSatisfy { FileManager.default.fileExists(atPath: $0) })
    #expect(!FileManager.default.fileExists(atPath: dead))
    withExtendedLifetime(leases) {}
  }

  // MARK: Sharing

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `an entry that is overwritten while read is the old or the new, never a mixture`(kind: FileCacheTests.Kind)
    async throws
  {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    let bodies = [body(3000, seed: 1), body(120_000, seed: 2), body(5000, seed: 3)]
    try cache.put(key("k"), bodies[0])
    await withTaskGroup { group in
      for writer in 0..<2 {
        group.addTask {
          for round in 0..<100 { #expect(throws: Never.self) { try cache.put(key("k"), bodies[(round + writer) % 3]) } }
        }
      }
      for _ in 0..<2 {
        group.addTask {
          let other = try? kind.open(folder)
          for _ in 0..<200 {
            let found = try? other?.get(key("k"))
            if let found { #expect(bodies.contains(found)) }
          }
        }
      }
    }
    let last = try cache.get(key("k"))
    if let last { #expect(bodies.contains(last)) }
  }

  @Test(arguments: FileCacheTests.Kind.allCases) func `eight threads at once do each other no harm`(
    kind: FileCacheTests.Kind
  ) async throws {
    let folder = CacheFolder()
    let caches = try [kind.open(folder), kind.open(folder)]
    await withTaskGroup { group in
      for thread in 0..<8 {
        group.addTask {
          let cache = caches[thread % 2]
          for round in 0..<60 {
            let name = "\(round % 20)"
            let content = body(2000 + 100 * (round % 20), seed: UInt8(round % 20))
            do {
              switch (round + thread) % 4 {
              case 0: try cache.remove(key(name))
              case 1, 2: try cache.put(key(name), content)
              default: if let found = try cache.get(key(name)) { #expect(found == content) }
              }
            } catch {
              Issue.record(error)
            }
          }
        }
      }
    }
    #expect(try caches[0].verify(repairs: false) { _ in }.badEntries == 0)
    #expect(folder.leftovers.isEmpty)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a file that a writer has just made on a machine whose clock is a little ahead is not swept before it is locked`(
    kind: FileCacheTests.Kind
  ) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder, CacheFolder.limits())
    try cache.put(key("k"), body(100))
    mkdir(folder.full("temp"), 0o700)
    let (new, dead) = ("temp/t" + String(repeating: "0", count: 32), "temp/t" + String(repeating: "1", count: 32))
    for path in [new, dead] { #expect(FileManager.default.createFile(atPath: folder.full(path), contents: body(100))) }
    try folder.age(new, by: .seconds(-5))
    try folder.age(dead, by: .seconds(-86_400))
    for _ in 0..<10 { _ = try cache.trim(budget: .seconds(10)) }
    #expect(folder.leftovers == [new])
  }

  @Test func `the same secret is found by every instance`() throws {
    let folder = CacheFolder()
    let secret = try folder.fileCache().secret()
    #expect(secret.count == 32)
    #expect(try folder.fileCache().secret() == secret)
    let other = CacheFolder()
    #expect(try other.fileCache().secret() != secret)
  }

  @Test(arguments: [FaultyFileSystem.Call.open, .info, .read], [FileFault.readFailed, .noDescriptors, .refused])
  func `a secret that cannot be read now stays`(call: FaultyFileSystem.Call, fault: FileFault) throws {
    let folder = CacheFolder()
    let secret = try folder.fileCache().secret()
    let cache = try folder.fileCache()
    folder.files.fail(call, with: fault)
    #expect(cache.secret().count == 32)
    #expect(cache.secret() == cache.secret())
    folder.files.mend()
    #expect(try folder.bytes("secret") == Data(secret))
    #expect(cache.secret() == secret)
  }

  @Test func `a folder or a link in the secret's place is replaced`() throws {
    for isLink in [false, true] {
      let folder = CacheFolder()
      let cache = try folder.fileCache()
      if isLink { symlink("/etc/hostname", folder.full("secret")) } else { mkdir(folder.full("secret"), 0o700) }
      let secret = cache.secret()
      #expect(try folder.fileCache().secret() == secret)
    }
  }

  @Test func `a damaged secret is replaced, once`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    _ = cache.secret()
    try folder.overwrite("secret", Data("short".utf8))
    let secret = cache.secret()
    #expect(secret.count == 32)
    #expect(try folder.fileCache().secret() == secret)
  }
}
