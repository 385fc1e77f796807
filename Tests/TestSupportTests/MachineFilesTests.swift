import Foundation
import TestSupport
import Testing

struct MachineFilesTests {
  @Test func `as many different files as asked for, none larger than the limit`() throws {
    let files = MachineFiles(500, limitBytes: 10_000).paths
    #expect(Set(files).count == 500)
    #expect(try files.allSatisfy { try Data(contentsOf: URL(filePath: $0)).count <= 10_000 })
  }

  @Test func `a path becomes a URL's, byte by byte`() {
    #expect(MachineFiles.target("/a-b_c.d~/é 100%?#+") == "/a-b_c.d~/%C3%A9%20100%25%3F%23%2B")
  }
}
