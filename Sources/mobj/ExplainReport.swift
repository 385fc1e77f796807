internal import ManagedObjects

/// What `mobj explain` prints, for people and as JSON. A value: nothing is looked up here.
///
///     https://example.com/a
///     in         /home/joe/.cache/mobj (FileCache)
///     now        asked about with If-None-Match: "v1"; 304 renews it, 200 replaces it (miss: expired)
///     outage     given for another 6 d
///
///     answer 1   200 OK, 1.2 kB
///     came       3 h ago, 2026-01-31T12:00:00Z
///     age        3 h; fresh for 10 min by max-age
///       Cache-Control: max-age=600
///       Set-Cookie: REDACTED
///
/// Of several answers those come last that do not answer this request: they are of other credentials, or of requests
/// with other fields.
struct ExplainReport {
  private let explanation: CacheExplanation
  private let folder: String
  private let backend: String
  private let now: WallTime
  private let entries: [CacheExplanation.Entry]

  init(_ explanation: CacheExplanation, folder: String, backend: String, now: WallTime) {
    self.explanation = explanation
    self.folder = folder
    self.backend = backend
    self.now = now
    entries = explanation.entries.filter(\.answersRequest) + explanation.entries.filter { !$0.answersRequest }
  }

  // MARK: For people

  var text: String {
    var lines = [explanation.id.description, "in         \(folder) (\(backend))", "now        \(fate)"]
    if let bridging { lines.append("outage     given for another \(Figures.age(bridging))") }
    for (number, entry) in entries.enumerated() { lines += [""] + self.lines(entry, number + 1) }
    return lines.map { Console.shown($0) + "\n" }.joined()
  }

  /// What would happen to the request now.
  private var fate: String {
    switch explanation.outcome {
    case .served(.staleWhileRevalidate):
      return "given at once, stale; a load in the background asks for a newer one (stale-while-revalidate)"
    case .served(.staleAllowed): return "given, stale, as the request allows (stale-allowed)"
    case .served(let reason): return "given without asking\(freshTime) (\(reason.rawValue))"
    case .failed(let status): return "fails with the stored status \(status), without asking (fresh)"
    case .refused(let reason): return "fails: nothing may be given, and the mode forbids to ask (\(reason.rawValue))"
    case .asked(let reason, let conditions) where conditions.isEmpty:
      return "loaded\(isStored ? ": what is stored has no validator to ask with, or may not be used" : "")"
        + " (\(reason.rawValue))"
    case .asked(let reason, let conditions):
      let fields = conditions.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
      return "asked about with \(fields); 304 renews it, 200 replaces it (\(reason.rawValue))"
    }
  }

  private var isStored: Bool { entries.contains(where: \.answersRequest) }

  private var freshTime: String {
    guard let entry = entries.first(where: \.answersRequest), let age = entry.age, entry.grant.lifetime > age else {
      return ""
    }
    return ", for another \(Figures.age(entry.grant.lifetime - age))"
  }

  /// How long an outage of the server would be bridged, where it is asked.
  private var bridging: Duration? {
    guard case .asked(let reason, _) = explanation.outcome, [.expired, .clock].contains(reason) else { return nil }
    return entries.first(where: \.answersRequest)?.bridges
  }

  private func lines(_ entry: CacheExplanation.Entry, _ number: Int) -> [String] {
    let head = entry.facts.head
    var lines = ["answer \(number)   \(head.status) \(head.reason), \(Figures.bytes(entry.count))\(whose(entry))"]
    if entry.facts.isInvalidated {
      lines.append("came       before it was invalidated: it is asked about, whatever its age")
    } else {
      let date = CacheReport.date(entry.facts.responseTime).map { ", \($0)" } ?? ""
      let isAhead = entry.facts.responseTime > now
      lines.append(
        "came       \(isAhead ? "in the future" : Figures.age(now - entry.facts.responseTime) + " ago")\(date)")
      lines.append(
        "age        \(entry.age.map(Figures.age) ?? "not known, the clock was ahead"); \(lifetime(entry.grant))")
    }
    for field in entry.facts.varying { lines.append("varies     \(field)") }
    return lines + head.fields.map { "  \($0)" }
  }

  private func whose(_ entry: CacheExplanation.Entry) -> String {
    if entry.key.kind == .partial { return "; a part" }
    if entry.answersRequest { return "" }
    return entry.key.scope.isEmpty ? "; not for this request" : "; of a credential, not for this request"
  }

  private func lifetime(_ grant: FreshnessRule.Grant) -> String {
    switch grant.origin {
    case .none: "never fresh, since it says nothing"
    case .heuristic: "fresh for \(Figures.age(grant.lifetime)), guessed from Last-Modified"
    case .maxAge, .expires: "fresh for \(Figures.age(grant.lifetime)) by \(grant.origin.rawValue)"
    }
  }

  // MARK: As JSON

  ///     {"id":"https://example.com/a","folder":"/c","backend":"FileCache",
  ///      "now":{"action":"ask","reason":"miss: expired","conditions":["If-None-Match: \"v1\""],"status":null,"outageSeconds":60},
  ///      "answers":[{"key":"a7c9…","type":"good","scoped":false,"answersRequest":true,"status":200,"bytes":1234,
  ///        "responseTime":"2026-01-31T12:00:00Z","ageSeconds":180,"lifetimeSeconds":60,"lifetimeBy":"max-age",
  ///        "varying":["accept: a"],"fields":["Cache-Control: max-age=60"]}]}
  ///
  /// on one line. `action` is give, refresh (give, and ask in the background), ask, load or fail.
  var json: String {
    var object = JSONObject()
    object.add("id", redacted(explanation.id.name))
    object.add("folder", folder)
    object.add("backend", backend)
    object.add("now", fateObject)
    object.add("answers", entries.map(entryObject))
    return object.line
  }

  private var fateObject: JSONObject {
    var (action, reason, conditions, status): (String, AnswerReason, HeaderFields, Int?) = ("fail", .fresh, [:], nil)
    switch explanation.outcome {
    case .served(let why): (action, reason) = (why == .staleWhileRevalidate ? "refresh" : "give", why)
    case .failed(let stored): status = stored
    case .refused(let why): reason = why
    case .asked(let why, let fields): (action, reason, conditions) = (fields.isEmpty ? "load" : "ask", why, fields)
    }
    var object = JSONObject()
    object.add("action", action)
    object.add("reason", reason.rawValue)
    object.add("conditions", conditions.map { "\($0.name): \($0.value)" })
    object.add("status", status)
    object.add("outageSeconds", bridging.map(seconds))
    return object
  }

  private func entryObject(_ entry: CacheExplanation.Entry) -> JSONObject {
    let isInvalidated = entry.facts.isInvalidated
    var object = JSONObject()
    object.add("key", entry.key.digest.hex)
    object.add("type", "\(entry.key.kind)")
    object.add("scoped", !entry.key.scope.isEmpty)
    object.add("answersRequest", entry.answersRequest)
    object.add("status", entry.facts.head.status)
    object.add("bytes", entry.count)
    object.add("responseTime", isInvalidated ? nil : CacheReport.date(entry.facts.responseTime))
    object.add("ageSeconds", entry.age.map(seconds))
    object.add("lifetimeSeconds", seconds(entry.grant.lifetime))
    object.add("lifetimeBy", entry.grant.origin == .none ? nil : entry.grant.origin.rawValue)
    object.add("varying", entry.facts.varying.map(\.description))
    object.add("fields", entry.facts.head.fields.map(\.description))
    return object
  }

  private func seconds(_ duration: Duration) -> Int { Int(clamping: max(0, duration.components.seconds)) }
}
