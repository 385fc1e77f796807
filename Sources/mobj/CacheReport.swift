internal import FoundationEssentials
internal import ManagedObjects

/// What `mobj cache` prints, for people and as JSON. Values: nothing is looked up here.
enum CacheReport {
  // MARK: stat

  ///     folder     /home/joe/.cache/mobj
  ///     backend    FileCache, version 1, 256 shards
  ///     entries    1,234 (2 partial, 3 stored failures, 1 unreadable)
  ///     bodies     45.6 MB; 50.1 MB count against limits
  ///     limit      1.1 GB by mobj get; other programs bring their own
  ///     temporary  2 files, 3.4 MB: being written, or left by programs that died
  ///     last used  3 d to 2 s ago
  ///     look-ups   1,234 in 12 d, 82.3 % of them hits; 120 entries evicted, 3 found damaged
  static func stat(_ facts: CacheFacts, _ survey: StoreSurvey, now: WallTime) -> String {
    var lines = [
      "folder     \(Console.shown(facts.folder))",
      "backend    \(facts.backend), version \(facts.version), \(Figures.count(facts.shards)) shards",
      "entries    \(Figures.count(survey.entries))\(kinds(survey))",
      "bodies     \(Figures.bytes(survey.bodyBytes)); \(Figures.bytes(survey.chargedBytes)) count against limits",
      "limit      \(facts.limitBytes.map(Figures.bytes) ?? "none") by mobj get; other programs bring their own",
    ]
    if survey.temporaryFiles > 0 {
      let files = "\(Figures.count(survey.temporaryFiles)) file\(survey.temporaryFiles == 1 ? "" : "s")"
      lines.append(
        "temporary  \(files), \(Figures.bytes(survey.temporaryBytes)): being written, or left by programs that died")
    }
    if let oldest = survey.oldestUse, let newest = survey.newestUse {
      lines.append("last used  \(Figures.age(now - oldest)) to \(Figures.age(now - newest)) ago")
    }
    if let history = survey.history { lines += lookUps(history, now: now) }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Of all programs that used the folder.
  private static func lookUps(_ history: StoreHistory, now: WallTime) -> [String] {
    let (count, overflow) = history.hits.addingReportingOverflow(history.misses)
    guard count > 0, !overflow else { return [] }
    let share = Int((Double(history.hits) / Double(count) * 1000).rounded())
    return [
      "look-ups   \(Figures.count(count)) in \(Figures.age(now - history.since)), \(share / 10).\(share % 10) % of them hits; "
        + "\(Figures.entries(history.evictedEntries)) evicted, \(Figures.count(history.healedEntries)) found damaged"
    ]
  }

  private static func kinds(_ survey: StoreSurvey) -> String {
    let kinds = [
      (survey.partials, "partial"), (survey.errors, "stored failures"), (survey.unreadable, "unreadable"),
    ]
    let present = kinds.filter { $0.0 > 0 }.map { "\(Figures.count($0.0)) \($0.1)" }
    return present.isEmpty ? "" : " (\(present.joined(separator: ", ")))"
  }

  ///     {"folder":"/c","backend":"FileCache","version":1,"shards":256,"entries":2,"partials":0,"errors":0,"unreadable":0,"bodyBytes":10,"chargedBytes":8192,"limitBytes":1073741824,"temporaryFiles":0,"temporaryBytes":0,"oldestUse":"2026-01-31T12:00:00Z","newestUse":"2026-01-31T12:00:05Z","hits":1016,"misses":218,"evicted":120,"healed":3,"countedSince":"2026-01-19T12:00:00Z"}
  static func statJSON(_ facts: CacheFacts, _ survey: StoreSurvey) -> String {
    var object = JSONObject()
    object.add("folder", facts.folder)
    object.add("backend", facts.backend)
    object.add("version", facts.version)
    object.add("shards", facts.shards)
    object.add("entries", survey.entries)
    object.add("partials", survey.partials)
    object.add("errors", survey.errors)
    object.add("unreadable", survey.unreadable)
    object.add("bodyBytes", survey.bodyBytes)
    object.add("chargedBytes", survey.chargedBytes)
    object.add("limitBytes", facts.limitBytes)
    object.add("temporaryFiles", survey.temporaryFiles)
    object.add("temporaryBytes", survey.temporaryBytes)
    object.add("oldestUse", survey.oldestUse.flatMap(date))
    object.add("newestUse", survey.newestUse.flatMap(date))
    object.add("hits", survey.history?.hits)
    object.add("misses", survey.history?.misses)
    object.add("evicted", survey.history?.evictedEntries)
    object.add("healed", survey.history?.healedEntries)
    object.add("countedSince", (survey.history?.since).flatMap(date))
    return object.line
  }

  // MARK: list

  ///        1.2 kB     3 h  200      https://example.com/a  "v1"
  ///          10 B    45 s  404      https://example.com/b
  ///        2.0 MB     1 d  partial  https://example.com/c
  ///           0 B     any  index    https://example.com/d  (which variants there are of it)
  static func entry(_ entry: EntrySummary, now: WallTime) -> String {
    let isIndex = VariantIndex(entry.facts) != nil
    let kind = isIndex ? "index" : entry.key.kind == .partial ? "partial" : String(entry.facts.head.status)
    var line = padded(Figures.bytes(entry.count), left: 9) + padded(age(of: entry, now: now), left: 8)
    line += "  " + padded(kind, right: 7) + "  " + shown(entry.key.id)
    if !entry.key.scope.isEmpty { line += "  (of one credential)" }
    if isIndex { line += "  (which variants there are of it)" }
    if !isIndex, let etag = entry.facts.head.fields["ETag"] { line += "  " + etag }
    return Console.shown(line) + "\n"
  }

  /// Since the response came, or was confirmed last.
  private static func age(of entry: EntrySummary, now: WallTime) -> String {
    if VariantIndex(entry.facts) != nil { return "any" }
    return entry.facts.isInvalidated ? "stale" : Figures.age(now - entry.facts.responseTime)
  }

  ///     {"id":"https://example.com/a","kind":"url","namespace":"","type":"good","scoped":false,"variant":false,"bytes":1234,"status":200,"etag":"\"v1\"","lastModified":null,"cacheControl":"max-age=60","responseTime":"2026-01-31T12:00:00Z","ageSeconds":180,"lastUse":"2026-01-31T12:00:05Z","key":"a7c9…"}
  static func entryJSON(_ entry: EntrySummary, now: WallTime) -> String {
    let key = entry.key
    let isIndex = VariantIndex(entry.facts) != nil
    let fields: HeaderFields = isIndex ? [:] : entry.facts.head.fields
    let time = isIndex || entry.facts.isInvalidated ? nil : entry.facts.responseTime
    var object = JSONObject()
    object.add("id", shown(key.id, key.id.name))
    object.add("kind", key.id.kind == .url ? "url" : "oid")
    object.add("namespace", key.id.namespace)
    object.add("type", isIndex ? "index" : "\(key.kind)")
    object.add("scoped", !key.scope.isEmpty)
    object.add("variant", !key.variant.isEmpty)
    object.add("bytes", entry.count)
    object.add("status", isIndex ? nil : entry.facts.head.status)
    object.add("etag", fields["ETag"])
    object.add("lastModified", fields["Last-Modified"])
    object.add("cacheControl", fields["Cache-Control"])
    object.add("responseTime", time.flatMap(date))
    object.add("ageSeconds", time.map { Int(clamping: max(0, (now - $0).components.seconds)) })
    object.add("lastUse", date(entry.lastUse))
    object.add("key", key.digest.hex)
    return object.line
  }

  // MARK: verify

  ///     damaged: a/a7c9…: the body has changed (https://example.com/a); removed
  static func damaged(_ entry: DamagedEntry) -> String {
    let id = entry.id.map { " (\(shown($0)))" } ?? ""
    return Console.shown("damaged: \(entry.file): \(entry.problem)\(id)\(entry.isRemoved ? "; removed" : "")") + "\n"
  }

  ///     {"file":"a/a7c9…","id":"https://example.com/a","problem":"the body has changed","removed":false}
  static func damagedJSON(_ entry: DamagedEntry) -> String {
    var object = JSONObject()
    object.add("file", entry.file)
    object.add("id", entry.id.map { shown($0) })
    object.add("problem", entry.problem)
    object.add("removed", entry.isRemoved)
    return object.line
  }

  /// - Parameter removed: how many of the damaged; nil: they are only looked for.
  static func verified(_ result: VerifyResult, removed: Int?) -> String {
    var text = "\(Figures.entries(result.goodEntries)) good, \(Figures.bytes(result.bytes))"
    if result.badEntries > 0 {
      text += "; \(Figures.count(result.badEntries)) damaged"
      switch removed {
      case nil: text += "; --repair removes them"
      case result.badEntries: text += ", removed"
      case .some(let removed): text += ", \(Figures.count(removed)) of them removed"
      }
    }
    return text + "\n"
  }

  ///     {"goodEntries":1234,"badEntries":2,"bytes":45600000}
  static func verifiedJSON(_ result: VerifyResult) -> String {
    var object = JSONObject()
    object.add("goodEntries", result.goodEntries)
    object.add("badEntries", result.badEntries)
    object.add("bytes", result.bytes)
    return object.line
  }

  // MARK: trim, clear, remove

  static func removed(_ removal: Removal) -> String {
    var text = "removed \(Figures.entries(removal.entries)), \(Figures.bytes(removal.bytes))"
    if let left = removal.left { text += "; \(Figures.entries(left.entries)), \(Figures.bytes(left.bytes)) are left" }
    return text + "\n"
  }

  ///     {"removedEntries":3,"removedBytes":12288,"entries":97,"bytes":397312}
  ///     {"removedEntries":1,"removedBytes":10,"notFound":["https://example.com/x"]}
  static func removedJSON(_ removal: Removal) -> String {
    var object = JSONObject()
    object.add("removedEntries", removal.entries)
    object.add("removedBytes", removal.bytes)
    if let left = removal.left {
      object.add("entries", left.entries)
      object.add("bytes", left.bytes)
    }
    if let missing = removal.missing { object.add("notFound", missing.map(shown)) }
    return object.line
  }

  // MARK: Names

  /// A URL without its secrets. Any other id as it is, so that `remove` finds what `list` shows.
  private static func shown(_ id: ObjectID, _ text: String? = nil) -> String {
    let text = text ?? id.description
    return id.kind == .url ? redacted(text) : text
  }

  /// The same for a word that was to be removed.
  static func shown(_ word: String) -> String { word.contains("://") ? redacted(word) : word }

  // MARK: Figures

  /// "2026-01-31T12:00:00Z"; nil for what no calendar shows in four digits.
  static func date(_ time: WallTime) -> String? {
    guard (0...253_402_300_799).contains(time.seconds) else { return nil }
    return Date(timeIntervalSince1970: Double(time.seconds)).formatted(.iso8601)
  }

  private static func padded(_ text: String, left width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  private static func padded(_ text: String, right width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

/// What is known of a cache folder before its entries are looked at.
struct CacheFacts: Equatable {
  var folder: String
  var backend: String
  var version: Int
  var shards: Int
  /// That of `mobj get`: a folder does not say to what limits programs hold it.
  var limitBytes = CacheLimits().limitBytes
}

/// What trim, clear or remove did.
struct Removal: Equatable {
  struct Left: Equatable {
    var entries: Int
    /// Charged.
    var bytes: Int
  }

  var entries = 0
  var bytes = 0
  /// nil: not asked for.
  var left: Left?
  /// The names under which nothing was found.
  var missing: [String]?
}
