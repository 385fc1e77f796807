import Foundation

/// A program that ran to its end, and what it took.
struct ChildProcess {
  /// Seconds from its start until it was gone.
  let wall: Double
  /// Seconds of user and system time, as wait4(2) tells.
  let cpu: Double

  /// - Parameters:
  ///   - command: a path, or a name to be found by PATH, and arguments.
  ///   - output: a file for its standard output; "….errors" beside it takes what it complains of.
  ///   - limit: seconds, after which it is ended, and has failed.
  /// - Throws: where it cannot be started, or fails.
  init(_ command: [String], output: String, limit: Int = 60) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, output + ".errors", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    // What wait4 tells of timeout(1) includes the program that it waited for.
    let words = ["timeout", "\(limit)"] + command
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let start = ContinuousClock.now
    var process = pid_t()
    guard posix_spawnp(&process, words[0], &actions, nil, arguments, environ) == 0 else {
      throw Wrong("\(command[0]) cannot be started")
    }
    var (status, usage) = (Int32(0), rusage())
    while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
    wall = (ContinuousClock.now - start) / .seconds(1)
    cpu = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
    // Exit status 0, and ended by no signal.
    guard status == 0 else {
      let why = status >> 8 == 124 ? "took longer than \(limit) s" : "failed"
      let errors = (try? String(contentsOfFile: output + ".errors", encoding: .utf8)) ?? ""
      throw Wrong("\(command.joined(separator: " ")) \(why)\n\(errors.suffix(500))")
    }
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}
