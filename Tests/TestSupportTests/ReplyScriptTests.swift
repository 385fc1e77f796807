import Testing

@testable import TestSupport

/// What a reply becomes, step by step: no socket here.
@Suite struct ReplyScriptTests {
  /// All that is sent, and how it ends; stops after so many steps.
  private func play(
    _ reply: Reply, _ setting: ReplyScript.Setting = .init(), limit: Int = 20
  ) -> (text: String, steps: [String]) {
    var script = ReplyScript(reply, setting)
    var bytes: [UInt8] = []
    var steps: [String] = []
    for _ in 0..<limit {
      switch script.next() {
      case .send(let piece):
        bytes += piece
        steps.append("send \(piece.count)")
      case .hold(let gate): steps.append(gate.isOpen ? "pass" : "hold")
      case .wait(let time): steps.append("wait \(time)")
      case .keep: return (latin(bytes), steps + ["keep"])
      case .close: return (latin(bytes), steps + ["close"])
      case .reset: return (latin(bytes), steps + ["reset"])
      }
    }
    return (latin(bytes), steps + ["…"])
  }

  private func body(_ text: String) -> Substring {
    text.firstRange(of: "\r\n\r\n").map { text[$0.upperBound...] } ?? ""
  }

  @Test func `a short reply is one piece`() {
    let (text, steps) = play(Reply("hello", ["A": "1"]))
    #expect(text == "HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 5\r\n\r\nhello")
    #expect(steps == ["send \(text.utf8.count)", "keep"])
  }

  @Test func `a large body is not copied into the head's piece`() {
    let (_, steps) = play(Reply([UInt8](repeating: 1, count: 300_000)))
    #expect(steps.dropFirst() == ["send 262144", "send 37856", "keep"])
  }

  @Test func `raw values are sent as they are and given fields win over made ones`() {
    let reply = Reply(200, reason: "Fine", ["content-length": "7"], body: .bytes([1]))
      .adding("X", bytes: [0xFF, 0x0A]).adding("Date", "never")
    var bytes: [UInt8] = []
    var script = ReplyScript(reply, .init(date: "now"))
    if case .send(let piece) = script.next() { bytes += piece }
    let head = Array("HTTP/1.1 200 Fine\r\ncontent-length: 7\r\nX: ".utf8) + [0xFF, 0x0A]
    #expect(bytes == head + Array("\r\nDate: never\r\n\r\n".utf8) + [1])
  }

  @Test(arguments: [204, 304]) func `a status without a body sends neither body nor length`(status: Int) {
    let (text, steps) = play(Reply(status, "x"))
    #expect(text.hasSuffix("\r\n\r\n"))
    #expect(!text.contains("Content-Length"))
    #expect(steps.last == "keep")
  }

  @Test func `the reply to HEAD tells the length and has no body`() {
    let (text, steps) = play(Reply("hello"), .init(isHead: true))
    #expect(text.hasSuffix("Content-Length: 5\r\n\r\n"))
    #expect(steps.last == "keep")
  }

  @Test func `a connection that is to close says so, unless it is to be silent`() {
    #expect(play(Reply("a"), .init(closes: true, announcesClose: true)).text.contains("\r\nConnection: close\r\n"))
    #expect(play(Reply("a"), .init(closes: true)).steps.last == "close")
    #expect(play(Reply("a").closing()).text.contains("\r\nConnection: close\r\n"))
    let silent = play(Reply("a").closing(announced: false))
    #expect(!silent.text.contains("Connection"))
    #expect(silent.steps.last == "close")
  }

  @Test func `interim heads go first, after the hold and the delay`() {
    let reply = Reply("a").interim(103, ["Link": "</x>"]).interim(100).delayed(by: .seconds(1)).held(until: Gate())
    let (text, steps) = play(reply)
    #expect(
      text.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"))
    #expect(steps.prefix(2) == ["hold", "wait 1.0 seconds"])
  }

  @Test func `a cut body promises all and sends the start`() {
    let (text, steps) = play(Reply("hello").cut(after: 2))
    #expect(text.contains("Content-Length: 5\r\n"))
    #expect(body(text) == "he")
    #expect(steps.last == "close")
    #expect(play(Reply("hello").reset(after: 0)).steps.last == "reset")
    #expect(body(play(Reply("hello").cut(after: 9)).text) == "hello")
  }

