import Foundation
import TestSupport
import Testing

/// Several thousand real files of this machine, from a real web server.
struct FilesStory {
  /// Small files under these folders, copied so that one may be changed.
  private static let sources = ["/usr/share/doc", "/usr/share/perl", "/usr/share/zoneinfo", "/usr/include"]
  private static let count = 3000

  @Test(.enabled(if: DebianPackage.areWanted(.nginx)))
  func `thousands of files come byte for byte, cost nothing again, and follow changes`() async throws {
    let root = try TemporaryFolder("site")
    let names = try copyFiles(to: root)
    try #require(names.count >= 1000, "this machine has too few files to serve")
    let server = try RealServer(.nginx(root: root.path, directives: "add_header Cache-Control max-age=3600;"))
    let tool = try Tool()
    let list = names.map { server.url("/" + $0) }.joined(separator: "\n")

    let first = try await tool.run(["get", "--output-dir", "d", "--input", "-"], input: list)
    #expect(first.status == 0, "\(first.notes.prefix(500))")
    for name in names { #expect(try tool.home.read("d/" + name) == root.read(name)) }
    try await server.waitForReplies(names.count)
    #expect(server.replies.count == names.count)

    let second = try await tool.run(["get", "--json", "--input", "-"], input: list)
    #expect(second.status == 0)
    #expect(second.sources.count == names.count && second.sources.allSatisfy { $0 == "file" })
    #expect(server.replies.count == names.count)

    let changed = names[7]
    try root.write(changed, "changed, and of another length \(UUID().uuidString)")
    let third = try await tool.run(
      ["get", "--force", "--json", "--mode", "no-cache", "--output-dir", "d", "--input", "-"], input: list)
    #expect(third.status == 0)
    #expect(third.sources.count { $0 == "network" } == 1)
    #expect(third.sources.count { $0 == "revalidated" } == names.count - 1)
    #expect(try tool.home.read("d/" + changed) == root.read(changed))
  }

  /// Names are numbers, so that no two are equal.
  private func copyFiles(to root: TemporaryFolder) throws -> [String] {
    var names: [String] = []
    for source in Self.sources {
      let found = FileManager.default.enumerator(
        at: URL(filePath: source), includingPropertiesForKeys: [.isRegularFileKey, .fileSizeKey])
      while names.count < Self.count, let file = found?.nextObject() as? URL {
        let facts = try? file.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
        guard facts?.isRegularFile == true, let size = facts?.fileSize, size < 2_000_000 else { continue }
        let name = "\(names.count)-\(UInt(bitPattern: file.lastPathComponent.hashValue) % 1000)"
        try root.write(name, Array(try Data(contentsOf: file)))
        names.append(name)
      }
    }
    return names
  }
}
