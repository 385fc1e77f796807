internal import Glibc
internal import ManagedObjects

/// A real server of Debian's on a free port of 127.0.0.1: a `ServerProgram`, running.
///
///     let server = try RealServer(.nginx(root: "/usr/share/doc"))
///     … server.url("/bash/copyright") …
///     server.replies.count == 1
///
/// The port stays its own while this lives, also while it is stopped. Where the program can be given a socket that
/// listens already, a client may connect at once. It ends with this process, whatever that dies of (`LeashedProcess`).
package final class RealServer: Sendable {
  private let program: ServerProgram
  /// Configuration and logs.
  private let home: TemporaryFolder
  private let place: ClosedPort
  private let process = Lock<LeashedProcess?>(nil)

  package init(_ program: ServerProgram) throws {
    guard program.package.isInstalled else { throw SystemFault(program.package.binary, ENOENT) }
    self.program = program
    home = try TemporaryFolder(program.package.rawValue)
    place = try ClosedPort()
    for (name, text) in program.files(place.port) { try home.write(name, text) }
    try start()
  }

  deinit { stop() }

  package var port: Int { place.port }
  package var origin: String { "\(program.speaksTLS ? "https" : "http")://127.0.0.1:\(port)" }
  package func url(_ path: String) -> String { origin + path }

  // MARK: What it saw

  /// The lines of its log, in the order in which the replies ended.
  package var log: [Substring] {
    let bytes = (try? home.read("access.log")) ?? []
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { !$0.contains(Self.probe) }
  }

  /// The replies in its log; empty for a proxy, whose log is of another kind.
  package var replies: [LoggedReply] { log.compactMap { LoggedReply($0) } }

  package func hits(_ path: String) -> Int { replies.count { $0.target == path } }

  /// Waits until so many replies are in the log, which servers write after they have sent them.
  package func waitForReplies(_ count: Int, seconds: Double = 10) async throws {
    try await until("\(count) lines of the server's log", seconds: seconds) { log.count >= count }
  }

  // MARK: Start and end

  /// Starts it again, on the same port, after `stop`.
  package func start() throws {
    let new = try spawn()
    process.withLock { $0 = new }
    do {
      try waitUntilItAnswers()
    } catch {
      stop()
      throw error
    }
  }

  /// The socket is the child's alone, so that clients are refused where it has died.
  private func spawn() throws -> LeashedProcess {
    let listener = program.opensPort ? nil : try place.listener()
    defer { if let listener { close(listener) } }
    // nginx takes what it inherits as it is: of two workers that see one connection on a blocking socket, the slower
    // would wait in accept(2) for the next, and all its clients with it. Python's server expects one that blocks.
    if let listener, program.package == .nginx { Socket.setBlocking(listener, false) }
    return try LeashedProcess(
      program.command, folder: home.path, variables: program.variables, listener: listener)
  }

  /// Ends it and waits for that. Until `start` clients are refused.
  package func stop() { process.withLock { $0.take() }?.end() }

  /// Lets go of it as this process would by dying.
  func abandon() { process.withLock { $0.take() }?.abandon() }

  var keepsFolder: Bool { access(home.path, F_OK) == 0 }

  private static let probe = "/.is-it-up"

  /// A socket that was handed down takes connections before the server runs, so one request that waits is enough.
  private func waitUntilItAnswers() throws {
    do {
      let client = try program.opensPort ? clientOfTheFirstMoment() : RawClient(port: port)
      try client.get(Self.probe)
      _ = try client.receiveHead()
    } catch {
      let told = ["output.log", "error.log"].map { (try? home.read($0)) ?? [] }.joined()
      throw StartFault("\(program.package) does not answer (\(error)): \(String(decoding: Array(told), as: UTF8.self))")
    }
  }

  /// Asks until somebody listens.
  private func clientOfTheFirstMoment() throws -> RawClient {
    for _ in 0..<1000 {
      if let client = try? RawClient(port: port) { return client }
      poll(nil, 0, 10)
    }
    return try RawClient(port: port)
  }
}

/// Why something that a test needs could not be set up.
struct StartFault: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
