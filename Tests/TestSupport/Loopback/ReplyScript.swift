/// One reply as the steps a connection has to take: pure, made for one request, walked by one connection.
///
/// Bodies are cut into pieces only as they are asked for, so an endless one costs nothing.
struct ReplyScript {
  enum Step {
    case send(ArraySlice<UInt8>)
    case hold(Gate)
    case wait(Duration)
    /// The reply is over: the last step.
    case keep
    case close
    case reset
  }

  /// What the connection adds to a reply.
  struct Setting {
    var isHead = false
    /// The connection closes after this reply, as the client or the server's rule wants it.
    var closes = false
    var announcesClose = false
    /// The value of Date; nil: none.
    var date: String?
  }

  /// Bodies up to this go out with their head in one piece.
  private static let limitJoinedBytes = 32_768
  private static let pieceBytes = 262_144

  private let reply: Reply
  private let closes: Bool
  private let hasBody: Bool
  /// Steps that are ready, the next one last.
  private var ready: [Step] = []
  private var isOver = false

  /// Bytes of the body sent.
  private var offset = 0
  private var gates: [Reply.BodyGate]
  private var leftInPace: Int
  private var chunk = 0
  private var leftInChunk = 0

  init(_ reply: Reply, _ setting: Setting) {
    self.reply = reply
    closes = setting.closes
    hasBody = reply.raw == nil && !setting.isHead && Self.mayHaveBody(reply.status)
    gates = reply.bodyGates.reversed()
    leftInPace = reply.pace?.bytes ?? .max
    var first: [Step] = []
    if let gate = reply.gate { first.append(.hold(gate)) }
    if let delay = reply.delay { first.append(.wait(delay)) }
    for head in reply.interim { first.append(.send(head[...])) }
    let head = reply.raw ?? headBytes(reply, extra: Self.extraFields(reply, setting))
    first.append(.send(join(head)))
    ready = first.reversed()
  }

  mutating func next() -> Step {
    while true {
      if let step = ready.popLast() { return step }
      if isOver { return ending }
      planBody()
    }
  }

  /// 1xx, 204 and 304 have no body (RFC 9112 section 6.3).
  private static func mayHaveBody(_ status: Int) -> Bool { status >= 200 && status != 204 && status != 304 }

  private static func extraFields(_ reply: Reply, _ setting: Setting) -> [Reply.Field] {
    var extra: [Reply.Field] = []
    func add(_ name: String, _ value: String) {
      if !reply.fields.contains(where: { $0.name.lowercased() == name.lowercased() }) {
        extra.append(Reply.Field(name, value))
      }
    }
    if let date = setting.date { add("Date", date) }
    switch reply.framing {
    case .length where mayHaveBody(reply.status):
      if let count = reply.body.count { add("Content-Length", String(count)) }
    case .claimed(let text): add("Content-Length", text)
    case .chunked where mayHaveBody(reply.status): add("Transfer-Encoding", "chunked")
    case .length, .chunked, .close: break
    }
    var announces = setting.announcesClose
    if case .close(announced: true) = reply.end { announces = true }
    if announces { add("Connection", "close") }
    return extra
  }

  /// The head, and the body as well where it is short and nothing happens inside it.
  private mutating func join(_ head: [UInt8]) -> ArraySlice<UInt8> {
    guard hasBody else {
      isOver = true
      return head[...]
    }
    guard case .bytes(let bytes) = reply.body, bytes.count <= Self.limitJoinedBytes, gates.isEmpty, reply.pace == nil,
      reply.limitBodyBytes == nil
    else { return head[...] }
    if case .chunked = reply.framing { return head[...] }
    isOver = true
    return head[...] + bytes
  }

  private var ending: Step {
    switch reply.end {
    case .reset: return .reset
    case .close: return .close
    case .keep: break
    }
    switch reply.framing {
    case .claimed, .close: return hasBody || closes ? .close : .keep
    case .chunked(let chunking) where chunking.fault != nil: return .close
    case .length where reply.body.count == nil: return .close
    case .length, .chunked: return closes ? .close : .keep
    }
  }

  // MARK: The body

  /// Makes at least one step, or finds the reply over.
  private mutating func planBody() {
    if let next = gates.last, next.offset <= offset {
      gates.removeLast()
      ready = [.hold(next.gate)]
    } else if let limit = reply.limitBodyBytes, offset >= limit {
      isOver = true
    } else if let total = reply.body.count, offset >= total {
      isOver = true
      if case .chunked(let chunking) = reply.framing, !chunking.isCut(before: chunk, isLast: true) {
        ready = [.send(Array("0\r\n\r\n".utf8)[...])]
      }
    } else {
      planPiece()
    }
  }

  private mutating func planPiece() {
    guard case .chunked(let chunking) = reply.framing else {
      let piece = piece(limit: Self.pieceBytes)
      return plan([.send(piece)], bytes: piece.count)
    }
    var bytes: [UInt8] = []
    if leftInChunk == 0 {
      guard !chunking.isCut(before: chunk, isLast: false) else {
        isOver = true
        return
      }
      leftInChunk = min(chunking.size(of: chunk), reply.body.count.map { $0 - offset } ?? .max)
      bytes = chunking.sizeLine(of: chunk, bytes: leftInChunk)
      chunk += 1
    }
    let piece = piece(limit: min(leftInChunk, Self.pieceBytes))
    bytes.append(contentsOf: piece)
    leftInChunk -= piece.count
    if leftInChunk == 0 { bytes.append(contentsOf: [0x0D, 0x0A]) }
    plan([.send(bytes[...])], bytes: piece.count)
  }

  /// These steps, for so many bytes of the body, and a pause where the pace wants one.
  private mutating func plan(_ steps: [Step], bytes: Int) {
    ready = steps
    offset += bytes
    leftInPace -= bytes
    if let pace = reply.pace, leftInPace <= 0 {
      leftInPace = pace.bytes
      ready.insert(.wait(pace.wait), at: 0)
    }
  }

  /// The next bytes of the body: no more than `limit`, nor beyond the next point at which something happens.
  private func piece(limit: Int) -> ArraySlice<UInt8> {
    var end = offset + min(limit, leftInPace)
    for stop in [reply.body.count, reply.limitBodyBytes, gates.last?.offset] { if let stop { end = min(end, stop) } }
    switch reply.body {
    case .bytes(let bytes): return bytes[offset..<end]
    case .pattern(let pattern, _): return pattern.bytes(offset..<end)[...]
    }
  }
}
