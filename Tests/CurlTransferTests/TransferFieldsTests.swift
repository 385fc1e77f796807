import Testing

@testable import CurlTransfer

@Suite struct TransferFieldsTests {
  private func lines(_ fields: TransferFields) -> [String] {
    fields.lines.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `fields become lines in their order`() {
    var fields = TransferFields()
    fields.append("A", "1")
    fields.append("b", "x y")
    fields.append("A", "2")
    #expect(lines(fields) == ["A: 1", "b: x y", "A: 2"])
    #expect(fields.contains("a") && fields.contains("B") && !fields.contains("c"))
  }

  @Test(arguments: ["", " ", "\t "])
  func `a field without a value is told to libcurl in its own way`(_ value: String) {
    var fields = TransferFields()
    fields.append("A", value)
    #expect(lines(fields) == ["A;"] && fields.contains("a"))
  }

  @Test func `bytes above ASCII pass as they are`() {
    var fields = TransferFields()
    fields.append(name: "A".utf8, value: [0xE4, 0xFF])
    #expect(fields.lines == [0x41, 0x3A, 0x20, 0xE4, 0xFF, 0])
  }

  @Test func `the first field that cannot be sent is remembered and none is added`() {
    var fields = TransferFields()
    fields.append("A", "1\r\nB: 2")
    fields.append("C:", "1")
    #expect(fields.refusedName == "A" && fields.lines.isEmpty)
  }

  @Test(arguments: ["Content-Length", "content-length", "Transfer-Encoding", "Expect"])
  func `framing is not the caller's`(_ name: String) {
    var fields = TransferFields()
    fields.append(name, "5")
    #expect(fields.lines.isEmpty && fields.refusedName == nil)
  }
}
