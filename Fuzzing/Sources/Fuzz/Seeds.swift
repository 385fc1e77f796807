import Foundation

@testable import ManagedObjects

/// Inputs to begin with: what stands in the code and its tests as examples, a file each.
enum Seeds {
  static func write(to folder: String) throws {
    for (number, seed) in (texts.map { Array($0.utf8) } + entries + compressed).enumerated() {
      try Data(seed).write(to: URL(filePath: "\(folder)/seed-\(number)"))
    }
  }

  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  private static let texts =
    [
      "HHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nSet-Cookie: a=1\r\nset-cookie: b\r\n\r\n",
      "HHTTP/2 404 \r\nDate: \(date)\r\nCache-Control: max-age=60, no-cache=\"Set-Cookie\"\r\nVary: a, b\r\n\r\n",
      "HHTTP/1.0 206\nContent-Range: bytes 2-5/10\nX: folded\n  line\nETag: W/\"a\"\nConnection: close, X\n\n",
      "HHTTP/1.1 200 OK\r\nAge: 7\r\nExpires: -1\r\nLast-Modified: \(date)\r\nContent-Encoding: gzip, deflate\r\n\r\n",
      "D\(date)", "DSunday, 06-Nov-94 08:49:37 GMT", "DSun Nov  6 08:49:37 1994", "D120",
      "DFri, 31 Dec 9999 23:59:60 GMT",
      "Cmax-age=60, No-Cache=\"Set-Cookie\", x-own=\"a, max-age=9\"", "Cpublic, private=\"x\", immutable, max-age=-5",
      "Cno-store, must-understand, must-revalidate, stale-while-revalidate=9, stale-if-error=99999999999999999999",
      "Cmax-stale, min-fresh=4, only-if-cached, max-age=\"7\\\"", "V*", "VAccept, accept-Language\nAccept: a\n\"t\"",
      "VAccept-Language\nAccept-Language: de;q=0.5, EN\nAccept-Language: fr\nW/\"x\"",
      "Rbytes=2-5\n\"a\"\n\"a\", W/\"b\"\n\(date)\n\"a\"", "Rbytes=-5", "Rbytes=7-\n\(date)\n*\nx\n\"e\"",
      "Rbytes=99999999999999999999-99999999999999999999, 3-4",
      "FCache-Control: max-age=60, stale-while-revalidate=60, stale-if-error=60\nETag: \"a\"\nAge: 7\n\nPragma: no-cache",
      "FExpires: \(date)\nDate: \(date)\nLast-Modified: \(date)\n\nCache-Control: max-stale=5, min-fresh=1",
      "UHTTP://joe:pw@Example.COM:80/a/../b c?q=\u{FC}#part\n/new\nnew\n?v=2\n//host/new\nhttps://h/\n#x",
      "Uhttps://[::1]:443/a//b/%41?x\n../../..\nhttp:///x\nhttp://ex.com\\@evil/\n..//x", "Umem:a b\nmem:c",
      "Uhttp://0x7f.1/",
      "Thttps://joe:pw@h/a?size=2&X-Amz-Signature=ab12", "Tjoe:pw@host?%74oken=x;a\u{202E}b\u{1B}[0m",
      "Ttext/html; charset=\"utf-8\"",
    ]

  /// Heads as they are written, with a body behind one.
  private static var entries: [[UInt8]] {
    let index = VariantIndex(generation: 3)
    let keys = [
      EntryKey(ObjectID("cat")), EntryKey(ObjectID("http://h/", kind: .url, namespace: "n"), scope: "s", kind: .error),
    ]
    let facts = [
      EntryFacts(
        head: LoadHead(reason: "OK", fields: ["Content-Type": "text/plain", "Vary": "a"]), varying: ["a": "b"]),
      index.facts,
    ]
    return zip(keys, facts).compactMap { key, facts in
      let body = EntryFormat.Body(count: 5, checksum: 1, storedTime: facts.responseTime, place: .inside)
      return EntryFormat.encode(key, facts, body).map { [Target.entry.rawValue] + $0 + Array("hello".utf8) }
    }
  }

  /// "hello", by gzip, by zlib and bare.
  private static let compressed: [[UInt8]] = [
    [0x5A, 0, 3] + gzip, [0x5A, 1, 1, 0x78, 0x9C] + bare + [0x06, 0x2C, 0x02, 0x15], [0x5A, 1, 9] + bare,
    [0x5A, 2, 200] + gzip + gzip + [0, 0],
  ]
  private static let bare: [UInt8] = [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
  private static let gzip: [UInt8] =
    [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + bare + [0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0]
}
