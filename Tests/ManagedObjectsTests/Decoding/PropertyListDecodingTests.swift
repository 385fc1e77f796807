import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct PropertyListDecodingTests {
  private struct Star: Codable, Equatable {
    var name: String
    var magnitude: Double
    var seen: Date?
    var picture = Data([0, 1, 2])
    var planets: [String: Int] = ["b": 1]
  }

  private static let stars = [
    Star(name: "Vega", magnitude: 0.03, seen: Date(timeIntervalSince1970: 1_700_000_000)),
    Star(name: "Ζ 天", magnitude: -1.5),
  ]

  private func decode<Object: Decodable & Sendable>(_ type: Object.Type, _ bytes: Data) throws -> Object {
    try ObjectDecoder.propertyList(type).decode(Loaded(id: ObjectID("list"), bytes: bytes))
  }

  private func refusal(_ bytes: Data) throws -> String {
    let error = #expect(throws: ObjectError.self) { try decode([Int].self, bytes) }
    #expect(error?.code == .undecodable)
    return try #require(error).message
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func `both formats are read`(format: PropertyListSerialization.PropertyListFormat) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    #expect(try decode([Star].self, encoder.encode(Self.stars)) == Self.stars)
    let numbers = Array(0..<10_000)
    #expect(try decode([Int].self, encoder.encode(numbers)) == numbers)
  }

  @Test func `a byte order mark, comments, a document type and CDATA do no harm`() throws {
    let text = """
      \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <!-- <array> \(String(repeating: "<array>", count: 600)) -->
      <plist version="1.0"><array><string><![CDATA[<array></array>]]></string><string/></array></plist>
      """
    #expect(try decode([String].self, Data(text.utf8)) == ["<array></array>", ""])
  }

  @Test func `what does not fit is said with its place`() throws {
    let text = "<plist version=\"1.0\"><array><integer>1</integer><string>x</string></array></plist>"
    #expect(try refusal(Data(text.utf8)).contains("at [1]"))
  }

  @Test(arguments: ["", " ", "{ x = 1; }", "((1))", "nothing", "bplist", "bplist00", "<", "<plist>", "<array>"])
  func `what is no property list is refused`(text: String) throws {
    _ = try refusal(Data(text.utf8))
  }

  @Test func `text in sixteen bits is refused, not misread`() throws {
    let text = "<plist version=\"1.0\"><array/></plist>"
    for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16] {
      _ = try refusal(try #require(text.data(using: encoding)))
    }
  }

  // MARK: Lists that would end the process

  private static func nested(_ depth: Int) -> Data {
    let (open, close) = (String(repeating: "<array>", count: depth), String(repeating: "</array>", count: depth))
    return Data("<plist version=\"1.0\">\(open)\(close)</plist>".utf8)
  }

  @Test(arguments: [512, 20_000]) func `text that is nested too deep is refused`(depth: Int) throws {
    #expect(try refusal(Self.nested(depth)).contains("512 deep"))
  }

  @Test func `closing tags in comments and elsewhere do not hide how deep it is`() throws {
    for hiding in ["<!-- </array> -->", "<![CDATA[</array>]]>", "<?x </array> ?>", "<array></array >", "<?>"] {
      let type = "<!DOCTYPE plist \(String(repeating: "</array", count: 2_000))>"
      let text = type + "<plist>" + String(repeating: "<array x=''>" + hiding, count: 2_000)
      #expect(try refusal(Data(text.utf8)).contains("512 deep"))
    }
  }

  @Test func `five hundred levels pass`() throws {
    try PropertyListNesting.check(Self.nested(500))
    try PropertyListNesting.check(Self.binary(references: (1...500).map { [$0] } + [[]]))
  }

  /// A binary list of arrays: object n holds the objects that the n-th element names.
  static func binary(references: [[Int]]) -> Data {
    func number(_ value: Int, _ size: Int) -> [UInt8] {
      (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    var bytes = Data("bplist00".utf8)
    var offsets: [Int] = []
    for object in references {
      offsets.append(bytes.count)
      bytes += object.count < 15 ? [0xA0 | UInt8(object.count)] : [0xAF, 0x12] + number(object.count, 4)
      for reference in object { bytes += number(reference, 4) }
    }
    let table = bytes.count
    for offset in offsets { bytes += number(offset, 4) }
    bytes += [0, 0, 0, 0, 0, 0, 4, 4]
    for value in [references.count, 0, table] { bytes += number(value, 8) }
    return bytes
  }

  @Test func `a binary list made by hand is read as it was meant`() throws {
    #expect(try decode([[[Int]]].self, Self.binary(references: [[1, 1], [2], []])) == [[[]], [[]]])
    #expect(try decode([[Int]].self, Self.binary(references: [Array(repeating: 1, count: 300), []])).count == 300)
  }

  @Test func `a binary list that contains itself, or is nested too deep, is refused`() throws {
    #expect(try refusal(Self.binary(references: [[0]])).contains("512 deep"))
    #expect(try refusal(Self.binary(references: [[1], [2], [0]])).contains("512 deep"))
    #expect(try refusal(Self.binary(references: (1...20_000).map { [$0] } + [[]])).contains("512 deep"))
    // Deep only together: 300 levels that stand at the end of 300 others, and are known before.
    let tail = (300..<600).map { [$0 + 1] } + [[]]
    let head = [[300, 1]] + (1..<300).map { [$0 + 1] }
    #expect(try refusal(Self.binary(references: head + tail)).contains("512 deep"))
  }

  @Test func `a small binary list that stands for a billion values is refused`() throws {
    let doubling = (1...30).map { [$0, $0] } + [[]]
    #expect(try refusal(Self.binary(references: doubling)).contains("too often"))
  }

  @Test func `containers that each hold one shared container once are counted together`() throws {
    // 0: the top, of the containers 3 and up, each of which is [1]; 1: many references to the leaf 2.
    let containers = 60_000
    let list = [Array(3..<(3 + containers)), Array(repeating: 2, count: 200_000), []]
    #expect(try refusal(Self.binary(references: list + Array(repeating: [1], count: containers))).contains("too often"))
  }

  @Test func `a text that claims to go beyond the end of the file is refused`() throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    var bytes = try encoder.encode(["Ζ 天"])
    let text = try #require(bytes.firstIndex(of: 0x63))
    bytes[text] = 0x6E
    #expect(try refusal(bytes).contains("damaged"))
  }

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func `no damage at one place harms the process`(format: PropertyListSerialization.PropertyListFormat) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    let whole = try encoder.encode(Self.stars)
    for at in whole.indices {
      for value in [0, 0x3C, 0x6F, 0xFF] as [UInt8] {
        var bytes = whole
        bytes[at] = value
        _ = try? decode([Star].self, bytes)
      }
      _ = try? decode([Star].self, whole.prefix(at))
    }
  }
}
