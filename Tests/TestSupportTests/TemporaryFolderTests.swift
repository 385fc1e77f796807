import Foundation
import TestSupport
import Testing

@Suite struct TemporaryFolderTests {
  @Test func `each is new, private, and gone afterwards with all in it`() throws {
    var folder: TemporaryFolder? = try TemporaryFolder()
    let path = try #require(folder?.path)
    #expect(try path != TemporaryFolder().path)
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o700)
    try folder?.write("a/b/c", "text")
    #expect(folder?.names == ["a", "a/b", "a/b/c"])
    #expect(try folder?.read("a/b/c") == Array("text".utf8))
    #expect(folder?.contains("a/b/c") == true)
    #expect(folder?.contains("a/x") == false)
    chmod("\(path)/a/b", 0o500)
    chmod(path, 0o500)
    folder = nil
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a link out of it is removed, not followed`() throws {
    let outside = try TemporaryFolder()
    try outside.write("kept", "")
    do {
      let folder = try TemporaryFolder()
      try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: outside.path)
    }
    #expect(outside.contains("kept"))
  }
}