  @Test(arguments: ["3", "9", "-1", "5, 5", "abc"]) func `a claimed length is sent, then all the body`(claim: String) {
    let (text, steps) = play(Reply("hello").claiming(length: claim))
    #expect(text.contains("\r\nContent-Length: \(claim)\r\n"))
    #expect(body(text) == "hello")
    #expect(steps.last == "close")
  }

  @Test func `a body without length ends with the connection`() {
    let (text, steps) = play(Reply("hello").closeDelimited(version: "HTTP/1.0"))
    #expect(text == "HTTP/1.0 200 OK\r\n\r\nhello")
    #expect(steps.last == "close")
  }

  @Test func `chunks take their sizes in turn and the last one repeats`() {
    let (text, steps) = play(Reply("hello world").chunked(1, 4))
    #expect(text.contains("\r\nTransfer-Encoding: chunked\r\n"))
    #expect(body(text) == "1\r\nh\r\n4\r\nello\r\n4\r\n wor\r\n2\r\nld\r\n0\r\n\r\n")
    #expect(steps.last == "keep")
    #expect(body(play(Reply("").chunked()).text) == "0\r\n\r\n")
  }

  @Test func `chunks can go wrong in every way`() {
    func spoilt(_ fault: Chunking.Fault) -> (Substring, String?) {
      let (text, steps) = play(Reply("hello").chunked(3, fault: fault))
      return (body(text), steps.last)
    }
    #expect(spoilt(.sizeLine(chunk: 1, "zz")) == ("3\r\nhel\r\nzz\r\nlo\r\n0\r\n\r\n", "close"))
    #expect(spoilt(.missingEnd) == ("3\r\nhel\r\n2\r\nlo\r\n", "close"))
    #expect(spoilt(.cut(afterChunks: 1)) == ("3\r\nhel\r\n", "close"))
    #expect(spoilt(.cut(afterChunks: 0)) == ("", "close"))
  }

  @Test func `a chunk is cut inside as well`() {
    let (text, steps) = play(Reply("hello").chunked(4).cut(after: 2))
    #expect(body(text) == "4\r\nhe")
    #expect(steps.last == "close")
  }

  @Test func `a gate inside the body holds at its offset, at the end too`() {
    let (text, steps) = play(Reply("hello").held(until: Gate(), afterBytes: 5).held(until: Gate(), afterBytes: 2))
    #expect(body(text) == "hello")
    #expect(steps.dropFirst() == ["send 2", "hold", "send 3", "hold", "keep"])
    #expect(play(Reply("hello").chunked().stalled(afterBytes: 0)).steps.dropFirst().first == "hold")
  }

  @Test func `a paced body waits after every so many bytes`() {
    let steps = play(Reply("hello").paced(bytes: 2, every: .milliseconds(5))).steps.dropFirst()
    #expect(steps == ["send 2", "wait 0.005 seconds", "send 2", "wait 0.005 seconds", "send 1", "keep"])
    let chunked = play(Reply("hello").chunked(3).paced(bytes: 2, every: .milliseconds(5)))
    #expect(body(chunked.text) == "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n")
  }

  @Test func `an endless body goes on`() {
    #expect(play(.endless(), limit: 3).steps.last == "…")
    let (text, steps) = play(Reply.endless().closeDelimited(), limit: 3)
    #expect(!text.prefix(200).contains("chunked"))
    #expect(steps.last == "…")
  }

  @Test func `a pattern is sent as it can be computed`() {
    let pattern = Pattern(seed: 7)
    let (text, _) = play(Reply(200, body: .pattern(pattern, count: 1000)).cut(after: 600))
    #expect(Array(body(text).unicodeScalars.map { UInt8($0.value) }) == pattern.bytes(600))
  }

  @Test func `raw bytes stand alone`() {
    #expect(play(.raw("HTTP/9 what")) == ("HTTP/9 what", ["send 11", "keep"]))
    #expect(play(.hangUp).steps == ["send 0", "close"])
    #expect(play(.reset).steps == ["send 0", "reset"])
  }

  @Test func `a padded head is about as long as wanted`() {
    let (text, _) = play(Reply("a").padded(headBytes: 300_000))
    #expect((299_000...301_000).contains(text.utf8.count))
    let (line, _) = play(Reply("a").padded(headBytes: 100_000, lineBytes: 100_000))
    #expect(line.split(separator: "\r\n").contains { $0.utf8.count == 99_998 })
  }
}

private func == (left: (String, [String]), right: (String, [String])) -> Bool {
  left.0 == right.0 && left.1 == right.1
}
