/// Cuts requests out of the bytes of one connection, however they arrive. A value.
///
///     GET /a?b HTTP/1.1\r\n          Content-Length alone frames a body: clients under test send no chunked ones,
///     Host: 127.0.0.1:4711\r\n       and one that does is refused as malformed.
///     Content-Length: 2\r\n
///     \r\n
///     hi
struct RequestParser {
  enum Result {
    case needsMore
    /// The head is here and its sender waits for "100 Continue" before it sends the body.
    case expectsContinue
    case request(Request, wantsClose: Bool)
    case malformed([UInt8])
  }

  let connection: Int
  private var buffer: [UInt8] = []
  /// How far `buffer` was searched for the end of a head.
  private var searched = 0
  private var pending: Head?

  init(connection: Int) { self.connection = connection }

  var isEmpty: Bool { buffer.isEmpty && pending == nil }

  mutating func append(_ bytes: UnsafeRawBufferPointer) { buffer.append(contentsOf: bytes) }

  mutating func next() -> Result {
    let isNew = pending == nil
    if isNew {
      guard let end = headEnd() else { return buffer.count > 1 << 20 ? .malformed(take(buffer.count)) : .needsMore }
      let bytes = take(end)
      guard let head = Head(bytes) else { return .malformed(bytes) }
      pending = head
    }
    guard let head = pending else { return .needsMore }
    guard buffer.count >= head.bodyBytes else { return isNew && head.expectsContinue ? .expectsContinue : .needsMore }
    pending = nil
    return .request(head.request(body: take(head.bodyBytes), connection: connection), wantsClose: head.wantsClose)
  }

  /// The index after the first empty line.
  private mutating func headEnd() -> Int? {
    buffer.withUnsafeBufferPointer { bytes in
      var at = max(searched, 3)
      while at < bytes.count {
        if bytes[at] == 0x0A, bytes[at - 1] == 0x0D, bytes[at - 2] == 0x0A, bytes[at - 3] == 0x0D { return at + 1 }
        at += 1
      }
      searched = at
      return nil
    }
  }

  private mutating func take(_ count: Int) -> [UInt8] {
    defer { searched = 0 }
    if count == buffer.count {
      let all = buffer
      buffer = []
      return all
    }
    let taken = Array(buffer[..<count])
    buffer.removeFirst(count)
    return taken
  }
}

/// What the framing of a request depends on.
private struct Head {
  let bytes: [UInt8]
  let method: String
  let target: String
  let version: String
  var bodyBytes = 0
  var wantsClose: Bool
  var expectsContinue = false

  /// nil: no request line, or a body whose length is not told by one number.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    var lines = headLines(bytes).makeIterator()
    let words = lines.next()?.split(separator: 0x20, omittingEmptySubsequences: false) ?? []
    guard words.count == 3, words[2].starts(with: "HTTP/".utf8) else { return nil }
    method = latin(words[0])
    target = latin(words[1])
    version = latin(words[2])
    wantsClose = version == "HTTP/1.0"
    while let line = lines.next() {
      guard read(line) else { return nil }
    }
  }

  /// Compares by the first letter before it makes texts: most fields say nothing of framing.
  private mutating func read(_ line: ArraySlice<UInt8>) -> Bool {
    guard let first = line.first, "CcEeTt".utf8.contains(first), let field = Request.Field(line: line) else {
      return true
    }
    let value = field.value.lowercased()
    switch field.name.lowercased() {
    case "content-length":
      guard let count = Int(value), count >= 0 else { return false }
      bodyBytes = count
    case "connection":
      if value == "close" { wantsClose = true }
      if value == "keep-alive" { wantsClose = false }
    case "expect": expectsContinue = value == "100-continue"
    case "transfer-encoding": return false
    default: break
    }
    return true
  }

  func request(body: [UInt8], connection: Int) -> Request {
    Request(
      method: method, target: target, path: path, version: version, head: bytes, body: body, connection: connection)
  }

  private var path: String {
    var rest = target[...]
    if !rest.hasPrefix("/"), let scheme = rest.firstRange(of: "://") {
      rest = rest[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }
    }
    let path = rest.prefix { $0 != "?" }
    return path.isEmpty ? "/" : String(path)
  }
}
