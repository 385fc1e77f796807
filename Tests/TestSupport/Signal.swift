internal import Glibc

/// Wakes one thread that blocks, or a poll loop: a pipe, since a pipe can be waited on with a time-out and together
/// with sockets.
package final class Signal: Sendable {
  /// Readable while raised.
  let descriptor: Int32
  private let writeEnd: Int32

  package init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemFault("pipe") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    descriptor = ends[0]
    writeEnd = ends[1]
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  /// A full pipe is as good as another byte in it.
  package func raise() {
    var byte: UInt8 = 1
    _ = write(writeEnd, &byte, 1)
  }

  /// Takes back what was raised.
  func lower() {
    var bytes = [UInt8](repeating: 0, count: 512)
    while read(descriptor, &bytes, bytes.count) == bytes.count {}
  }

  /// False: not raised in time.
  package func wait(seconds: Double) -> Bool {
    let end = ContinuousClock.now + .seconds(min(seconds, 1_000_000))
    while true {
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = max(0, (end - .now) / .milliseconds(1)).rounded(.up)
      let count = poll(&polled, 1, Int32(min(left, 1_000_000)))
      if count > 0 { return true }
      if count == 0, ContinuousClock.now >= end { return false }
    }
  }
}

/// A call of the system that failed.
package struct SystemFault: Error, CustomStringConvertible {
  package let description: String

  package init(_ call: String, _ code: Int32 = errno) {
    description = "\(call): \(String(cString: strerror(code)))"
  }
}
