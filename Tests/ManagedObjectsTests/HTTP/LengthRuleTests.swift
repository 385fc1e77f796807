import Testing

@testable import ManagedObjects

@Suite struct LengthRuleTests {
  @Test(
    arguments: [
      ("0", .bytes(0)), ("5084", .bytes(5084)), ("007", .bytes(7)), ("5, 5", .bytes(5)), ("5 ,\t5,5", .bytes(5)),
      ("9223372036854775807", .bytes(Int.max)), ("9223372036854775808", .unknown), ("-1", .unknown), ("+5", .unknown),
      ("", .unknown), ("abc", .unknown), ("5.0", .unknown), ("0x5", .unknown), ("5 5", .unknown), ("5,", .unknown),
      ("٥", .unknown), ("5, 6", .contradictory), ("5, 5, 6", .contradictory),
    ] as [(String, LengthRule.Promise)])
  func `a length is digits only, and one`(value: String, promise: LengthRule.Promise) {
    #expect(LengthRule.promise(of: ["Content-Length": value]) == promise)
  }

  @Test func `several fields are one list`() {
    #expect(LengthRule.promise(of: ["Content-Length": "5", "content-length": "5"]) == .bytes(5))
    #expect(LengthRule.promise(of: ["Content-Length": "5", "content-length": "50"]) == .contradictory)
    #expect(LengthRule.promise(of: [:]) == .unknown)
  }

  @Test func `a transfer coding overrides the length`() {
    #expect(LengthRule.promise(of: ["Content-Length": "5", "Transfer-Encoding": "chunked"]) == .unknown)
  }

  @Test func `answers that have no body promise none`() {
    let fields: HeaderFields = ["Content-Length": "5"]
    for status in [103, 204, 304] {
      #expect(LengthRule.promise(of: LoadHead(status: status, fields: fields)) == .bytes(0))
    }
    #expect(LengthRule.promise(of: LoadHead(fields: fields), method: "HEAD") == .bytes(0))
    #expect(LengthRule.promise(of: LoadHead(fields: fields)) == .bytes(5))
    #expect(LengthRule.promise(of: LoadHead(status: 404, fields: fields)) == .bytes(5))
  }
}
