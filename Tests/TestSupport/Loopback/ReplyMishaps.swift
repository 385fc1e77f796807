/// What can happen to a reply. Each method gives a changed copy, so they chain.
extension Reply {
  // MARK: Fields

  /// Adds a field, after those that are there.
  package func adding(_ name: String, _ value: String) -> Reply { changed { $0.fields.append(Field(name, value)) } }
  package func adding(_ name: String, bytes: [UInt8]) -> Reply {
    changed { $0.fields.append(Field(name, bytes: bytes)) }
  }

  /// Makes the head about this long, by fields "X-Padding" with lines of `lineBytes`.
  package func padded(headBytes: Int, lineBytes: Int = 1024) -> Reply {
    let name = "X-Padding"
    let value = [UInt8](repeating: 0x78, count: max(1, lineBytes - name.utf8.count - 4))
    return changed { reply in
      for _ in 0..<max(0, headBytes / lineBytes) { reply.fields.append(Field(name, bytes: value)) }
    }
  }

  /// A 1xx head before the final one.
  package func interim(_ status: Int, _ fields: KeyValuePairs<String, String> = [:]) -> Reply {
    let first = Reply(status, fields)
    return changed { $0.interim.append(headBytes(first, extra: [])) }
  }

  // MARK: Time

  /// Nothing is sent before the gate opens.
  package func held(until gate: Gate) -> Reply { changed { $0.gate = gate } }

  /// Nothing beyond the head and this many bytes of the body is sent before the gate opens.
  package func held(until gate: Gate, afterBytes offset: Int) -> Reply {
    changed { reply in
      reply.bodyGates.append(BodyGate(offset: offset, gate: gate))
      reply.bodyGates.sort { $0.offset < $1.offset }
    }
  }

  /// Takes the request and says nothing, until the client or the server closes.
  package static var never: Reply { Reply(200).held(until: Gate()) }

  /// Falls silent after this many bytes of the body.
  package func stalled(afterBytes offset: Int) -> Reply { held(until: Gate(), afterBytes: offset) }

  package func delayed(by delay: Duration) -> Reply { changed { $0.delay = delay } }

  /// Slow: waits after every so many bytes of the body.
  package func paced(bytes: Int, every wait: Duration) -> Reply {
    changed { $0.pace = Pace(bytes: max(1, bytes), wait: wait) }
  }

  // MARK: Length

  /// Content-Length says this, whatever the body is; the connection closes after the body.
  package func claiming(length: Int) -> Reply { claiming(length: String(length)) }
  package func claiming(length: String) -> Reply { changed { $0.framing = .claimed(length) } }

  /// No length: the body ends where the connection does, as HTTP/1.0 had it.
  package func closeDelimited(version: String = "HTTP/1.1") -> Reply {
    changed { reply in
      reply.framing = .close
      reply.version = version
    }
  }

  package func chunked(_ sizes: Int..., fault: Chunking.Fault? = nil) -> Reply {
    changed { $0.framing = .chunked(Chunking(sizes: sizes, fault: fault)) }
  }

  /// A body without end, chunked unless `claiming` or `closeDelimited` follows.
  package static func endless(_ fields: KeyValuePairs<String, String> = [:], seed: Int = 0) -> Reply {
    Reply(200, fields, body: .pattern(Pattern(seed: seed), count: nil)).chunked(65_536)
  }

  // MARK: End

  /// Closes in order after this many bytes of the body, whatever was promised.
  package func cut(after bytes: Int) -> Reply { ended(after: bytes, by: .close(announced: false)) }

  /// The same with RST, once the client's side has taken what was sent.
  package func reset(after bytes: Int) -> Reply { ended(after: bytes, by: .reset) }

  /// Closes after the whole reply, `announced` by "Connection: close" or without a word.
  package func closing(announced: Bool = true) -> Reply { changed { $0.end = .close(announced: announced) } }

  /// Takes the request and closes, without a byte.
  package static var hangUp: Reply { raw([]).closing(announced: false) }

  /// Takes the request and resets, without a byte.
  package static var reset: Reply { raw([]).changed { $0.end = .reset } }

  /// Just these bytes; the connection stays open unless `closing` follows.
  package static func raw(_ bytes: [UInt8]) -> Reply { Reply(200).changed { $0.raw = bytes } }
  package static func raw(_ text: String) -> Reply { raw(Array(text.utf8)) }

  private func ended(after bytes: Int, by end: End) -> Reply {
    changed { reply in
      reply.limitBodyBytes = bytes
      reply.end = end
    }
  }

  private func changed(_ change: (inout Reply) -> Void) -> Reply {
    var reply = self
    change(&reply)
    return reply
  }
}

/// Chunked transfer coding (RFC 9112 section 7.1), and how to get it wrong.
///
///     5\r\n          sizes are used in turn, the last one until the body ends
///     hello\r\n
///     0\r\n
///     \r\n
package struct Chunking: Sendable {
  package enum Fault: Sendable {
    /// The size line of this chunk, counted from 0, says something else.
    case sizeLine(chunk: Int, String)
    /// Closes where the last chunk, of size 0, should stand.
    case missingEnd
    /// Closes after so many whole chunks.
    case cut(afterChunks: Int)
  }

  let sizes: [Int]
  let fault: Fault?

  init(sizes: [Int], fault: Fault?) {
    self.sizes = sizes.filter { $0 > 0 }
    self.fault = fault
  }

  func size(of chunk: Int) -> Int {
    guard let last = sizes.last else { return 16_384 }
    return chunk < sizes.count ? sizes[chunk] : last
  }

  func sizeLine(of chunk: Int, bytes: Int) -> [UInt8] {
    if case .sizeLine(chunk, let text) = fault { return Array((text + "\r\n").utf8) }
    return Array((String(bytes, radix: 16) + "\r\n").utf8)
  }

  /// Whether the reply breaks off before this chunk; the last one, of size 0, counts as one.
  func isCut(before chunk: Int, isLast: Bool) -> Bool {
    switch fault {
    case .cut(let chunks): chunk >= chunks
    case .missingEnd: isLast
    case .sizeLine, nil: false
    }
  }
}
