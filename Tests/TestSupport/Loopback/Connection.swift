internal import Glibc
internal import ManagedObjects

/// One client's connection. Used by the server's thread alone; never blocks.
final class Connection {
  private enum State {
    /// Waits for a request.
    case idle
    /// Takes the reply's steps; between turns of the loop: the socket is full.
    case replying
    case held(Gate)
    case waiting
    /// All is sent; resets once the peer's system has it.
    case resetting
    /// Our side is closed; takes in and forgets what still comes, lest the kernel answers it with a reset that
    /// would destroy what the client has not read yet.
    case lingering
    case closed
  }

  let descriptor: Int32
  private let office: ServerOffice
  private let stamp: DateStamp
  private var parser: RequestParser
  private var state = State.idle
  private var script: ReplyScript?
  private var unsent: ArraySlice<UInt8> = []
  private var sentBytes = 0
  private var requests = 0
  /// When to look again although nothing came.
  private(set) var deadline: ContinuousClock.Instant?

  init(_ descriptor: Int32, number: Int, office: ServerOffice, stamp: DateStamp) {
    self.descriptor = descriptor
    self.office = office
    self.stamp = stamp
    parser = RequestParser(connection: number)
    office.log.update { log in
      log.connectionsOpened += 1
      log.connectionsOpen += 1
    }
    rest()
  }

  var isClosed: Bool { if case .closed = state { true } else { false } }
  var isHeld: Bool { if case .held = state { true } else { false } }

  /// What to poll for.
  var events: Int32 { if case .replying = state { POLLIN | POLLOUT } else { POLLIN } }

  // MARK: Input

  /// The socket is readable, or has ended.
  func take(_ buffer: UnsafeMutableRawBufferPointer) {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return advance() }
      guard count > 0 else {
        if count == 0 { advance() }
        return clientClosed()
      }
      if case .lingering = state { continue }
      parser.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      if count < buffer.count { return advance() }
    }
  }

  private func clientClosed() {
    switch state {
    case .replying, .held, .waiting, .resetting: shut(noting: { $0.abortedReplies += 1 })
    case .idle, .lingering, .closed: shut()
    }
  }

  // MARK: Steps

  /// Goes on as far as possible without waiting; a fast client of an endless body gets some pieces a turn.
  func advance() {
    var pieces = 0
    while pieces < 16 {
      switch state {
      case .idle: if !takeRequest() { return }
      case .replying:
        guard flush() else { return }
        pieces += 1
        step()
      case .held(let gate):
        guard gate.isOpen else { return }
        state = .replying
      case .waiting:
        guard isDue else { return }
        state = .replying
      case .resetting:
        guard Socket.unsentBytes(descriptor) == 0 else {
          deadline = .now + .milliseconds(1)
          return
        }
        return shut(by: Socket.reset)
      case .lingering, .closed: return
      }
    }
  }

  /// The deadline has passed.
  func advanceAtDeadline() {
    switch state {
    case .idle, .lingering: shut()
    default: advance()
    }
  }

  private var isDue: Bool { deadline.map { $0 <= .now } ?? true }

  /// False: none is here.
  private func takeRequest() -> Bool {
    switch parser.next() {
    case .needsMore: return false
    case .expectsContinue:
      _ = try? Socket.send(descriptor, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...])
      return false
    case .request(let request, let wantsClose):
      let (reply, rule) = office.answer(request)
      requests += 1
      let isLast = rule.limitRequests.map { requests >= $0 } ?? false
      begin(
        reply,
        ReplyScript.Setting(
          isHead: request.method == "HEAD", closes: wantsClose || isLast,
          announcesClose: wantsClose || isLast && rule.announces, date: stamp.text(office)))
    case .malformed(let bytes):
      office.log.update { $0.malformed.append(bytes) }
      begin(Reply(400), ReplyScript.Setting(closes: true, announcesClose: true))
    }
    return true
  }

  private func begin(_ reply: Reply, _ setting: ReplyScript.Setting) {
    script = ReplyScript(reply, setting)
    state = .replying
    deadline = nil
  }

  /// True: everything so far is sent.
  private func flush() -> Bool {
    while !unsent.isEmpty {
      do {
        guard let count = try Socket.send(descriptor, unsent) else { return false }
        sentBytes += count
        unsent = unsent.dropFirst(count)
      } catch {
        clientClosed()
        return false
      }
    }
    return true
  }

  private func step() {
    guard let step = script?.next() else { return }
    switch step {
    case .send(let bytes): unsent = bytes
    case .hold(let gate):
      state = .held(gate)
      gate.whenOpen { [weak signal = office.signal] in signal?.raise() }
    case .wait(let time):
      state = .waiting
      deadline = .now + time
    case .keep:
      finishReply()
      rest()
    case .close:
      finishReply()
      shutdown(descriptor, Int32(SHUT_WR))
      state = .lingering
      deadline = .now + .seconds(2)
    case .reset:
      finishReply()
      state = .resetting
    }
  }

  private func finishReply() {
    script = nil
    let sent = sentBytes
    sentBytes = 0
    office.log.update { log in
      log.finishedReplies += 1
      log.sentBytes += sent
    }
  }

  /// Waits for the next request.
  private func rest() {
    state = .idle
    deadline = office.routes.withLock { $0.rule.limitIdle }.map { .now + $0 }
  }

  /// Lets go of the socket.
  func shut(by closing: (Int32) -> Void = { close($0) }, noting note: (inout ServerLog) -> Void = { _ in }) {
    if isClosed { return }
    state = .closed
    script = nil
    unsent = []
    deadline = nil
    closing(descriptor)
    let sent = sentBytes
    office.log.update { log in
      log.connectionsOpen -= 1
      log.sentBytes += sent
      note(&log)
    }
  }
}
