import Testing

@testable import ManagedObjects

private func parsed(_ text: String) -> LoadHead? { try? HeadRule.parse(Array(text.utf8)).get() }

@Suite struct HeadRuleTests {
  @Test func `a block of lines becomes status, reason and fields in their order`() throws {
    let head = try #require(
      parsed("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n\r\n"))
    #expect(head.status == 404)
    #expect(head.reason == "Not Found")
    #expect(head.fields.map(\.name) == ["Content-Type", "Set-Cookie", "set-cookie"])
    #expect(head.fields.values(of: "Set-Cookie") == ["a=1", "b=2"])
  }

  @Test(arguments: [
    ("HTTP/2 200 \r\n", 200, ""), ("HTTP/2 200\r\n", 200, ""), ("HTTP/1.0 200 OK\n", 200, "OK"),
    ("HTTP/1.1 200 OK", 200, "OK"), ("HTTP/3 103 Early Hints\r\n", 103, "Early Hints"),
    ("HTTP/1.1  299  Own  words \r\n", 299, "Own  words"), ("HTTP/1.1 999 \r\n\r\n", 999, ""),
    ("HTTP/1.1 200\tOK\r\n", 200, "OK"),
  ])
  func `every form of status line is read`(text: String, status: Int, reason: String) {
    #expect(parsed(text) == LoadHead(status: status, reason: reason))
  }

  @Test(arguments: [
    "", "\r\n", "HTTP/1.1\r\n", "HTTP/1.1 \r\n", "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 099 OK\r\n",
    "HTTP/1.1 200OK\r\n", "HTTP/ 200 OK\r\n", "HTTP/1.1200 OK\r\n", "ICY 200 OK\r\n", "A: b\r\n", "HTTP/1.1 -20 OK\r\n",
    " HTTP/1.1 200 OK\r\n", "\u{0}",
  ])
  func `what does not begin with a status line is no head`(text: String) {
    #expect(parsed(text) == nil)
  }

  @Test func `optional whitespace goes, inner whitespace stays`() {
    let fields = parsed("HTTP/1.1 200 OK\r\nA: \t one  two\t \r\nB:\r\nC:x\r\n\r\n")?.fields
    #expect(fields?["A"] == "one  two")
    #expect(fields?["B"] == "")
    #expect(fields?["C"] == "x")
  }

  @Test func `a folded line goes on after one blank`() {
    let fields = parsed("HTTP/1.1 200 OK\r\nA: one\r\n \t two\r\n\tthree\r\nB: x\r\n\r\n")?.fields
    #expect(fields?["A"] == "one two three")
    #expect(fields?["B"] == "x")
  }

  @Test func `a bad line is dropped with what is folded onto it, and nothing else`() {
    let text = """
      HTTP/1.1 200 OK
       folded onto the status line
      Good: 1
      no colon
       more of it
      bad name: 2
      : no name
      Spaced : 3
      Nul: a\u{0}b
      Cr: a\rb
      Réal: 4
      Last: 5

      After: 6
      """
    let fields = parsed(text)?.fields
    #expect(fields?.map(\.name) == ["Good", "Last"])
    #expect(fields?["Good"] == "1")
    #expect(fields?.refusedName == nil)
  }

  @Test func `bytes stay the bytes they are`() throws {
    let raw =
      Array("HTTP/1.1 200 ".utf8) + [0xE9] + Array("\r\nA: ".utf8) + [0xFF, 0x80, 0xC3, 0xA9] + Array("\r\n\r\n".utf8)
    let head = try HeadRule.parse(raw).get()
    #expect(head.reason == "\u{E9}")
    #expect(head.fields["A"] == "\u{FF}\u{80}\u{C3}\u{A9}")
    #expect(head.fields.block == Array("A: ".utf8) + [0xFF, 0x80, 0xC3, 0xA9, 0x0A])
  }

  @Test func `a head without its empty line, or with bytes after it, is read up to there`() {
    #expect(parsed("HTTP/1.1 200 OK\r\nA: 1")?.fields["A"] == "1")
    #expect(parsed("HTTP/1.1 200 OK\r\nA: 1\r\n\r\nB: 2\r\n")?.fields["B"] == nil)
  }

  @Test func `no bytes make it trap`() {
    let pieces: [[UInt8]] = [
      Array("HTTP/1.1 200 OK".utf8), [13, 10], [10], [13], [0], [32], [9], [58], [0xFF], Array("A: b".utf8),
    ]
    for _ in 0..<20_000 {
      let raw = (0..<Int.random(in: 0...12)).flatMap { _ in pieces.randomElement() ?? [] }
      guard case .success(let head) = HeadRule.parse(raw) else { continue }
      #expect(HeaderFields(block: head.fields.block) == head.fields)
      #expect(head.fields.refusedName == nil)
    }
  }
}
