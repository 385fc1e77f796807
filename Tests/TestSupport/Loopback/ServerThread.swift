internal import Glibc
internal import ManagedObjects

/// The server's one thread: a poll loop over the listener and all connections, which are its local state.
///
/// `poll` and not `epoll`, which the Swift overlay lacks: at the few hundred connections of a test its cost is small.
final class ServerThread {
  private let listener: Int32
  private let office: ServerOffice
  private let stamp = DateStamp()
  private var connections: [Connection] = []
  private var accepted = 0
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

  private init(listener: Int32, office: ServerOffice) {
    self.listener = listener
    self.office = office
  }

  deinit { buffer.deallocate() }

  /// Starts the thread, which owns the listener from then on.
  static func start(listener: Int32, office: ServerOffice) throws -> pthread_t {
    try startThread { ServerThread(listener: listener, office: office).run() }
  }

  private func run() {
    while !office.stops.withLock({ $0 }) { turn() }
    for connection in connections { connection.shut() }
    close(listener)
  }

  private func turn() {
    var polled = [
      pollfd(fd: office.signal.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
    ]
    polled.reserveCapacity(connections.count + 2)
    for connection in connections {
      polled.append(pollfd(fd: connection.descriptor, events: Int16(connection.events), revents: 0))
    }
    guard poll(&polled, nfds_t(polled.count), timeout) >= 0 else { return }
    for at in connections.indices { serve(connections[at], polled[at + 2].revents) }
    if polled[0].revents != 0 { wakeHeld() }
    if polled[1].revents != 0 { accept() }
    connections.removeAll(where: \.isClosed)
  }

  private func serve(_ connection: Connection, _ events: Int16) {
    if events & ~Int16(POLLOUT) != 0 { connection.take(buffer) }
    if events & Int16(POLLOUT) != 0 { connection.advance() }
    if let deadline = connection.deadline, deadline <= .now { connection.advanceAtDeadline() }
  }

  private func wakeHeld() {
    office.signal.lower()
    for connection in connections where connection.isHeld { connection.advance() }
  }

  private func accept() {
    while let descriptor = Socket.accepted(from: listener) {
      accepted += 1
      connections.append(Connection(descriptor, number: accepted, office: office, stamp: stamp))
    }
  }

  /// Milliseconds until the next deadline, rounded up; -1: none.
  private var timeout: Int32 {
    guard let first = connections.lazy.compactMap(\.deadline).min() else { return -1 }
    return Int32(max(0, min(60_000, ((first - .now) / .milliseconds(1)).rounded(.up))))
  }
}

/// Runs a closure on a thread of its own; join it.
func startThread(_ body: @escaping @Sendable () -> Void) throws -> pthread_t {
  final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let start = Unmanaged.passRetained(Start(body))
  let status = pthread_create(
    &thread, nil,
    { start in
      if let start { Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body() }
      return nil
    }, start.toOpaque())
  guard status == 0 else {
    start.release()
    throw SystemFault("pthread_create", status)
  }
  return thread
}
