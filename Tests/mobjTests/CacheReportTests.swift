import Foundation
import ManagedObjects
import Testing

@testable import mobj

struct CacheReportTests {
  private let now = WallTime(seconds: 1_770_000_000)
  private let facts = CacheFacts(folder: "/c", backend: "BigFileCache", version: 1, shards: 4096, limitBytes: 1 << 30)

  private func entry(
    _ key: EntryKey, status: Int = 200, fields: HeaderFields = [:], age: Int64 = 7200
  ) -> EntrySummary {
    let facts = EntryFacts(
      head: LoadHead(status: status, fields: fields), responseTime: WallTime(seconds: now.seconds - age))
    return EntrySummary(key: key, facts: facts, count: 1234, lastUse: WallTime(seconds: now.seconds - 5))
  }

  private func url(_ name: String) -> EntryKey { EntryKey(ObjectID(name, kind: .url)) }

  private func object(_ line: String) throws -> [String: Any] {
    #expect(line.last == "\n" && line.dropLast().allSatisfy { $0 != "\n" })
    return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  // MARK: stat

  @Test func `stat tells what is there, in words`() {
    var survey = StoreSurvey()
    survey.entries = 1234
    survey.partials = 2
    survey.unreadable = 1
    survey.bodyBytes = 45_600_000
    survey.chargedBytes = 50_100_000
    survey.temporaryFiles = 1
    survey.temporaryBytes = 3_400_000
    survey.oldestUse = WallTime(seconds: now.seconds - 300_000)
    survey.newestUse = WallTime(seconds: now.seconds - 2)
    survey.history = StoreHistory(
      hits: 1016, misses: 218, evictedEntries: 120, healedEntries: 3, since: WallTime(seconds: now.seconds - 1_100_000))
    #expect(
      CacheReport.stat(facts, survey, now: now) == """
        folder     /c
        backend    BigFileCache, version 1, 4,096 shards
        entries    1,234 (2 partial, 1 unreadable)
        bodies     45.6 MB; 50.1 MB count against limits
        limit      1.1 GB by mobj get; other programs bring their own
        temporary  1 file, 3.4 MB: being written, or left by programs that died
        last used  3 d to 2 s ago
        look-ups   1,234 in 12 d, 82.3 % of them hits; 120 entries evicted, 3 found damaged

        """)
  }

  @Test func `an empty cache has no dates`() throws {
    #expect(!CacheReport.stat(facts, StoreSurvey(), now: now).contains("last used"))
    let object = try object(CacheReport.statJSON(facts, StoreSurvey()))
    #expect(object["entries"] as? Int == 0)
    #expect(object["oldestUse"] is NSNull && object["newestUse"] is NSNull && object["hits"] is NSNull)
    #expect(object["backend"] as? String == "BigFileCache")
  }

  @Test func `hit figures stand in JSON, and no figure of a damaged file makes it trap`() throws {
    var survey = StoreSurvey()
    survey.history = StoreHistory(hits: 3, misses: 1, evictedEntries: 2, healedEntries: 5, since: now)
    let object = try object(CacheReport.statJSON(facts, survey))
    #expect(["hits", "misses", "evicted", "healed"].map { object[$0] as? Int } == [3, 1, 2, 5])
    #expect(object["countedSince"] as? String == "2026-02-02T02:40:00Z")
    survey.history = StoreHistory(hits: .max, misses: .max, since: .distantPast)
    #expect(!CacheReport.stat(facts, survey, now: now).contains("look-ups"))
  }

  // MARK: list

  @Test func `an entry is a line`() {
    let plain = entry(url("http://a/"), fields: ["ETag": "\"v1\""])
    #expect(CacheReport.entry(plain, now: now) == "   1.2 kB     2 h  200      http://a/  \"v1\"\n")
    let partial = entry(EntryKey(ObjectID("7", namespace: "n"), scope: "joe", kind: .partial), age: 30)
    #expect(CacheReport.entry(partial, now: now) == "   1.2 kB    30 s  partial  n:7  (of one credential)\n")
  }

  @Test func `all that is known stands in JSON`() throws {
    let entry = entry(
      url("http://a/"), status: 404, fields: ["ETag": "\"v\"", "Cache-Control": "max-age=60", "Last-Modified": "x"])
    let object = try object(CacheReport.entryJSON(entry, now: now))
    #expect(object["id"] as? String == "http://a/")
    #expect(object["kind"] as? String == "url" && object["type"] as? String == "good")
    #expect(object["bytes"] as? Int == 1234 && object["status"] as? Int == 404)
    #expect(object["etag"] as? String == "\"v\"" && object["cacheControl"] as? String == "max-age=60")
    #expect(object["lastModified"] as? String == "x" && object["ageSeconds"] as? Int == 7200)
    #expect(object["responseTime"] as? String == "2026-02-02T00:40:00Z")
    #expect(object["lastUse"] as? String == "2026-02-02T02:39:55Z")
    #expect(object["key"] as? String == entry.key.digest.hex)
    #expect(object["scoped"] as? Bool == false && object["variant"] as? Bool == false)
  }

