/// Parts of a stored whole (RFC 9110 section 14): one range of bytes in its three forms.
///
///     bytes=2-5     from and to, both included
///     bytes=2-      from, to the end
///     bytes=-5      the last five
package enum RangeRule {
  package enum Verdict: Hashable, Sendable {
    /// No range that is understood here, or its condition is not met: the whole is the answer.
    case whole
    case part(Range<Int>)
    /// Nothing of it is there: 416.
    case unsatisfiable
  }

  /// - Parameter count: length of the stored body.
  package static func decide(_ head: LoadHead, count: Int, request: HeaderFields) -> Verdict {
    guard head.status == 200, let text = request["Range"] else { return .whole }
    if let condition = request["If-Range"], !isMet(condition, head) { return .whole }
    return parse(text, count: count)
  }

  /// RFC 9110 section 13.1.5: the strong comparison, or exactly the same date.
  private static func isMet(_ condition: String, _ head: LoadHead) -> Bool {
    if let tag = EntityTag(condition) {
      guard !tag.isWeak, let stored = head.fields["ETag"].flatMap({ EntityTag($0) }) else { return false }
      return stored == tag
    }
    return condition == head.fields["Last-Modified"]
  }

  private static func parse(_ text: String, count: Int) -> Verdict {
    let bytes = Array(text.utf8)
    guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), lowerText(trimmed(bytes[..<equals])) == "bytes" else {
      return .whole
    }
    let spec = trimmed(bytes[(equals + 1)...])
    // Several ranges would need a multipart answer; the whole is allowed too.
    guard let dash = spec.firstIndex(of: UInt8(ascii: "-")), !spec.contains(UInt8(ascii: ",")) else { return .whole }
    let (first, last) = (spec[..<dash], spec[(dash + 1)...])
    guard first.allSatisfy(isDigit), last.allSatisfy(isDigit) else { return .whole }
    if first.isEmpty { return suffix(last, count) }
    let start = number(first)
    let end = last.isEmpty ? Int.max : number(last)
    guard end >= start else { return .whole }
    return start < count ? .part(start..<(min(end, count - 1) + 1)) : .unsatisfiable
  }

  private static func suffix(_ digits: ArraySlice<UInt8>, _ count: Int) -> Verdict {
    guard !digits.isEmpty else { return .whole }
    let length = number(digits)
    return length == 0 || count == 0 ? .unsatisfiable : .part(max(0, count - length)..<count)
  }

  /// Saturates.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int {
    digits.reduce(0) { sum, digit in
      let (product, isTooLarge) = sum.multipliedReportingOverflow(by: 10)
      let (next, isTooLargeToo) = product.addingReportingOverflow(Int(digit - 0x30))
      return isTooLarge || isTooLargeToo ? Int.max : next
    }
  }

  /// The head of a part (RFC 9110 section 15.3.7).
  package static func head(of whole: LoadHead, _ part: Range<Int>, count: Int) -> LoadHead {
    var head = LoadHead(status: 206, reason: "Partial Content", fields: whole.fields)
    head.fields["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)"
    head.fields["Content-Length"] = String(part.count)
    return head
  }

  package static func unsatisfiable(count: Int) -> LoadHead {
    LoadHead(
      status: 416, reason: "Range Not Satisfiable",
      fields: ["Content-Range": "bytes */\(count)", "Content-Length": "0"])
  }
}
