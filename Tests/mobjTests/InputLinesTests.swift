import Foundation
import Testing

@testable import mobj

struct InputLinesTests {
  private func all(_ lines: InputLines) async throws -> [String] {
    var urls: [String] = []
    while true {
      let batch = try await lines.next()
      if batch.isEmpty { return urls }
      urls += batch.map(\.url)
    }
  }

  /// A path in a folder of its own, gone when the test is.
  private func withFile<Result>(_ bytes: Data, _ body: (String) async throws -> Result) async throws -> Result {
    let path = NSTemporaryDirectory() + "mobj-" + UUID().uuidString
    try bytes.write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
  }

  @Test func `a file of more than one piece is read to its end`() async throws {
    let expected = (0..<20_000).map { "http://127.0.0.1/objects/\($0)" }
    let text = expected.joined(separator: "\n")
    try await withFile(Data(text.utf8)) { path in
      let lines = try InputLines(path: path)
      #expect(lines.bytesToRead == text.utf8.count)
      #expect(try await all(lines) == expected)
      #expect(try await lines.next().isEmpty)
    }
  }

  @Test(arguments: [("/nowhere/at/all", ENOENT), ("/tmp", EISDIR)])
  func `what cannot be read as a list says why`(path: String, number: Int32) {
    #expect(throws: Descriptor.Fault.failed(number)) { try InputLines(path: path) }
  }

  @Test func `the length of a pipe is unknown`() async throws {
    let path = NSTemporaryDirectory() + "mobj-" + UUID().uuidString
    #expect(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    // Open for both, so that opening waits for nobody.
    let writer = open(path, O_RDWR)
    defer { close(writer) }
    let lines = try InputLines(path: path)
    #expect(lines.bytesToRead == nil)
    try Descriptor(number: writer).write("http://a/\nhttp://b/\nhttp://not/yet")
    #expect(try await lines.next().map(\.url) == ["http://a/", "http://b/"])
  }

  @Test(.timeLimit(.minutes(1)))
  func `stop wakes a read that waits for a silent pipe`() async throws {
    let path = NSTemporaryDirectory() + "mobj-" + UUID().uuidString
    #expect(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let writer = open(path, O_RDWR)
    defer { close(writer) }
    let lines = try InputLines(path: path)
    async let next = lines.next()
    lines.stop()
    #expect(try await next.isEmpty)
    #expect(try await lines.next().isEmpty, "stopped is stopped")
    try Descriptor(number: writer).write("http://a/\n")
    #expect(try await lines.rest().isEmpty, "and of a pipe nothing more is awaited")
  }

  @Test func `what is left of a file can be read after the stop`() async throws {
    let expected = (0..<20_000).map { "http://127.0.0.1/objects/\($0)" }
    try await withFile(Data(expected.joined(separator: "\n").utf8)) { path in
      let lines = try InputLines(path: path)
      var urls = try await lines.next().map(\.url)
      lines.stop()
      #expect(try await lines.next().isEmpty)
      while case let more = try await lines.rest(), !more.isEmpty { urls += more.map(\.url) }
      #expect(urls == expected)
    }
  }
}
