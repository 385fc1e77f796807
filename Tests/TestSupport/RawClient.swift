internal import Glibc

/// The plainest of clients, to see what a server really sends: blocks, understands nothing, gives up after 10 s.
package final class RawClient {
  private let descriptor: Int32
  /// Bytes that came beyond what was asked for.
  private var rest: [UInt8] = []
  private var isOpen = true

  package init(port: Int) throws {
    descriptor = try Socket.connected(to: port)
    var time = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close() }

  package func close() {
    if isOpen { Glibc.close(descriptor) }
    isOpen = false
  }

  package func send(_ text: String) throws { try send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) throws {
    var left = bytes[...]
    while !left.isEmpty {
      guard let count = try Socket.send(descriptor, left) else { throw SystemFault("send", EAGAIN) }
      left = left.dropFirst(count)
    }
  }

  /// "GET path" on a connection that stays open.
  package func get(_ path: String, _ fields: String...) throws {
    try send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n")
  }

  /// The next bytes; empty: the server has closed.
  package func receive() throws -> [UInt8] {
    if !rest.isEmpty {
      defer { rest = [] }
      return rest
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw SystemFault("recv") }
    return Array(buffer[..<count])
  }

  package func receive(count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = try receive()
      if more.isEmpty { throw SystemFault("recv of \(count) bytes after \(bytes.count)", EPIPE) }
      bytes += more
    }
    rest = Array(bytes[count...])
    return Array(bytes[..<count])
  }

  /// Everything until the server closes.
  package func receiveToEnd() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while case let more = try receive(), !more.isEmpty { bytes += more }
    return bytes
  }

  /// One head, with its empty line.
  package func receiveHead() throws -> String {
    var bytes: [UInt8] = []
    while !bytes.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) { bytes += try receive(count: 1) }
    return latin(bytes)
  }

  /// One head and a body of the Content-Length that it names.
  package func receiveReply() throws -> (head: String, body: [UInt8]) {
    let head = try receiveHead()
    let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length: ") }
    return (head, try receive(count: length.flatMap { Int($0.dropFirst(16)) } ?? 0))
  }
}
