import Foundation

@testable import ManagedObjects

/// URLs, entries on disk, compressed bodies, and texts that are shown.
enum OtherTargets {
  /// A URL, and references at it.
  static func url(_ lines: [String]) {
    let first = String(
      decoding: (lines.first ?? "").unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }, as: UTF8.self)
    guard case .success(let location) = URLRule.parse(first) else { return }
    expect((try? URLRule.parse(location.text).get()) == location, "a URL that was read is read the same again")
    expect((try? URLRule.parse(location.key).get())?.key == location.key, "a key is a URL, and its own key")
    expect(!redacted(location.text).utf8.contains { $0 < 0x20 }, "no controls are shown")
    for line in lines.dropFirst() {
      if case .success(let target) = URLRule.resolve(line, from: location) {
        expect((try? URLRule.parse(target.text).get()) == target, "a target is a URL")
      }
      let request = LoadRequest(location: location.text, fields: ["Authorization": "a", "X-A": "b"])
      let verdict = RedirectRule.follow(status: 302, location: line, from: location, hops: 0, request: request)
      guard case .to(let next) = verdict, let target = try? URLRule.parse(next.location).get() else { continue }
      expect(target.isHTTP, "a redirect stays within http")
      if target.origin != location.origin { expect(!next.fields.contains("Authorization"), "secrets stay at home") }
    }
  }

  /// The checksum of the head is put right, so that what stands behind it is reached.
  static func entry(_ input: [UInt8]) {
    var bytes = input
    if bytes.count >= EntryFormat.fixedBytes {
      let count = Int(bytes[16]) | Int(bytes[17]) << 8 | Int(bytes[18]) << 16 | Int(bytes[19]) << 24
      bytes.replaceSubrange(0..<8, with: [0x4D, 0x4F, 0x65, 0x6E, 0x74, 0x72, 0x79, 0x01])
      if (16...bytes.count).contains(count) {
        let checksum = bytes.withRawSpan { StreamingChecksum.of($0.extracting(16..<count)) }
        for at in 0..<8 { bytes[8 + at] = UInt8(truncatingIfNeeded: checksum >> UInt64(8 * at)) }
      }
    }
    bytes.withRawSpan { span in
      guard let format = EntryFormat(span) else { return }
      let key = format.key(in: span)
      let facts = format.facts(in: span)
      let body = EntryFormat.Body(
        count: format.bodyCount, checksum: format.bodyChecksum, storedTime: format.storedTime, place: format.place)
      _ = VariantIndex(facts)
      // What is no UTF-8, or no field, is mended on reading; the rest is written as it was read.
      guard let again = EntryFormat.encode(key, facts, body) else { return }
      again.withRawSpan { span in
        guard let read = EntryFormat(span) else { return expect(false, "what was written can be read") }
        let same = read.facts(in: span)
        expect(same.head.fields.block == facts.head.fields.block && read.key(in: span) == key, "and is the same")
        expect(same.head.status == facts.head.status && same.responseTime == facts.responseTime, "in all its parts")
      }
    }
  }

  /// The first byte tells the coding, the second into how small pieces the body is cut.
  static func inflater(_ bytes: ArraySlice<UInt8>) {
    guard let kind = bytes.first, let size = bytes.dropFirst().first else { return }
    let codings: [Inflater.Coding] = kind & 3 == 0 ? [.gzip] : kind & 3 == 1 ? [.deflate] : [.deflate, .gzip]
    let limit = 1 << 20
    var inflater = Inflater(codings: codings)
    var given = 0
    var rest = Array(bytes.dropFirst(2))[...]
    do {
      while !rest.isEmpty {
        let piece = Array(rest.prefix(max(1, Int(size))))
        rest = rest.dropFirst(piece.count)
        try piece.withRawSpan { span throws(ObjectError) in
          try inflater.inflate(span, limit: limit) { (output) throws(ObjectError) in given += output.byteCount }
        }
      }
      try inflater.finish()
    } catch {}
    expect(given <= limit, "no more comes out than is allowed")
  }

  static func text(_ text: String) {
    let shown = redacted(text)
    expect(shown.unicodeScalars.count <= 501, "what is shown is short")
    expect(!shown.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, "and of one line")
    var fields = HeaderFields()
    fields.append(text, text)
    _ = "\(fields)"
    _ = TextDecoding(contentType: text)
  }
}
