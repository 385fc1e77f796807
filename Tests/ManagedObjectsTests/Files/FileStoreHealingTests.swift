import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Damage, garbage and faults: a miss or one typed error, never a trap, a wait or harm to anything else.
struct FileStoreHealingTests {
  private static let small = body(10_000)
  private static let large = body(200_000)
  private static let huge = body(3 << 20)

  /// What may have become of a file.
  enum Damage: CaseIterable, Sendable {
    case emptied, halved, lengthened, flippedStart, flippedHead, flippedBody, garbage, zeros, another, folder
    case fullFolder, link, danglingLink, pipe

    /// - Parameter another: the head of the entry "another".
    func apply(to path: String, in folder: CacheFolder, outside: String, another: String = "") throws {
      let full = folder.full(path)
      let bytes = try folder.bytes(path)
      switch self {
      case .emptied: try folder.overwrite(path, Data())
      case .halved: try folder.overwrite(path, bytes.prefix(bytes.count / 2))
      case .lengthened: try folder.overwrite(path, bytes + body(10))
      case .flippedStart: try folder.flip(path, at: 0)
      case .flippedHead: try folder.flip(path, at: min(110, bytes.count - 1))
      case .flippedBody: try folder.flip(path, at: bytes.count - 1)
      case .garbage: try folder.overwrite(path, body(bytes.count, seed: 9))
      case .zeros: try folder.overwrite(path, Data(count: bytes.count))
      case .another: try folder.overwrite(path, folder.bytes(another))
      case .folder, .fullFolder, .link, .danglingLink, .pipe:
        try FileManager.default.removeItem(atPath: full)
        switch self {
        case .folder: mkdir(full, 0o700)
        case .fullFolder:
          mkdir(full, 0o700)
          mkdir(full + "/in", 0o700)
          symlink(outside, full + "/in/link")
        case .link: symlink(outside, full)
        case .danglingLink: symlink("/nowhere/at/all", full)
        default: mkfifo(full, 0o600)
        }
      }
    }
  }

  @Test(arguments: Damage.allCases, FileCacheTests.Kind.allCases)
  func `a damaged entry is a miss that heals itself`(damage: Damage, kind: FileCacheTests.Kind) throws {
    for content in [Self.small, Self.large] {
      let folder = CacheFolder()
      let cache = try kind.open(folder)
      let head = folder.head(key("k"), shardDigits: kind.digits)
      let outside = CacheFolder()
      try FileManager.default.createDirectory(at: outside.url, withIntermediateDirectories: true)
      try Data("precious".utf8).write(to: outside.url.appending(path: "file"))
      try cache.put(key("k"), content)
      try cache.put(key("another"), body(500))
      let target = damage == .link ? outside.full("file") : outside.url.path
      let another = folder.head(key("another"), shardDigits: kind.digits)
      try damage.apply(to: head, in: folder, outside: target, another: another)

      #expect(try kind.open(folder).lookUp(key("k")) == nil)
      #expect(!FileManager.default.fileExists(atPath: folder.full(head)))
      #expect(try outside.bytes("file") == Data("precious".utf8))
      #expect(try cache.get(key("another")) == body(500))
      try cache.put(key("k"), content)
      #expect(try kind.open(folder).get(key("k")) == content)
    }
  }

