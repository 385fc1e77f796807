import Foundation

/// A program at work, whose standard output is read a line at a time. Killed with this value.
final class WorkerProcess {
  private let process: pid_t
  private let output: Int32
  private var unread: [UInt8] = []
  private var hasEnded = false

  init(_ command: [String]) throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Breach("no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    output = ends[0]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    let arguments = command.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let result = posix_spawn(&process, command[0], &actions, nil, arguments + [nil], environ)
    guard result == 0 else {
      close(ends[0])
      throw Breach("\(command[0]) cannot be started: \(String(cString: strerror(result)))")
    }
    self.process = process
  }

  deinit {
    kill()
    close(output)
  }

  /// nil: it has ended, and there is no more.
  func line() -> String? {
    while true {
      if let end = unread.firstIndex(of: 0x0A) {
        defer { unread.removeSubrange(...end) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      var piece = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      unread += piece[..<count]
    }
  }

  /// By SIGKILL, which it cannot hinder.
  func kill() {
    guard !hasEnded else { return }
    Foundation.kill(process, SIGKILL)
    _ = end()
  }

  /// Waits until it has ended; the status of waitpid(2), 0 where all went well.
  func end() -> Int32 {
    guard !hasEnded else { return 0 }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    hasEnded = true
    return status
  }
}
