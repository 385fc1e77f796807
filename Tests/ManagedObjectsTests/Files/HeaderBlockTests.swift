import Testing

@testable import ManagedObjects

/// Header fields as the bytes an entry keeps.
struct HeaderBlockTests {
  private func fields(_ text: String) -> [String] {
    HeaderFields(block: text.utf8).map { "\($0.name)=\($0.value)" }
  }

  @Test func `a block that was made is read back byte for byte`() {
    var made = HeaderFields()
    made.append("A", "")
    made.append("B", "  two blanks, a\ttab ")
    made.append("a", "again: with colon")
    #expect(HeaderFields(block: made.block).block == made.block)
    #expect(HeaderFields(block: made.block) == made)
    #expect(HeaderFields(block: []).isEmpty)
  }

  @Test func `lines of another form are left out and the others kept`() {
    #expect(fields("A: 1\nno colon\nB:2\n: empty\nsp ace: 3\nC: 4") == ["A=1", "B=2", "C=4"])
    #expect(fields("A: 1\nB: x\ry\nC: x\u{0}y\n") == ["A=1"])
  }
}