  @Test(arguments: Damage.allCases.filter { $0 != .another && $0 != .flippedHead }, FileCacheTests.Kind.allCases)
  func `a damaged large body is a miss that heals itself`(damage: Damage, kind: FileCacheTests.Kind) throws {
    for content in [Self.large, Self.huge] {
      let folder = CacheFolder()
      let cache = try kind.open(folder)
      try cache.put(key("k"), content)
      try damage.apply(to: folder.bodies[0], in: folder, outside: "/tmp")
      // Written to behind its back, so even an instance that had verified it sees another file.
      #expect(try kind.open(folder).lookUp(key("k")) == nil)
      try cache.put(key("k"), content)
      #expect(try cache.get(key("k")) == content)
    }
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `entries that were swapped are two misses, and neither gives the other's bytes`(
    kind: FileCacheTests.Kind
  ) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    let heads = try ["a", "b"].map { name in
      try cache.put(key(name), body(5000, seed: name == "a" ? 1 : 2))
      return folder.head(key(name), shardDigits: kind.digits)
    }
    let bytes = try heads.map(folder.bytes)
    for at in 0..<2 { try folder.overwrite(heads[at], bytes[1 - at]) }
    for name in ["a", "b"] { #expect(try cache.lookUp(key(name)) == nil) }
    #expect(try cache.statistics().healedEntries == 2)
    try cache.put(key("a"), Self.small)
    #expect(try cache.get(key("a")) == Self.small)
  }

  @Test(arguments: FileCacheTests.Kind.allCases, [false, true])
  func `large bodies that were swapped are two misses, also where both were verified before`(
    kind: FileCacheTests.Kind, isVerified: Bool
  ) throws {
    let folder = CacheFolder()
    let names = ["a", "b"]
    for (name, seed) in zip(names, [1, 2] as [UInt8]) {
      try kind.open(folder).put(key(name), body(3 << 20, seed: seed))
    }
    let cache = try kind.open(folder)
    if isVerified { for name in names { #expect(try cache.lookUp(key(name)) != nil) } }
    let bodies = folder.bodies.map { folder.full($0) }
    try #require(bodies.count == 2)
    for (from, to) in [(bodies[0], folder.full("held")), (bodies[1], bodies[0]), (folder.full("held"), bodies[1])] {
      try FileManager.default.moveItem(atPath: from, toPath: to)
    }
    for name in names { #expect(try cache.lookUp(key(name)) == nil) }
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `what replaced an entry past its age while that was looked at stays`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let (cache, other) = (
      try kind.open(folder, CacheFolder.limits(age: .seconds(100))), try kind.open(folder, CacheFolder.limits())
    )
    try cache.put(key("k"), Self.small)
    cache.settle(atMost: .seconds(10))
    folder.time.shift(by: .seconds(101))
    folder.files.act(before: .read) { _ = try? other.put(key("k"), Self.large) }
    #expect(try cache.lookUp(key("k")) == nil)
    #expect(try cache.get(key("k")) == Self.large)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a head without its body is a miss`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    try cache.put(key("k"), Self.large)
    try FileManager.default.removeItem(atPath: folder.full(folder.bodies[0]))
    #expect(try cache.lookUp(key("k")) == nil)
    #expect(try cache.statistics().healedEntries == 1)
  }

  @Test func `a large body is read in full once, and again when its file changed`() throws {
    let folder = CacheFolder()
    try folder.fileCache().put(key("k"), Self.huge)
    let cache = try folder.fileCache()
    _ = try cache.lookUp(key("k"))
    _ = folder.files.takeCalls()
    _ = try cache.lookUp(key("k"))
    #expect(folder.files.takeCalls()[.read] == 1)
    try folder.flip(folder.bodies[0], at: 1_000_000)
    #expect(try cache.lookUp(key("k")) == nil)
  }

  @Test func `a cache may be asked to verify everything always`() throws {
    let folder = CacheFolder()
    let cache = try FileCache(
      folder: folder.url, limits: CacheFolder.limits(), verification: .always, fileSystem: folder.files,
      time: folder.time)
    try cache.put(key("k"), Self.huge)
    for _ in 0..<2 {
      _ = folder.files.takeCalls()
      #expect(try cache.get(key("k")) == Self.huge)
      #expect((folder.files.takeCalls()[.read] ?? 0) > 10)
    }
  }

  @Test func `a shard that is a link is not followed`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache()
    try cache.put(key("k"), Self.small)
    let outside = CacheFolder()
    try FileManager.default.createDirectory(at: outside.url, withIntermediateDirectories: true)
    let shard = String(folder.head(key("k")).prefix(1))
    try FileManager.default.moveItem(atPath: folder.full(shard), toPath: outside.full("moved"))
    symlink(outside.full("moved"), folder.full(shard))
    let other = try folder.fileCache()
    #expect(try other.lookUp(key("k")) == nil)
    try other.put(key("k"), Self.large)
    try other.clear()
    #expect(try FileManager.default.contentsOfDirectory(atPath: outside.full("moved")).count == 1)
  }

  // MARK: The folder

  @Test(arguments: [(FileCacheTests.Kind.file, "BigFileCache"), (.big, "FileCache")])
  func `a folder of another backend is refused with what to do`(kind: FileCacheTests.Kind, maker: String) throws {
    let folder = CacheFolder()
    let other = try kind == .file ? FileCacheTests.Kind.big.open(folder) : FileCacheTests.Kind.file.open(folder)
    try other.put(key("k"), Self.small)
    #expect {
      _ = try kind.open(folder)
    } throws: { error in
      guard let error = error as? ObjectError else { return false }
      return error.code == .cacheBroken && error.message.contains("made by \(maker),")
        && error.message.contains("choose")
    }
    #expect(try other.get(key("k")) == Self.small, "nothing was changed")
  }

  @Test func `a folder of a later version is refused`() throws {
    let folder = CacheFolder()
    _ = try folder.fileCache()
    try folder.overwrite("format", Data("ManagedObjects 2 FileCache 16\n".utf8))
    #expect(throws: ObjectError.self) { _ = try folder.fileCache() }
  }

  @Test(arguments: ["", "ManagedObjects 1 File", "\u{0}\u{1}garbage\n", "ManagedObjects 1 FileCache x\n"])
  func `a damaged format file is made anew`(text: String) throws {
    let folder = CacheFolder()
    try folder.fileCache().put(key("k"), Self.small)
    try folder.overwrite("format", Data(text.utf8))
    #expect(try folder.fileCache().get(key("k")) == Self.small)
    #expect(try folder.bytes("format") == Data("ManagedObjects 1 FileCache 16\n".utf8))
  }

  @Test(arguments: [0o770, 0o707, 0o720]) func `a folder that others may write to is refused`(mode: Int) throws {
    let folder = CacheFolder()
    try FileManager.default.createDirectory(
      at: folder.url, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
    chmod(folder.url.path, mode_t(mode))
    #expect {
      _ = try folder.fileCache()
    } throws: {
      ($0 as? ObjectError)?.message.contains("chmod") == true
    }
  }

  @Test func `a missing folder is made with those above it`() throws {
    let folder = CacheFolder()
    let deep = folder.url.appending(path: "a/b/c")
    let cache = try FileCache(folder: deep, limits: CacheFolder.limits())
    try cache.put(key("k"), Self.small)
    #expect(try FileCache(folder: deep).get(key("k")) == Self.small)
  }

  @Test func `a path below a regular file is a cache that always misses`() throws {
    let folder = CacheFolder()
    try Data("file".utf8).write(to: folder.url)
    let cache = try FileCache(folder: folder.url.appending(path: "cache"), limits: CacheFolder.limits())
    try expectUnusable(cache)
    let itself = try FileCache(folder: folder.url, limits: CacheFolder.limits())
    try expectUnusable(itself)
    #expect(try Data(contentsOf: folder.url) == Data("file".utf8))
  }

  private func expectUnusable(_ cache: some CacheBackend) throws {
    #expect(try cache.lookUp(key("k")) == nil)
    #expect(try !cache.contains(key("k")))
    #expect {
      try cache.put(key("k"), Self.small)
    } throws: {
      ($0 as? ObjectError)?.code == .cacheBroken
    }
    try cache.remove(key("k"))
    try cache.clear()
    try cache.touch(key("k"))
    cache.settle(atMost: .seconds(1))
    _ = try cache.trim(budget: .seconds(1))
    try cache.forEach({ _ in .keep })
    #expect(
      try cache.statistics()
        == {
          var all = BackendStatistics()
          all.misses = 1
          return all
        }())
    #expect(try cache.secret().count == 32)
    #expect(try cache.secret() == cache.secret())
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a folder that cannot be used now is used as soon as it can`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    folder.files.setReadOnly(true)
    let cache = try kind.open(folder)
    try expectUnusable(cache)
    folder.files.mend()
    try cache.put(key("k"), Self.small)
    #expect(try cache.get(key("k")) == Self.small)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a folder that is deleted while in use is made again`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    try cache.put(key("k"), Self.small)
    cache.settle(atMost: .seconds(5))
    try FileManager.default.removeItem(at: folder.url)
    #expect(try cache.get(key("k")) == nil)
    _ = try? cache.put(key("k"), Self.small)
    try cache.put(key("k"), Self.small)
    #expect(try kind.open(folder).get(key("k")) == Self.small)
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a folder that is emptied while in use is filled again`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let cache = try kind.open(folder)
    for content in [Self.small, Self.large] {
      try cache.put(key("k"), content)
      cache.settle(atMost: .seconds(5))
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
        try FileManager.default.removeItem(atPath: folder.full(name))
      }
      _ = try? cache.put(key("k"), content)
      try cache.put(key("k"), content)
      #expect(try cache.get(key("k")) == content)
    }
  }

  @Test(arguments: FileCacheTests.Kind.allCases)
  func `a read-only folder still serves what it has`(kind: FileCacheTests.Kind) throws {
    let folder = CacheFolder()
    let writer = try kind.open(folder)
    try writer.put(key("s"), Self.small)
    try writer.put(key("h"), Self.huge)
    folder.files.setReadOnly(true)
    let cache = try kind.open(folder)
    #expect(try cache.get(key("s")) == Self.small)
    #expect(try cache.get(key("h")) == Self.huge)
    #expect(try cache.statistics().entries == 2)
    #expect(throws: ObjectError.self) { try cache.put(key("n"), Self.small) }
    #expect(throws: ObjectError.self) { try cache.remove(key("s")) }
    #expect(try cache.get(key("n")) == nil)
    #expect(folder.leftovers.isEmpty)
  }

  @Test(arguments: ["counters", "trim.lock", "temp", "lent", "secret", "0"], [true, false])
  func `garbage in place of the folder's own files does no harm`(name: String, isFolder: Bool) throws {
    let folder = CacheFolder()
    try FileManager.default.createDirectory(
      at: folder.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    if isFolder { mkdir(folder.full(name), 0o700) } else { symlink("/etc/hostname", folder.full(name)) }
    let cache = try folder.fileCache(CacheFolder.limits(entries: 20))
    for index in 0..<40 { try cache.put(key("\(index)"), Data("\(index)".utf8)) }
    try cache.put(key("l"), Self.large)
    cache.settle(atMost: .seconds(5))
    _ = cache.trim(budget: .seconds(5))
    #expect(cache.statistics().entries <= 20)
    #expect(try cache.get(key("39")) == Data("39".utf8))
    #expect(try cache.get(key("l")) == Self.large)
    _ = try cache.lookUp(key("39"))?.lendPath as Any
    #expect(cache.secret().count == 32)
  }

  @Test func `foreign files in the folder are left alone`() throws {
    let folder = CacheFolder()
    let cache = try folder.fileCache(CacheFolder.limits(entries: 1))
    for index in 0..<20 { try cache.put(key("\(index)"), Data()) }
    let foreign = ["README", "0/notes.txt", "temp/x", "0/" + String(repeating: "G", count: 32)]
    try FileManager.default.createDirectory(atPath: folder.full("temp"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(atPath: folder.full("0"), withIntermediateDirectories: true)
    for path in foreign { #expect(FileManager.default.createFile(atPath: folder.full(path), contents: Data())) }
    folder.time.shift(by: .seconds(86_400))
    _ = cache.trim(budget: .seconds(5))
    try cache.clear()
    for path in foreign { #expect(FileManager.default.fileExists(atPath: folder.full(path)), "\(path)") }
  }
}