  @Test func `neither a secret of a URL nor the name of a scope is printed`() {
    let entry = entry(EntryKey(ObjectID("http://joe:pw@a/?token=hunter2", kind: .url), scope: "of-joe"))
    for line in [CacheReport.entry(entry, now: now), CacheReport.entryJSON(entry, now: now)] {
      for secret in ["hunter2", "joe", "pw@"] { #expect(!line.contains(secret), "\(line)") }
    }
  }

  @Test func `an id that is no URL is shown as it is, so that it can be removed by what is shown`() throws {
    let id = ObjectID("joe@example.com?token=x", namespace: "mail")
    let (entry, damaged) = (entry(EntryKey(id)), DamagedEntry(file: "a/a7", id: id, problem: "x"))
    #expect(CacheReport.entry(entry, now: now).hasSuffix("  \(id)\n"))
    #expect(try object(CacheReport.entryJSON(entry, now: now))["id"] as? String == "joe@example.com?token=x")
    #expect(CacheReport.damaged(damaged).contains("(\(id))"))
    #expect(try object(CacheReport.damagedJSON(damaged))["id"] as? String == id.description)
    let removal = Removal(missing: ["joe@example.com"])
    #expect(try object(CacheReport.removedJSON(removal))["notFound"] as? [String] == ["joe@example.com"])
    var names = RemovalNames([id.description])
    let isFound = names.take(EntryKey(id))
    #expect(isFound)
  }

  @Test func `no name and no field can move the terminal or break the line`() throws {
    let odd = entry(EntryKey(ObjectID("a\u{1B}[2J\nb")), fields: ["ETag": "\u{1B}]0;x\u{7}\u{9B}2J"])
    let line = CacheReport.entry(odd, now: now).dropLast()
    #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    _ = try object(CacheReport.entryJSON(odd, now: now))
  }

  @Test(arguments: [Int64.min, -1, .max])
  func `dates that cannot be are none`(seconds: Int64) throws {
    let facts = EntryFacts(head: LoadHead(), responseTime: WallTime(seconds: seconds))
    let entry = EntrySummary(key: url("http://a/"), facts: facts, count: 0, lastUse: WallTime(seconds: seconds))
    let object = try object(CacheReport.entryJSON(entry, now: now))
    #expect(object["responseTime"] is NSNull && object["lastUse"] is NSNull)
    #expect(!CacheReport.entry(entry, now: now).contains("-"))
  }

  @Test func `an invalidated entry says so instead of its age`() throws {
    let facts = EntryFacts(head: LoadHead(), responseTime: .distantPast)
    let entry = EntrySummary(key: url("http://a/"), facts: facts, count: 0, lastUse: now)
    #expect(CacheReport.entry(entry, now: now).contains("  stale  200"))
    #expect(try object(CacheReport.entryJSON(entry, now: now))["ageSeconds"] is NSNull)
  }

  @Test func `an index of variants is told from an answer`() throws {
    var index = VariantIndex(generation: 1)
    index.note(["accept"], "v", tag: "\"1\"")
    let entry = EntrySummary(key: url("http://a/"), facts: index.facts, count: 0, lastUse: now)
    #expect(
      CacheReport.entry(entry, now: now) == "      0 B     any  index    http://a/  (which variants there are of it)\n")
    let object = try object(CacheReport.entryJSON(entry, now: now))
    #expect(object["type"] as? String == "index")
    for name in ["status", "etag", "responseTime", "ageSeconds"] { #expect(object[name] is NSNull) }
  }

  // MARK: verify, trim, clear, remove

  @Test func `verify tells what was good and what was not`() throws {
    var result = VerifyResult()
    result.goodEntries = 1
    result.bytes = 10
    #expect(CacheReport.verified(result, removed: nil) == "1 entry good, 10 B\n")
    result.badEntries = 2
    #expect(CacheReport.verified(result, removed: nil) == "1 entry good, 10 B; 2 damaged; --repair removes them\n")
    #expect(CacheReport.verified(result, removed: 2) == "1 entry good, 10 B; 2 damaged, removed\n")
    #expect(CacheReport.verified(result, removed: 0) == "1 entry good, 10 B; 2 damaged, 0 of them removed\n")
    #expect(try object(CacheReport.verifiedJSON(result))["badEntries"] as? Int == 2)
  }

  @Test func `a damaged entry is named, its URL without secrets`() throws {
    let id = ObjectID("http://a/?token=hunter2", kind: .url)
    let entry = DamagedEntry(file: "a/a7", id: id, problem: "the body has changed")
    #expect(CacheReport.damaged(entry) == "damaged: a/a7: the body has changed (http://a/?token=REDACTED)\n")
    let removed = DamagedEntry(file: "a/a7", id: id, problem: "the body has changed", isRemoved: true)
    #expect(CacheReport.damaged(removed).hasSuffix("; removed\n"))
    let object = try object(CacheReport.damagedJSON(removed))
    #expect(object["id"] as? String == "http://a/?token=REDACTED" && object["removed"] as? Bool == true)
    let nameless = DamagedEntry(file: "a/a7", id: nil, problem: "x")
    #expect(try self.object(CacheReport.damagedJSON(nameless))["id"] is NSNull)
  }

  @Test func `removals tell what is left, or what was not found`() throws {
    var removal = Removal(entries: 3, bytes: 12_288)
    #expect(CacheReport.removed(removal) == "removed 3 entries, 12.3 kB\n")
    removal.left = Removal.Left(entries: 1, bytes: 4096)
    #expect(CacheReport.removed(removal) == "removed 3 entries, 12.3 kB; 1 entry, 4.1 kB are left\n")
    removal.missing = ["http://a/?sig=x"]
    let object = try object(CacheReport.removedJSON(removal))
    #expect(object["removedEntries"] as? Int == 3 && object["entries"] as? Int == 1)
    #expect(object["notFound"] as? [String] == ["http://a/?sig=REDACTED"])
  }
}
