internal import ManagedObjects

/// The line that `--json` prints for one object (RFC 8259, one line each: https://jsonlines.org).
///
///     {"url":"https://example.com/a","id":"https://example.com/a","source":"network","status":200,"bytes":12,"milliseconds":31,"error":null}
///     {"url":"x","id":null,"source":null,"status":null,"bytes":0,"milliseconds":0,"error":{"code":"invalidURL","message":"…"}}
///
/// All keys are always there, in this order; `file` follows `bytes` where one was written. Where a server was asked two
/// more follow `milliseconds`: how long each stage took (null: there was none), and the connection.
///
///     "microseconds":{"queue":8,"resolve":950,"connect":210,"tls":null,"firstByte":340,"total":1600},
///     "connection":{"http":"1.1","reused":false,"address":"127.0.0.1"}
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
    if let timings = outcome.timings {
      members.append(member("microseconds", stages(timings)))
      members.append(member("connection", connection(timings)))
    }
    members.append(member("error", outcome.error.map(object)))
    return "{" + members.joined(separator: ",") + "}\n"
  }

  private static func stages(_ timings: LoadTimings) -> String {
    let stages = [
      ("queue", timings.queue), ("resolve", timings.resolve), ("connect", timings.connect), ("tls", timings.tls),
      ("firstByte", timings.firstByte), ("total", timings.total),
    ]
    return "{" + stages.map { member($0, $1.map { String(microseconds($0)) }) }.joined(separator: ",") + "}"
  }

  private static func microseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return min(max(0, seconds), 1_000_000_000) * 1_000_000 + max(0, attoseconds) / 1_000_000_000_000
  }

  private static func connection(_ timings: LoadTimings) -> String {
    let members = [
      member("http", timings.httpVersion.map(quoted)), member("reused", String(timings.reusedConnection)),
      member("address", timings.remoteAddress.map(quoted)),
    ]
    return "{" + members.joined(separator: ",") + "}"
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
