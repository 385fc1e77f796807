internal import Glibc

/// Runs scripts of the shell as children, with no signal blocked, whatever the calling thread does: a shell that cannot
/// hear SIGCHLD waits for ever.
enum Shell {
  static var isRoot: Bool { geteuid() == 0 }

  /// Starts `/bin/sh -c script`. What it prints goes to the end of a file.
  /// - Parameters:
  ///   - input: becomes its standard input.
  ///   - socket: becomes its descriptor 9.
  static func start(
    _ script: String, _ arguments: [String] = [], variables: [String] = [], input: Int32, socket: Int32? = nil,
    output: String
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    if let socket { posix_spawn_file_actions_adddup2(&actions, socket, 9) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process = pid_t()
    let status = withStrings(["/bin/sh", "-c", script, "sh"] + arguments) { arguments in
      withStrings(["PATH=/usr/sbin:/usr/bin:/bin"] + variables) { environment in
        posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, environment)
      }
    }
    guard status == 0 else { throw SystemFault("posix_spawn /bin/sh", status) }
    return process
  }

  /// Waits for a child's end. Returns what `waitpid` says of it.
  @discardableResult
  static func wait(for process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }

  /// C strings and the null at their end, as `exec` wants them.
  private static func withStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}

/// A child on a leash: the shell that started it waits on a socket from this process. Should this process die, the socket
/// closes, the child is ended, and its folder removed.
struct LeashedProcess: Sendable {
  private let shell: pid_t
  private let leash: Int32

  /// A server that is asked to end while it still starts may miss that: it is made to after three seconds.
  ///
  /// - Parameters:
  ///   - command: what the shell runs in `folder`; prints to "output.log" there.
  ///   - listener: becomes the command's descriptor 9. The shell lets go of it, so that clients are refused, and do not
  ///     wait, where the command has died.
  init(_ command: String, folder: String, variables: [String], listener: Int32?) throws {
    let script = """
      cd "$1" || exit
      \(command) &
      server=$!
      exec 9>&-
      read line || orphaned=yes
      kill $server
      (sleep 3; kill -9 $server) 2>/dev/null &
      wait $server
      kill $! 2>/dev/null
      if [ "$orphaned" ]; then rm -rf "$1"; fi
      """
    var ends: [Int32] = [-1, -1]
    // A socket and no pipe: it is born closed to other children, and writing to a shell that has died is no signal.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemFault("socketpair") }
    defer { close(ends[0]) }
    do {
      shell = try Shell.start(
        script, [folder], variables: variables, input: ends[0], socket: listener, output: "\(folder)/output.log")
    } catch {
      close(ends[1])
      throw error
    }
    leash = ends[1]
  }

  /// Ends it, and waits for that.
  func end() {
    var newline: UInt8 = 0x0A
    _ = send(leash, &newline, 1, Int32(MSG_NOSIGNAL))
    abandon()
  }

  /// What happens when this process dies.
  func abandon() {
    close(leash)
    Shell.wait(for: shell)
  }
}
