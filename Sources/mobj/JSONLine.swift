internal import ManagedObjects

/// The line that `--json` prints for one object (RFC 8259, one line each: https://jsonlines.org).
///
///     {"url":"https://example.com/a","id":"https://example.com/a","source":"network","status":200,"bytes":12,"milliseconds":31,"error":null}
///     {"url":"x","id":null,"source":null,"status":null,"bytes":0,"milliseconds":0,"error":{"code":"invalidURL","message":"…"}}
///
/// All keys are always there, in this order; `file` follows `bytes` where one was written.
enum JSONLine {
  static func text(_ outcome: Outcome) -> String {
    var members = [
      member("url", quoted(outcome.url)),
      member("id", outcome.id.map(quoted)),
      member("source", outcome.source.map { quoted($0.rawValue) }),
      member("status", outcome.status.map(String.init)),
      member("bytes", String(max(0, outcome.bytes))),
    ]
    if let file = outcome.file { members.append(member("file", quoted(file))) }
    members.append(member("milliseconds", String(max(0, outcome.duration.wholeMilliseconds))))
    members.append(member("error", outcome.error.map(object)))
    return "{" + members.joined(separator: ",") + "}\n"
  }

  private static func object(_ error: ObjectError) -> String {
    "{" + member("code", quoted(error.code.rawValue)) + "," + member("message", quoted(error.message)) + "}"
  }

  private static func member(_ name: String, _ value: String?) -> String { "\"\(name)\":\(value ?? "null")" }

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
