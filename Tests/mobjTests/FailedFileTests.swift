import Foundation
import TestSupport
import Testing

@testable import mobj

struct FailedFileTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder("mobj-failed") }

  private func text(_ name: String) -> String? { (try? folder.read(name)).map { String(decoding: $0, as: UTF8.self) } }

  @Test func `a file is replaced only when all is said`() throws {
    try folder.write("rest", "old")
    var file = try FailedFile(path: folder.path("rest"))
    file.write(Array("a\n".utf8))
    file.write(Array("b\n".utf8))
    #expect(text("rest") == "old")
    file.finish()
    #expect(text("rest") == "a\nb\n")
    #expect(folder.names == ["rest"], "nothing is left beside it")
  }

  @Test func `one that would not be whole is given up, and the old one stays`() throws {
    try folder.write("rest", "old")
    var file = try FailedFile(path: folder.path("rest"))
    file.write(Array("a\n".utf8))
    file.abandon()
    #expect(text("rest") == "old")
    #expect(folder.names == ["rest"], "nothing is left beside it")
  }

  @Test func `nothing failed: an empty file says so`() throws {
    var file = try FailedFile(path: folder.path("rest"))
    file.finish()
    #expect(text("rest") == "")
  }

  @Test func `a folder or a place that is not there is refused at once`() {
    #expect(throws: Descriptor.Fault.failed(EISDIR)) { try FailedFile(path: folder.path) }
    #expect(throws: Descriptor.Fault.failed(ENOENT)) { try FailedFile(path: folder.path("no/rest")) }
  }

  @Test func `a device is written into, and its fault is remembered`() throws {
    var file = try FailedFile(path: "/dev/full")
    file.write(Array("a\n".utf8))
    file.write(Array("b\n".utf8))
    file.finish()
    #expect(file.fault == .failed(ENOSPC))
    #expect(Descriptor.isSpecial("/dev/full"))
  }
}
