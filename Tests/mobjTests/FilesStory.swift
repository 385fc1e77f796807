import Foundation
import TestSupport
import Testing

/// Several thousand real files of this machine, from a real web server.
struct FilesStory {
  @Test(.enabled(if: DebianPackage.areWanted(.nginx)))
  func `thousands of files come byte for byte, cost nothing again, and follow changes`() async throws {
    let root = try TemporaryFolder("site")
    let names = try linkFiles(3000, in: root)
    let server = try RealServer(.nginx(root: root.path, directives: "add_header Cache-Control max-age=3600;"))
    let tool = try Tool()
    let list = names.map { server.url("/" + $0) }

    let first = try await tool.run(
      ["get", "--output-dir", "d", "--input", "-"], input: list.joined(separator: "\n"))
    #expect(first.status == 0, "\(first.notes.prefix(500))")
    for name in names { #expect(try bytes(tool.home.path("d/" + name)) == bytes(root.path(name))) }
    try await server.waitForReplies(names.count)
    #expect(server.log.count == names.count)

    let second = try await tool.run(["get", "--json", "--input", "-"], input: list.joined(separator: "\n"))
    #expect(second.status == 0)
    #expect(counted(second.sources) == ["file": names.count])
    #expect(server.log.count == names.count)

    // What was asked of all is asked of a third: the tool is slow here, being a debug build.
    let changed = names[7]
    try FileManager.default.removeItem(atPath: root.path(changed))
    try root.write(changed, "changed, and of another length \(UUID().uuidString)")
    let third = try await tool.run(
      ["get", "--force", "--json", "--mode", "no-cache", "--output-dir", "d", "--input", "-"],
      input: list.prefix(1000).joined(separator: "\n"))
    #expect(third.status == 0)
    #expect(counted(third.sources) == ["network": 1, "revalidated": 999])
    #expect(try bytes(tool.home.path("d/" + changed)) == bytes(root.path(changed)))
  }

  /// The site holds links to them. Names are numbers, so that no two are equal.
  private func linkFiles(_ count: Int, in root: TemporaryFolder) throws -> [String] {
    let paths = MachineFiles(count).paths
    try #require(paths.count == count, "this machine has too few files to serve")
    return try paths.enumerated().map { number, path in
      try FileManager.default.createSymbolicLink(atPath: root.path("\(number)"), withDestinationPath: path)
      return "\(number)"
    }
  }

  private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  private func counted(_ sources: [String?]) -> [String: Int] {
    Dictionary(sources.map { ($0 ?? "none", 1) }, uniquingKeysWith: +)
  }
}
