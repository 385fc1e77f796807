internal import Glibc

/// The few calls on TCP sockets that the tests need, over IPv4.
enum Socket {
  /// A socket bound to a port, and the port.
  /// - Parameters:
  ///   - port: 0: a free one.
  ///   - shares: others of this kind may be bound to the same port, as long as none but the last listens
  ///     (socket(7), SO_REUSEADDR).
  static func bound(to address: String, port: Int = 0, shares: Bool = false) throws -> (descriptor: Int32, port: Int) {
    let descriptor = try open()
    if shares {
      var on: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
    guard inet_pton(AF_INET, address, &name.sin_addr) == 1 else {
      close(descriptor)
      throw SystemFault("inet_pton \(address)", EINVAL)
    }
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        bind(descriptor, name, length) == 0 && getsockname(descriptor, name, &length) == 0
      }
    }
    guard status else {
      let fault = SystemFault("bind \(address)")
      close(descriptor)
      throw fault
    }
    return (descriptor, Int(UInt16(bigEndian: name.sin_port)))
  }

  static func listening(
    on address: String, port: Int = 0, shares: Bool = false
  ) throws -> (descriptor: Int32, port: Int) {
    let (descriptor, port) = try bound(to: address, port: port, shares: shares)
    guard listen(descriptor, 1024) == 0 else {
      let fault = SystemFault("listen")
      close(descriptor)
      throw fault
    }
    return (descriptor, port)
  }

  /// Blocks until connected.
  static func connected(to port: Int) throws -> Int32 {
    let descriptor = try open()
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
    inet_pton(AF_INET, "127.0.0.1", &name.sin_addr)
    let status = withUnsafePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      let fault = SystemFault("connect")
      close(descriptor)
      throw fault
    }
    setNoDelay(descriptor)
    return descriptor
  }

  /// The next connection, not blocking; nil: none waits.
  static func accepted(from listener: Int32) -> Int32? {
    let descriptor = accept(listener, nil, nil)
    guard descriptor >= 0 else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    setBlocking(descriptor, false)
    setNoDelay(descriptor)
    return descriptor
  }

  static func setBlocking(_ descriptor: Int32, _ blocks: Bool) {
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, blocks ? flags & ~O_NONBLOCK : flags | O_NONBLOCK)
  }

  /// Bytes taken over; nil: the socket is full; throws where the peer is gone.
  static func send(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) throws -> Int? {
    while true {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 { return count }
      if errno == EAGAIN { return nil }
      if errno != EINTR { throw SystemFault("send") }
    }
  }

  /// Bytes sent that the peer's system has not acknowledged yet.
  static func unsentBytes(_ descriptor: Int32) -> Int {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
  }

  /// Closes with RST instead of FIN (socket(7), SO_LINGER).
  static func reset(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close(descriptor)
  }

  private static func open() throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemFault("socket") }
    return descriptor
  }

  private static func setNoDelay(_ descriptor: Int32) {
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }
}

/// A port of this machine on which nobody listens, kept while this lives: connecting is refused, until somebody is given
/// the socket of `listener()`, and again after.
package final class ClosedPort: Sendable {
  package let port: Int
  private let descriptor: Int32

  package init() throws { (descriptor, port) = try Socket.bound(to: "127.0.0.1", shares: true) }

  deinit { close(descriptor) }

  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// A socket that listens on this port, to be closed by the caller.
  func listener() throws -> Int32 { try Socket.listening(on: "127.0.0.1", port: port, shares: true).descriptor }
}
