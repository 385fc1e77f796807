import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct OutputTargetTests {
  let files = FaultyFileSystem()
  let folder: TemporaryFolder
  private let numbers = UniqueNumbers()

  init() throws { folder = try TemporaryFolder() }

  private func target(_ name: String, replacing: Bool = false) throws -> OutputTarget {
    try OutputTarget(folder.path(name), replacing: replacing, numbers: numbers, files: files)
  }

  private func write(_ text: String, for target: OutputTarget) throws -> Loaded {
    var writer = try target.begin()
    try writer.append(Array(text.utf8).span.bytes)
    return loaded(.lease(try writer.commit(EntryFacts(head: LoadHead()))))
  }

  private func loaded(_ body: Loaded.Body) -> Loaded {
    Loaded(id: ObjectID("a"), head: LoadHead(), source: .network, body: body)
  }

  private func place(_ loaded: Loaded, _ target: OutputTarget) throws {
    try target.decoder(giving: (), isInline: true).decode(loaded)
  }

  private func isAtHand(_ loaded: Loaded, _ target: OutputTarget) -> Bool {
    loaded.isAtHand(for: target.decoder(giving: (), isInline: true).representation)
  }

  @Test func `a file costs two looks, one open, one write and one rename`() throws {
    let target = try target("out", replacing: true)
    try place(write("new", for: target), target)
    #expect(try folder.read("out") == Array("new".utf8))
    #expect(files.takeCalls() == [.info: 2, .create: 1, .write: 1, .rename: 1])
  }

  @Test func `a written file that nobody takes is removed`() throws {
    do { _ = try write("x", for: try target("out")) }
    #expect(folder.names.isEmpty)
  }

  @Test func `the first that asks has the written file, and the next a copy of its own`() throws {
    let (first, second) = (try target("a"), try target("b"))
    let written = try write("same", for: first)
    #expect(isAtHand(written, first) && !isAtHand(written, second))
    #expect(!written.isAtHand(for: ObjectDecoder<Data>.data.representation))
    try place(written, first)
    #expect(!isAtHand(written, first))
    try place(written, second)
    #expect(try folder.read("a") == Array("same".utf8) && folder.read("b") == Array("same".utf8))
    #expect(folder.names == ["a", "b"])
  }

  @Test func `bytes shared with a file stay when the file is changed`() throws {
    let target = try target("out")
    let text = String(repeating: "all work and no play ", count: 100_000)
    let written = try write(text, for: target)
    let bytes = try written.data()
    try place(written, target)
    let file = open(folder.path("out"), O_WRONLY)
    defer { close(file) }
    #expect(try written.data() == bytes)
    #expect(pwrite(file, "none", 4, 0) == 4)
    #expect(bytes == Data(text.utf8))
    #expect(ftruncate(file, 10) == 0)
    #expect(bytes == Data(text.utf8))
    #expect(throws: ObjectError.self) { try written.data() }
  }

  @Test func `what a file's caller writes into it is never another's object`() throws {
    let target = try target("out")
    let written = try write("The bytes that all asked for.", for: target)
    try place(written, target)
    let file = open(folder.path("out"), O_WRONLY)
    defer { close(file) }
    #expect(pwrite(file, "My own", 6, 0) == 6)
    // A date that no tick of the clock can hide.
    var times = [timespec(tv_sec: 2_000_000_000, tv_nsec: 0), timespec(tv_sec: 2_000_000_000, tv_nsec: 0)]
    #expect(futimens(file, &times) == 0)
    #expect(throws: ObjectError.self) { try written.data() }
    guard case .lease(let lease) = written.body else { throw ObjectError(.transport, "no lease") }
    #expect(throws: ObjectError.self) { try lease.read(at: 4, atMost: 3) }
    #expect(throws: ObjectError.self) { try place(written, try self.target("copy")) }
    #expect(folder.names == ["out"])
  }

  @Test func `a copy of a large file is that, piece by piece`() throws {
    let (first, second) = (try target("a"), try target("b"))
    let text = String(repeating: "all work and no play ", count: 100_000)
    let written = try write(text, for: first)
    try place(written, first)
    try place(written, second)
    #expect(try folder.read("b") == Array(text.utf8))
  }

  @Test func `a body in memory becomes a file, an empty one too`() throws {
    for text in ["", "memory"] {
      try place(loaded(.memory(Data(text.utf8))), try target("out", replacing: true))
      #expect(try folder.read("out") == Array(text.utf8))
    }
  }

  @Test func `a file that came to be meanwhile is not replaced, and nothing is left beside it`() throws {
    let target = try target("out")
    let written = try write("new", for: target)
    try folder.write("out", "old")
    #expect(throws: ObjectError.self) { try place(written, target) }
    #expect(try folder.read("out") == Array("old".utf8))
    withExtendedLifetime(written) {}
  }

  @Test func `where the file system cannot rename without replacing, a second name does it`() throws {
    let target = try target("out")
    let written = try write("new", for: target)
    files.fail(.rename, with: .badPath)
    try place(written, target)
    #expect(try folder.read("out") == Array("new".utf8) && folder.names == ["out"])
  }

  @Test func `a full disk is told with the file's name, and leaves nothing`() throws {
    let target = try target("out")
    files.fail(.write, with: .diskFull)
    let error = #expect(throws: ObjectError.self) { try place(loaded(.memory(Data("x".utf8))), target) }
    #expect(error?.code == .outputFailed && error?.message.contains("/out”") == true)
    #expect(folder.names.isEmpty)
  }

  @Test(arguments: ["", "/", "folder/", "a\0b"])
  func `a path that names no file is refused`(_ path: String) {
    #expect(throws: ObjectError.self) { try OutputTarget(path, replacing: true, numbers: numbers, files: files) }
  }

  @Test func `a folder that is missing, or none, is found out before anything is loaded`() throws {
    try folder.write("file", "x")
    for name in ["no/such/out", "file/out"] {
      for replacing in [false, true] {
        let error = #expect(throws: ObjectError.self) { try target(name, replacing: replacing) }
        #expect(error?.code == .outputFailed && error?.message.contains(name) == true)
      }
    }
  }

  @Test func `a path without a folder is for where the process is`() throws {
    let name = "ManagedObjects-\(UUID().uuidString)"
    let target = try OutputTarget(name, replacing: false, numbers: numbers)
    try place(write("here", for: target), target)
    let path = FileManager.default.currentDirectoryPath + "/" + name
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(FileManager.default.contents(atPath: path) == Data("here".utf8))
  }
}
