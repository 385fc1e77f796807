import Foundation
import Glibc
import ManagedObjects
import TestSupport
import Testing

/// One run reads a large entry slowly while others put new ones in its place.
struct ReplacedEntryStories {
  #if THREAD_SANITIZER
    private static let size = 5 << 20
  #else
    private static let size = 50 << 20
  #endif

  @Test(.timeLimit(.minutes(2))) func `a slow reader gets one version of what other runs replace`() async throws {
    let version = Lock(UInt8(1))
    let server = try LoopbackServer { _ in
      Reply([UInt8](repeating: version.withLock { $0 }, count: Self.size), ["Cache-Control": "max-age=3600"])
    }
    let tool = try Tool()
    #expect(try await tool.run("get", "--json", server.url("/big")).status == 0)
    // Nobody reads yet, so the run stands still once the pipe is full.
    let fifo = tool.home.path("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    let pipe = open(fifo, O_RDWR)
    defer { close(pipe) }
    let slow = try tool.start(["get", "-o", "fifo", server.url("/big")])
    // Blocks until the run writes, which it does when it has the entry open.
    #expect(try await Self.read(pipe, 1) == [1])
    for round in 2...6 {
      version.withLock { $0 = UInt8(round) }
      let run = try await tool.run("get", "--json", "--mode", "reload", server.url("/big"))
      #expect(run.status == 0 && run.sources == ["network"])
    }
    let rest = try await Self.read(pipe, Self.size - 1)
    #expect(rest == [UInt8](repeating: 1, count: Self.size - 1))
    #expect(try await slow.end().status == 0)
    let now = try await tool.run("get", "--mode", "only-if-cached", server.url("/big"))
    #expect(now.output == [UInt8](repeating: 6, count: Self.size))
  }

  /// On a thread of its own, since it blocks.
  private static func read(_ file: Int32, _ count: Int) async throws -> [UInt8] {
    let done = Collector<[UInt8]>()
    Thread.detachNewThread {
      var bytes = [UInt8](repeating: 0, count: count)
      var got = 0
      while got < count {
        let more = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress?.advanced(by: got), $0.count - got) }
        guard more > 0 else { break }
        got += more
      }
      done.append(Array(bytes.prefix(got)))
    }
    return try await done.wait(seconds: 60)[0]
  }
}
