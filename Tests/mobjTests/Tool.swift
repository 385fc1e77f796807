import Foundation
import Glibc
import TestSupport
import Testing

/// The built tool, run in a folder of its own: its cache, its outputs, and what it prints.
final class Tool: Sendable {
  /// How a run ended.
  struct Run {
    let status: Int32
    let output: [UInt8]
    /// Standard error.
    let notes: String

    var text: String { String(decoding: output, as: UTF8.self) }
    /// The lines of `--json`.
    var objects: [[String: Any]] {
      output.split(separator: 0x0A).compactMap {
        (try? JSONSerialization.jsonObject(with: Data($0))) as? [String: Any]
      }
    }
    var sources: [String?] { objects.map { $0["source"] as? String } }
    var warnings: Int { notes.split(separator: "\n").count { $0.contains("warning") } }
  }

  let home: TemporaryFolder
  /// How to start it as somebody else; empty: as ourselves.
  private let prefix: [String]
  private let binary: String

  init(prefix: [String] = [], binary: String = Tool.built) throws {
    home = try TemporaryFolder("mobj")
    self.prefix = prefix
    self.binary = binary
  }

  static let nobody: uid_t = 65_534

  /// As ourselves; root runs a copy of the tool, put in this folder, as nobody, since modes mean nothing to root.
  static func asNobody(in place: TemporaryFolder) throws -> Tool {
    guard geteuid() == 0 else { return try Tool() }
    let copy = place.path("mobj")
    // By another process: a file that this one has open for writing, if only in a child that another test is just
    // starting, cannot be run ("Text file busy").
    try RunningTool(["cp", built, copy], environment: ["PATH": "/usr/bin:/bin"], folder: place.path).wait()
    chmod(place.path, 0o755)
    chmod(copy, 0o755)
    let tool = try Tool(
      prefix: ["setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups"], binary: copy)
    chown(tool.home.path, nobody, nobody)
    return tool
  }

  /// It stands beside the program that runs the tests.
  static let built: String = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "mobj").path
  }()

  func run(_ words: String..., input: String? = nil) async throws -> Run { try await run(words, input: input) }

  func run(_ words: [String], input: String? = nil) async throws -> Run {
    try await start(words, input: input).end()
  }

  func start(_ words: [String], input: String? = nil) throws -> RunningTool {
    let standardInput = try home.write("input-\(UUID().uuidString)", input ?? "")
    return try RunningTool(
      prefix + [binary] + words, environment: environment, folder: home.path, input: standardInput)
  }

  var environment: [String: String] {
    ["XDG_CACHE_HOME": home.path("cache"), "HOME": home.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
  }

  /// What the folder given to `--output-dir` holds.
  func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: home.path(folder))) ?? []).sorted()
  }

  func text(_ name: String) -> String? { (try? home.read(name)).map { String(decoding: $0, as: UTF8.self) } }
}

/// A tool that is on its way. Ended with the test that started it.
///
/// Started by `posix_spawn`, since Foundation's `Process` learns of an end from a socket that children of other tests
/// may have inherited: a web server that outlives the tool would keep that end from being seen.
final class RunningTool: Sendable {
  private let process: pid_t
  /// The status of `waitpid`, once it has ended.
  private let ended = Collector<Int32>()
  private let output: String
  private let notes: String

  /// Prints go to files, which take any amount without anybody reading.
  init(
    _ words: [String], environment: [String: String], folder: String, input: String = "/dev/null",
    terminal: Int32? = nil
  ) throws {
    let name = UUID().uuidString
    output = "\(folder)/output-\(name)"
    notes = "\(folder)/notes-\(name)"
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, notes, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    if let terminal { posix_spawn_file_actions_adddup2(&actions, terminal, 2) }
    process = try Self.spawn(["env", "-C", folder] + words, environment, &actions)
    Thread.detachNewThread { [process, ended] in
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      ended.append(status)
    }
  }

  deinit { if ended.elements.isEmpty { Glibc.kill(process, SIGKILL) } }

  func interrupt(_ signal: Int32 = SIGINT) { Glibc.kill(process, signal) }

  /// Ends it without a word.
  func kill() { Glibc.kill(process, SIGKILL) }

  /// The most memory that it has had so far (VmHWM of proc(5)). What `wait4` tells instead counts the program that
  /// started it, too.
  var peakBytes: Int {
    get throws {
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
      return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
  }

  /// Waits for its end, whatever that is; blocks.
  func wait() throws { try ended.wait() }

  func end(seconds: Double = 60) async throws -> Tool.Run {
    let status = try await ended.wait(seconds: seconds)[0]
    // 128 + n for a signal, as a shell has it.
    let number = status & 0x7F
    return Tool.Run(
      status: number == 0 ? status >> 8 & 0xFF : 128 + number,
      output: Array(try Data(contentsOf: URL(filePath: output))),
      notes: String(decoding: try Data(contentsOf: URL(filePath: notes)), as: UTF8.self))
  }

  /// With no signal blocked, whatever the calling thread does.
  private static func spawn(
    _ words: [String], _ environment: [String: String], _ actions: inout posix_spawn_file_actions_t
  ) throws -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let arguments = words.map { strdup($0) }
    let variables = environment.map { strdup("\($0)=\($1)") }
    defer { for copy in arguments + variables { free(copy) } }
    var process = pid_t()
    let status = posix_spawnp(&process, words[0], &actions, &attributes, arguments + [nil], variables + [nil])
    guard status == 0 else { throw SystemFault("posix_spawn", status) }
    return process
  }
}
