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

  private func start(_ terminal: Terminal, _ environment: [String: String]) throws -> RunningTool {
    try RunningTool(
      [Tool.built, "get", "--json", server.url("/x")],
      environment: tool.environment.merging(environment) { $1 }, folder: tool.home.path, terminal: terminal.slave)
  }

  /// What was drawn between one clearing of the line and the next.
  private static func bars(_ shown: String) -> [Substring] {
    shown.split(separator: "\r\u{1B}[K").filter { !$0.isEmpty && !$0.contains("mobj: ") }
  }

  @Test func `a terminal that is made narrower gets bars that fit`() async throws {
    server.on("/x", reply("length").paced(bytes: 2000, every: .milliseconds(40)))
    let terminal = try Terminal(columns: 100)
    let running = try start(terminal, ["TERM": "xterm"])
    try await until("a wide bar is drawn") { terminal.soFar().contains(" % ") }
    terminal.resize(columns: 30)
    try await until("a narrow one follows") { Self.bars(terminal.soFar()).contains { $0.count < 30 } }
    terminal.resize(columns: 60)
    try await until("a wider one follows") {
      let bars = Self.bars(terminal.soFar())
      return bars.last.map { (30..<60).contains($0.count) } ?? false && bars.contains { $0.count < 30 }
    }
    terminal.resize(columns: 8)
    #expect(try await running.end().status == 0)
    let bars = Self.bars(terminal.shown())
    #expect(bars.allSatisfy { $0.count < 100 } && bars.contains { $0.count > 60 })
    #expect(bars.last.map { $0.count < 8 } == true, "\(bars.suffix(3))")
  }

  @Test(arguments: [1, 2, 5, 10, 20] as [UInt16])
  func `no bar is wider than a narrow terminal`(columns: UInt16) async throws {
    server.on("/x", reply("length").paced(bytes: 10_000, every: .milliseconds(50)))
    let terminal = try Terminal(columns: columns)
    #expect(try await start(terminal, ["TERM": "xterm"]).end().status == 0)
    #expect(Self.bars(terminal.shown()).allSatisfy { $0.count < columns })
  }

  @Test(arguments: [["TERM": "dumb"], ["TERM": ""], [:]])
  func `a terminal that can do nothing gets whole lines`(environment: [String: String]) async throws {
    server.on("/x", reply("length").paced(bytes: 10_000, every: .milliseconds(60)))
    let terminal = try Terminal(columns: 80)
    #expect(try await start(terminal, environment).end().status == 0)
    let shown = terminal.shown().replacingOccurrences(of: "\r\n", with: "\n")
    #expect(!shown.contains("\r") && !shown.contains("\u{1B}"))
    #expect(shown.hasPrefix("mobj: 1 object, 100.0 kB"))
  }

  @Test func `a locale without UTF-8 gets a bar of ASCII`() async throws {
    server.on("/x", reply("length").paced(bytes: 5000, every: .milliseconds(50)))
    let terminal = try Terminal(columns: 80)
    #expect(try await start(terminal, ["TERM": "xterm", "LC_ALL": "C"]).end().status == 0)
    let shown = terminal.shown()
    #expect(shown.contains(" #") && shown.unicodeScalars.allSatisfy { $0.isASCII })
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
    resize(columns: columns)
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

  func resize(columns: UInt16) {
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
  }

  func soFar() -> String { String(decoding: collected.elements.joined(), as: UTF8.self) }

  /// All of it, once the tool has ended.
  func shown() -> String {
    close(slave)
    try? ended.wait(seconds: 10)
    return soFar()
  }

  deinit { close(master) }
}
