internal import Glibc

/// An open file, pipe or terminal, for plain blocking reads and writes.
struct Descriptor: Sendable {
  enum Fault: Error, Equatable {
    /// Nobody reads any more.
    case brokenPipe
    /// Anything else, with its errno.
    case failed(Int32)

    init(_ number: Int32) { self = number == EPIPE ? .brokenPipe : .failed(number) }

    var text: String {
      switch self {
      case .brokenPipe: String(cString: strerror(EPIPE))
      case .failed(let number): String(cString: strerror(number))
      }
    }
  }

  static let standardInput = Descriptor(number: STDIN_FILENO)
  static let standardOutput = Descriptor(number: STDOUT_FILENO)
  static let standardError = Descriptor(number: STDERR_FILENO)

  let number: Int32

  /// Opens for reading, or for writing what is there already (a pipe, a device).
  static func open(_ path: String, forWriting: Bool = false) throws(Fault) -> Descriptor {
    let number = Glibc.open(path, (forWriting ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
    guard number >= 0 else { throw Fault(errno) }
    return Descriptor(number: number)
  }

  /// Makes a new file for writing, with the rights that the umask leaves. One of that name is replaced: it is left over.
  static func create(_ path: String) throws(Fault) -> Descriptor {
    unlink(path)
    let number = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard number >= 0 else { throw Fault(errno) }
    return Descriptor(number: number)
  }

  func close() { _ = Glibc.close(number) }

  /// Writes all of it, however many calls that takes.
  func write(_ bytes: [UInt8]) throws(Fault) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(number, rest, rest.count)
      if count == rest.count { return }
      if count >= 0 {
        rest.removeFirst(count)
      } else if errno == EAGAIN {
        // A terminal that another program has set to non-blocking.
        _ = wait(for: POLLOUT)
      } else if errno != EINTR {
        throw Fault(errno)
      }
    }
  }

  func write(_ text: String) throws(Fault) { try write(Array(text.utf8)) }

  /// The next bytes, at most this many; empty at the end.
  func read(atMost limit: Int) throws(Fault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    while true {
      let count = Glibc.read(number, &bytes, limit)
      if count >= 0 { return Array(bytes.prefix(count)) }
      guard errno == EINTR || errno == EAGAIN else { throw Fault(errno) }
      if errno == EAGAIN { _ = wait(for: POLLIN) }
    }
  }

  /// Waits until a read, or a write, would not block.
  /// - Returns: false when `other` became readable, which then comes first.
  func wait(for event: Int32, orToRead other: Descriptor? = nil) -> Bool {
    var ready = [pollfd(fd: number, events: Int16(event), revents: 0)]
    if let other { ready.append(pollfd(fd: other.number, events: Int16(POLLIN), revents: 0)) }
    while poll(&ready, nfds_t(ready.count), -1) < 0, errno == EINTR {}
    return ready.count == 1 || ready[1].revents == 0
  }

  // MARK: What it is

  var isTerminal: Bool { isatty(number) == 1 }

  /// Columns of the terminal; nil where it is none or does not say.
  var columns: Int? {
    var size = winsize()
    guard ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Length of a regular file from where it stands; nil of anything else.
  var bytesToRead: Int? {
    var facts = stat()
    guard fstat(number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
    return max(0, Int(facts.st_size) - max(0, Int(lseek(number, 0, SEEK_CUR))))
  }

  static func isFolder(_ path: String) -> Bool {
    var facts = stat()
    return stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
  }

  /// Whether something other than a file or folder stands at the path: a device, a pipe. Links are followed.
  static func isSpecial(_ path: String) -> Bool {
    var facts = stat()
    guard stat(path, &facts) == 0 else { return false }
    return ![S_IFREG, S_IFDIR].contains(facts.st_mode & S_IFMT)
  }

  /// Gives numbers 0, 1 and 2 to nothing else: were one of them closed, the next file opened would get it, and be
  /// written into as if it were standard output.
  static func reserveStandardNumbers() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // Opened the wrong way round, so that using it is still an error.
      _ = Glibc.open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Asks for as many open files as these jobs want: the library uses a quarter of the limit for transfers.
  static func raiseLimit(for jobs: Int) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(jobs * 4 + 256)))
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
