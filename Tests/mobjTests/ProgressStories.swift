import Foundation
import TestSupport
import Testing

/// Every figure that the tool shows while bodies of all kinds of length arrive.
@Suite(.serialized)
struct ProgressStories {
  private let server: LoopbackServer
  private let tool: Tool

  init() throws {
    server = try LoopbackServer()
    tool = try Tool()
  }

  private func reply(_ kind: String) -> Reply {
    let plain = Pattern(seed: 3).bytes(0..<100_000)
    let text = Array(String(repeating: "eight times as large, ", count: 20_000).utf8)
    return switch kind {
    case "chunked": Reply(plain).chunked(1000)
    case "no length": Reply(plain).closeDelimited()
    case "length 0": Reply([])
    case "length -1": Reply(plain).claiming(length: "-1")
    case "gzip": Reply(gzipped(text), ["Content-Encoding": "gzip"])
    default: Reply(plain)
    }
  }

  @Test(arguments: ["chunked", "no length", "length 0", "length -1", "gzip", "length"])
  func `no figure on a terminal is negative or over-full`(kind: String) async throws {
    let reply = reply(kind)
    let pace = max(1, (reply.body.count ?? 0) / 15)
    server.on("/x", reply.paced(bytes: pace, every: .milliseconds(60)))
    let terminal = try Terminal(columns: 100)
    let running = try RunningTool(
      [Tool.built, "get", "--json", server.url("/x")],
      environment: tool.environment.merging(["TERM": "xterm"]) { $1 }, folder: tool.home.path,
      terminal: terminal.slave)
    let run = try await running.end()
    let shown = terminal.shown()
    // A length below nothing may be refused as well as ignored.
    #expect(run.status == 0 || kind == "length -1", "\(shown)")
    #expect(!shown.contains("-1") && !shown.contains("nan") && !shown.contains("inf"), "\(shown)")
    let percents = shown.matches(of: #/(-?\d+) %/#).compactMap { Int($0.1) }
    #expect(percents.allSatisfy { (0...100).contains($0) })
    #expect(percents == percents.sorted(), "it never falls")
    if kind == "length" { #expect(Set(percents).count > 3) }
    if kind != "length 0" { #expect(shown.contains("\r\u{1B}[K"), "a bar was there, and was cleared") }
    #expect(shown.contains(run.status == 0 ? "mobj: 1 object" : "; 1 failed"))
  }

  @Test func `where no terminal is, no line is drawn over`() async throws {
    server.on("/x", reply("chunked").paced(bytes: 10_000, every: .milliseconds(60)))
    let run = try await tool.run("get", "--json", server.url("/x"))
    #expect(!run.notes.contains("\r") && !run.notes.contains("\u{1B}"))
  }
}

/// A pseudo terminal that remembers what was shown on it.
final class Terminal: Sendable {
  private let master: Int32
  private let collected = Collector<[UInt8]>()
  private let ended = Latch()
  /// The tool's end.
  let slave: Int32

  init(columns: UInt16) throws {
    // pts(4), ioctl_tty(2); these numbers are macros that Swift does not see.
    let (setLock, openPeer) = (UInt(0x4004_5431), UInt(0x5441))
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    guard master >= 0, ioctl(master, setLock, &isLocked) == 0 else { throw SystemFault("/dev/ptmx") }
    slave = ioctl(master, openPeer, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard slave >= 0 else { throw SystemFault("TIOCGPTPEER") }
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
    Thread.detachNewThread { [master, collected, ended] in
      var bytes = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(master, &bytes, bytes.count)
        // EIO: nobody holds the other end any more.
        guard count > 0 else { break }
        collected.append(Array(bytes.prefix(count)))
      }
      ended.countDown()
    }
  }

  /// All of it, once the tool has ended.
  func shown() -> String {
    close(slave)
    try? ended.wait(seconds: 10)
    return String(decoding: collected.elements.joined(), as: UTF8.self)
  }

  deinit { close(master) }
}
