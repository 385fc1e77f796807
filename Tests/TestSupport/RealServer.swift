internal import FoundationEssentials
internal import Glibc
internal import ManagedObjects

/// A real web server, Debian's nginx, on a free port of 127.0.0.1, serving the files of a folder.
///
/// It inherits a socket that listens already (nginx's own way of changing its binary: the variable NGINX), so the port
/// is never lost to somebody else and a client may connect at once. It is the child of a shell that waits on a pipe
/// from this process: should this process die, the pipe closes and nginx goes as well.
package final class RealServer: Sendable {
  package let port: Int
  /// nginx's own folder: configuration and logs.
  private let home: TemporaryFolder
  private let watchdog: Lock<Watchdog?>

  private struct Watchdog: Sendable {
    let process: pid_t
    /// A line written here ends nginx.
    let leash: Int32
  }

  package static let binary = "/usr/sbin/nginx"

  /// Whether a test of this kind is to run: nginx is there, or this is CI, where its absence is a failure.
  ///
  ///     @Test(.enabled(if: RealServer.isWanted)) func …
  package static var isWanted: Bool {
    if access(binary, X_OK) == 0 || ProcessInfo.processInfo.environment["CI"] == "true" { return true }
    let line = "SKIPPED: \(binary) is not installed (apt-get install nginx-light); its tests do not run.\n"
    _ = line.withCString { write(2, $0, strlen($0)) }
    return false
  }

  /// - Parameters:
  ///   - root: The folder to serve; must be readable.
  ///   - directives: Further lines for the one `location /`.
  package init(root: String, workers: Int = 1, directives: String = "") throws {
    guard access(Self.binary, X_OK) == 0 else { throw SystemFault("nginx", ENOENT) }
    home = try TemporaryFolder("nginx")
    let (listener, port) = try Socket.listening(on: "127.0.0.1")
    // nginx takes what it inherits as it is; on a blocking one, of two workers that see one connection the slower would
    // wait in accept(2), and all its clients with it.
    Socket.setBlocking(listener, false)
    self.port = port
    let text = Self.configuration(port: port, root: root, workers: workers, directives: directives)
    let configuration = try home.write("nginx.conf", text)
    do {
      defer { close(listener) }
      watchdog = Lock(try Self.start(configuration, home: home.path, listener: listener))
    }
    do {
      try waitUntilItAnswers()
    } catch {
      stop()
      throw error
    }
  }

  deinit { stop() }

  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// A line a request: "GET /a HTTP/1.1 200 5", in the order in which the replies ended.
  package var accessLog: [String] {
    let bytes = (try? home.read("access.log")) ?? []
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      .filter { !$0.contains(Self.probe) }
  }

  package func hits(_ path: String) -> Int {
    accessLog.count { $0.split(separator: " ").dropFirst().first == path[...] }
  }

  /// Waits until so many replies are in the log, which nginx writes after it has sent them.
  package func waitForLog(_ count: Int, seconds: Double = 10) async throws {
    try await until("\(count) lines of nginx's log", seconds: seconds) { accessLog.count >= count }
  }

  /// Ends nginx and waits for it.
  package func stop() {
    guard let watchdog = watchdog.withLock({ $0.take() }) else { return }
    var newline: UInt8 = 0x0A
    _ = write(watchdog.leash, &newline, 1)
    close(watchdog.leash)
    while waitpid(watchdog.process, nil, 0) < 0, errno == EINTR {}
  }

  // MARK: Start

  private static let probe = "/.is-nginx-up"

  private static func configuration(port: Int, root: String, workers: Int, directives: String) -> String {
    """
    daemon off;
    worker_processes \(workers);
    pid nginx.pid;
    error_log error.log;
    \(geteuid() == 0 ? "user root root;" : "")
    events { worker_connections 1024; }
    http {
      log_format short '$request $status $body_bytes_sent';
      access_log access.log short;
      client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
      uwsgi_temp_path uwsgi; scgi_temp_path scgi;
      types { text/html html; text/plain txt; application/json json; }
      default_type application/octet-stream;
      sendfile on; tcp_nodelay on; keepalive_requests 1000000;
      server { listen 127.0.0.1:\(port); root \(root); location / { \(directives) } }
    }

    """
  }

  /// The shell's standard input is the leash, and nginx gets the socket as descriptor 9. The shell lets go of that one,
  /// so that a client is refused, and does not wait, where nginx has died.
  private static func start(_ configuration: String, home: String, listener: Int32) throws -> Watchdog {
    let script = "\(binary) -p '\(home)/' -c '\(configuration)' -e error.log & exec 9>&-; read line; kill $!; wait $!"
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemFault("pipe") }
    defer { close(ends[0]) }
    _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    posix_spawn_file_actions_addopen(&actions, 1, "\(home)/output.log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    posix_spawn_file_actions_adddup2(&actions, listener, 9)
    // This thread may block signals; a shell that cannot hear SIGCHLD waits for ever.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process = pid_t()
    let status = withStrings(["/bin/sh", "-c", script]) { arguments in
      withStrings(["NGINX=9;", "PATH=/usr/sbin:/usr/bin:/bin"]) { environment in
        posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, environment)
      }
    }
    guard status == 0 else {
      close(ends[1])
      throw SystemFault("posix_spawn /bin/sh", status)
    }
    return Watchdog(process: process, leash: ends[1])
  }

  /// The socket takes connections before nginx runs, so one request that waits is enough.
  private func waitUntilItAnswers() throws {
    do {
      let client = try RawClient(port: port)
      try client.get(Self.probe)
      _ = try client.receiveHead()
    } catch {
      let told = ["output.log", "error.log"].map { (try? home.read($0)) ?? [] }.joined()
      throw StartFault(description: "nginx does not answer (\(error)): \(String(decoding: Array(told), as: UTF8.self))")
    }
  }

  private struct StartFault: Error, CustomStringConvertible {
    let description: String
  }
}

/// C strings and the null at their end, as `exec` wants them.
private func withStrings<Result>(
  _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = strings.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies + [nil])
}
