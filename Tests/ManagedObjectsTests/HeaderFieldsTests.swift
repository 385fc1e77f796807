import TestSupport
import Testing

@testable import ManagedObjects

struct HeaderFieldsTests {
  @Test func `fields keep order, repeats and spelling, and names compare without case`() {
    var fields: HeaderFields = ["Set-Cookie": "a=1", "X-Y": ""]
    fields.append("set-cookie", "b=2")
    #expect(fields.map(\.name) == ["Set-Cookie", "X-Y", "set-cookie"])
    #expect(fields["SET-COOKIE"] == "a=1" && fields["x-y"] == "" && fields["none"] == nil)
    #expect(fields.values(of: "Set-Cookie") == ["a=1", "b=2"])
    #expect(fields.list(of: "set-Cookie") == "a=1, b=2" && fields.list(of: "none") == nil)
    #expect(fields.contains("x-Y") && !fields.contains("x-") && !fields.contains("x-yy"))
  }

  @Test func `setting replaces all of a name by one, nil by none`() {
    var fields: HeaderFields = ["A": "1", "B": "2", "a": "3"]
    fields["a"] = "4"
    #expect(fields.map(\.value) == ["2", "4"])
    fields["B"] = nil
    fields.remove("none")
    #expect(fields.map(\.value) == ["4"])
    fields.remove("A")
    #expect(fields.isEmpty && fields == HeaderFields())
  }

  @Test(arguments: ["a\rb", "a\nb", "a\u{0}b", "100 \u{20AC}", "\u{1F600}"])
  func `a value that http cannot carry is not added, and remembered`(value: String) {
    var fields: HeaderFields = ["Good": "1"]
    fields["Bad"] = value
    fields["Worse"] = "\n"
    #expect(fields.refusedName == "Bad" && !fields.contains("Bad") && fields["Good"] == "1")
  }

  @Test(arguments: ["", "a b", "a:b", "a\nb", "\u{E9}", "a/b", "(x)"])
  func `a name that is no token is not added`(name: String) {
    var fields = HeaderFields()
    fields.append(name, "x")
    #expect(fields.isEmpty && fields.refusedName == name)
  }

  @Test func `every token character may stand in a name`() {
    var fields = HeaderFields()
    fields.append("!#$%&'*+-.^_`|~09azAZ", "x")
    #expect(fields["!#$%&'*+-.^_`|~09AZaz"] == "x" && fields.refusedName == nil)
  }

  @Test func `no other byte may stand in a name`() {
    let token = Set(Array("!#$%&'*+-.^_`|~09azAZ".utf8) + Array(0x30...0x39) + Array(0x41...0x5A) + Array(0x61...0x7A))
    for byte in UInt8.min...UInt8.max {
      var fields = HeaderFields()
      fields.append(name: [byte], value: [0x78])
      #expect(fields.isEmpty == !token.contains(byte))
      #expect(HeaderFields(block: [byte] + Array(": x\n".utf8)).isEmpty == !token.contains(byte))
    }
  }

  @Test func `all values of a name are one list of bytes too`() {
    var fields: HeaderFields = ["A": "1", "B": "2", "a": ""]
    fields.append(name: Array("A".utf8), value: [0xE9])
    #expect(fields.listBytes(of: "a").map { Array($0) } == Array("1, , ".utf8) + [0xE9])
    #expect(fields.listBytes(of: "b").map { Array($0) } == [0x32] && fields.listBytes(of: "C") == nil)
    #expect(fields.bytes(of: "A").map { Array($0) } == [0x31] && fields.bytes(of: "C") == nil)
  }

  @Test func `names that differ only where ascii has no case are different`() {
    let fields: HeaderFields = ["a^": "1", "a~": "2"]
    #expect(fields["a^"] == "1" && fields["a~"] == "2")
  }

  @Test func `a byte is a character, whatever the server's encoding`() {
    var fields = HeaderFields()
    fields.append(name: Array("X".utf8), value: [0x63, 0x61, 0x66, 0xE9, 0xFF, 0x80])
    #expect(fields["X"] == "caf\u{E9}\u{FF}\u{80}")
    var again = HeaderFields()
    again["X"] = fields["X"]
    #expect(again.block == fields.block)
  }

  @Test func `what was removed is absent, and equals what never was there`() {
    var fields: HeaderFields = ["Connection": "close", "Keep-Alive": "5", "A": "1", "te": "x", "B": "2"]
    fields.removeAll(named: ["connection", "keep-alive", "te"])
    #expect(fields == ["A": "1", "B": "2"] && !fields.contains("connection") && !fields.contains("TE"))
    #expect(Set([fields, ["A": "1", "B": "2"]]).count == 1)
    fields.append("TE", "y")
    #expect(fields["te"] == "y")
  }

  @Test func `the value of a field that is there once is given as bytes, and of no other`() {
    let fields: HeaderFields = ["A": "1", "B": "2", "a": "3", "Content-Length": "12"]
    #expect(fields.onlyValue(of: "content-length").map(Array.init) == Array("12".utf8))
    #expect(fields.onlyValue(of: "A") == nil && fields.onlyValue(of: "C") == nil && fields.onlyValue(of: "") == nil)
    #expect(HeaderFields(block: fields.block).onlyValue(of: "b").map(Array.init) == Array("2".utf8))
  }

  @Test func `a name is no part of a line up to a later colon`() {
    let fields: HeaderFields = ["A": "b: c"]
    #expect(fields["A: b"] == nil && !fields.contains("A: b") && fields["a"] == "b: c")
  }

  @Test func `every field of a name is removed, and what stands between them stays`() {
    var fields: HeaderFields = ["X": "1", "A": "a", "x": "2", "B": "b", "X": "3"]
    fields.remove("X")
    #expect(fields == ["A": "a", "B": "b"])
    fields.remove("X")
    #expect(fields == ["A": "a", "B": "b"])
  }

  @Test func `what its block holds can be read back`() {
    let fields: HeaderFields = ["A": "1: 2", "B": "", "C": "x  ", "A": "caf\u{E9}"]
    let again = HeaderFields(block: fields.block)
    #expect(again == fields && again.map(\.value) == fields.map(\.value))
    #expect(fields.block.starts(with: Array("A: 1: 2\nB: \nC: x  \n".utf8)))
  }

  @Test func `lines that are no fields are left out, and none harms the others`() {
    let fields = HeaderFields(block: Array("no colon\n: no name\nA: 1\n\n\nB:2".utf8))
    #expect(fields.map(\.value) == ["1", "2"])
  }

  @Test func `random blocks never trap, and what was read stays as it is`() {
    var random = SeededRandom(seed: 7)
    let alphabet = Array("AB: \n\r\u{0}x,".utf8) + [0xFF]
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      let fields = HeaderFields(block: bytes)
      let again = HeaderFields(block: fields.block)
      #expect(again.block == fields.block)
      #expect(fields.count(where: { _ in true }) == again.count(where: { _ in true }))
    }
  }
}
