import Foundation
import Testing

@testable import ManagedObjects

private func text(_ bytes: [UInt8], _ contentType: String?) throws -> String {
  try TextDecoding(contentType: contentType).text(Data(bytes))
}

private func fault(_ bytes: [UInt8], _ contentType: String?) -> String? {
  do {
    _ = try text(bytes, contentType)
    return nil
  } catch let error as ObjectError {
    return error.code == .undecodable ? error.message : nil
  } catch {
    return nil
  }
}

@Suite struct TextDecodingTests {
  @Test(
    arguments: [
      (nil, .utf8), ("", .utf8), ("text/plain", .utf8), ("text/plain; charset=UTF-8", .utf8),
      ("text/plain;charset=iso-8859-1", .latin1), ("text/plain; CHARSET=\"Latin1\"", .latin1),
      ("text/plain; x=\"; charset=utf-16\"; charset=us-ascii", .ascii),
      ("a/b; charset = windows-1252 ; y", .windows1252),
      ("a/b; charset=utf-16le; charset=utf-8", .utf16LittleEndian), ("a/b; charset=UTF-16BE", .utf16BigEndian),
      ("a/b; charset=utf-16", .utf16), ("a/b; charset=shift_jis", .utf8), ("a/b; charset=", .utf8),
      ("a/b; charset", .utf8),
      ("a/b; charset=\"utf-16", .utf16), ("; ;;=;charset=cp1252", .windows1252), ("a/b; mycharset=utf-16", .utf8),
    ] as [(String?, TextDecoding.Charset)])
  func `the charset is the one that Content-Type names`(contentType: String?, charset: TextDecoding.Charset) {
    #expect(TextDecoding(contentType: contentType).charset == charset)
  }

  @Test(
    arguments: [
      (Array("grün 😀".utf8), nil, "grün 😀"), ([0xEF, 0xBB, 0xBF, 0x61], "a/b; charset=utf-8", "a"), ([], nil, ""),
      ([0x61, 0x7F, 0x00], "a/b; charset=us-ascii", "a\u{7F}\u{0}"), ([0xFC, 0x80], "a/b; charset=latin1", "ü\u{80}"),
      ([0xFC, 0x80, 0x9F], "a/b; charset=windows-1252", "ü€Ÿ"),
      ([0xFC, 0x00, 0x3D, 0xD8, 0x00, 0xDE], "a/b; charset=utf-16le", "ü😀"),
      ([0x00, 0xFC, 0xD8, 0x3D, 0xDE, 0x00], "a/b; charset=utf-16be", "ü😀"),
      ([0xFE, 0xFF, 0x00, 0x61], "a/b; charset=utf-16", "a"), ([0xFF, 0xFE, 0x61, 0x00], "a/b; charset=utf-16", "a"),
      ([0x61, 0x00], "a/b; charset=utf-16", "a"), ([0xFF, 0xFE, 0x61, 0x00], "a/b; charset=utf-16le", "a"),
      ([], "a/b; charset=utf-16", ""), ([0xFF, 0xFE], "a/b; charset=utf-16", ""),
    ] as [([UInt8], String?, String)])
  func `bytes become the text they are`(bytes: [UInt8], contentType: String?, expected: String) throws {
    #expect(try text(bytes, contentType) == expected)
  }

  @Test(
    arguments: [
      ([0x61, 0xFF], nil, "utf-8", 1), ([0x61, 0xC3], nil, "utf-8", 1), ([0xED, 0xA0, 0x80], nil, "utf-8", 0),
      ([0xC0, 0x80], nil, "utf-8", 0), ([0xEF, 0xBB, 0xBF, 0xC3, 0xBC, 0xF5], nil, "utf-8", 5),
      ([0x61, 0x62, 0x80], "a/b; charset=us-ascii", "us-ascii", 2),
      ([0x61, 0x81], "a/b; charset=windows-1252", "windows-1252", 1),
      ([0x61, 0x00, 0x62], "a/b; charset=utf-16", "utf-16", 2),
      ([0x61, 0x00, 0x3D, 0xD8], "a/b; charset=utf-16le", "utf-16le", 2),
      ([0xFE, 0xFF, 0xDC, 0x00, 0x00, 0x61], "a/b; charset=utf-16", "utf-16", 2),
      ([0x3D, 0xD8, 0x61, 0x00], "a/b; charset=utf-16le", "utf-16le", 0), ([0xFF], "a/b; charset=sjis", "utf-8", 0),
    ] as [([UInt8], String?, String, Int)])
  func `what is no text is refused, with charset and place`(
    bytes: [UInt8], contentType: String?, charset: String, offset: Int
  ) {
    #expect(fault(bytes, contentType)?.contains("no \(charset) text from byte \(offset) on") == true)
  }

  @Test func `a slice of data counts from its own start`() {
    let slice = Data([0x30, 0x61, 0xFF]).dropFirst()
    let error = #expect(throws: ObjectError.self) { try TextDecoding(charset: .utf8).text(slice) }
    #expect(error?.message.contains("byte 1 ") == true)
  }

  @Test func `UTF-16 agrees with Foundation`() throws {
    for sample in ["", "a", "grün", "日本語", "😀😀", "a\u{10FFFF}"] {
      for (encoding, name) in [(String.Encoding.utf16LittleEndian, "utf-16le"), (.utf16BigEndian, "utf-16be")] {
        let bytes = Array(try #require(sample.data(using: encoding)))
        #expect(try text(bytes, "a/b; charset=\(name)") == sample)
      }
    }
  }

  @Test func `no bytes make it trap`() {
    let pieces: [UInt8] = [0x61, 0xD8, 0xDC, 0x00, 0xFF, 0xFE, 0xC3, 0xEF]
    for round in 0..<5000 {
      let bytes = (0..<Int.random(in: 0...8)).map { _ in pieces.randomElement() ?? 0 }
      let names = ["utf-8", "utf-16", "utf-16le", "utf-16be", "us-ascii", "windows-1252", "latin1"]
      let name = names[round % names.count]
      if (try? text(bytes, "a/b; charset=\(name)")) == nil { #expect(fault(bytes, "a/b; charset=\(name)") != nil) }
    }
  }
}
