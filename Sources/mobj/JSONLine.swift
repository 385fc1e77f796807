internal import ManagedObjects

/// The line that `--json` prints for one object.
///
///     {"url":"https://example.com/a","id":"https://example.com/a","source":"network","status":200,"bytes":12,"milliseconds":31,"error":null}
///     {"url":"x","id":null,"source":null,"status":null,"bytes":0,"milliseconds":0,"error":{"code":"invalidURL","message":"…"}}
///
/// All keys are always there, in this order; `file` follows `bytes` where one was written. Times, of which the whole is
/// the first, stand before `error`.
enum JSONLine {
  static func text(_ outcome: Outcome) -> String {
    var object = JSONObject()
    object.add("url", outcome.url)
    object.add("id", outcome.id)
    object.add("source", outcome.source?.rawValue)
    object.add("status", outcome.status)
    object.add("bytes", max(0, outcome.bytes))
    if let file = outcome.file { object.add("file", file) }
    addTimes(of: outcome, to: &object)
    object.add("error", outcome.error.map(self.object))
    return object.line
  }

  private static func addTimes(of outcome: Outcome, to object: inout JSONObject) {
    object.add("milliseconds", Int(clamping: max(0, outcome.duration.wholeMilliseconds)))
  }

  private static func object(_ error: ObjectError) -> JSONObject {
    var object = JSONObject()
    object.add("code", error.code.rawValue)
    object.add("message", error.message)
    return object
  }
}
