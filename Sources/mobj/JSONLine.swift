internal import ManagedObjects

/// The line that `--json` prints for one object.
///
///     {"url":"https://example.com/a","id":"https://example.com/a","source":"network","reason":"miss: absent","status":200,"bytes":12,"milliseconds":31,"error":null}
///     {"url":"x","id":null,"source":null,"reason":null,"status":null,"bytes":0,"milliseconds":0,"error":{"code":"invalidURL","message":"…"}}
///
/// All keys are always there, in this order; `file` follows `bytes` where one was written. `reason` is an `AnswerReason`:
/// why it came from there. Where a server was asked two more follow `milliseconds`: how long each stage took (null: there
/// was none), and the connection.
///
///     "microseconds":{"queue":8,"resolve":950,"connect":210,"tls":null,"firstByte":340,"total":1600},
///     "connection":{"http":"1.1","reused":false,"address":"127.0.0.1"}
enum JSONLine {
  static func text(_ outcome: Outcome) -> String {
    var object = JSONObject()
    object.add("url", outcome.url)
    object.add("id", outcome.id)
    object.add("source", outcome.source?.rawValue)
    object.add("reason", outcome.reason?.rawValue)
    object.add("status", outcome.status)
    object.add("bytes", max(0, outcome.bytes))
    if let file = outcome.file { object.add("file", file) }
    object.add("milliseconds", Int(clamping: max(0, outcome.duration.wholeMilliseconds)))
    if let timings = outcome.timings {
      object.add("microseconds", stages(timings))
      object.add("connection", connection(timings))
    }
    object.add("error", outcome.error.map(self.object))
    return object.line
  }

  private static func stages(_ timings: LoadTimings) -> JSONObject {
    var object = JSONObject()
    object.add("queue", microseconds(timings.queue))
    object.add("resolve", microseconds(timings.resolve))
    object.add("connect", microseconds(timings.connect))
    object.add("tls", microseconds(timings.tls))
    object.add("firstByte", microseconds(timings.firstByte))
    object.add("total", microseconds(timings.total))
    return object
  }

  private static func microseconds(_ duration: Duration?) -> Int? {
    duration.map { duration in
      let (seconds, attoseconds) = duration.components
      return Int(min(max(0, seconds), 1_000_000_000) * 1_000_000 + max(0, attoseconds) / 1_000_000_000_000)
    }
  }

  private static func connection(_ timings: LoadTimings) -> JSONObject {
    var object = JSONObject()
    object.add("http", timings.httpVersion)
    object.add("reused", timings.reusedConnection)
    object.add("address", timings.remoteAddress)
    return object
  }

  private static func object(_ error: ObjectError) -> JSONObject {
    var object = JSONObject()
    object.add("code", error.code.rawValue)
    object.add("message", error.message)
    return object
  }
}
