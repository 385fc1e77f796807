/// A JSON object on one line (RFC 8259), its members in the order in which they were added. What is nil is `null`.
struct JSONObject {
  private var members: [String] = []

  var text: String { "{" + members.joined(separator: ",") + "}" }
  /// For JSON lines (https://jsonlines.org).
  var line: String { text + "\n" }

  mutating func add(_ name: String, _ value: String?) { add(name, raw: value.map(Self.quoted)) }
  mutating func add(_ name: String, _ value: Int?) { add(name, raw: value.map { String($0) }) }
  mutating func add(_ name: String, _ value: Bool) { add(name, raw: value ? "true" : "false") }
  mutating func add(_ name: String, _ value: [String]) {
    add(name, raw: "[" + value.map(Self.quoted).joined(separator: ",") + "]")
  }
  mutating func add(_ name: String, _ value: [JSONObject]) {
    add(name, raw: "[" + value.map(\.text).joined(separator: ",") + "]")
  }
  mutating func add(_ name: String, _ value: JSONObject?) { add(name, raw: value?.text) }

  private mutating func add(_ name: String, raw: String?) { members.append("\"\(name)\":\(raw ?? "null")") }

  /// A string with what RFC 8259 section 7 wants escaped, and DEL and the C1 controls, which a terminal would obey.
  static func quoted(_ text: String) -> String {
    var line = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": line += "\\\""
      case "\\": line += "\\\\"
      case "\n": line += "\\n"
      case "\r": line += "\\r"
      case "\t": line += "\\t"
      case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}": line += escape(scalar)
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line + "\""
  }

  /// "\u001b".
  private static func escape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
