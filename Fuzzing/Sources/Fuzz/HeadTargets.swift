@testable import ManagedObjects

/// Heads, and what their fields mean.
enum HeadTargets {
  /// Moments at which a clock may stand, the ends of time among them.
  private static let times = [Int64.min, -1, 0, 784_111_777_000, 1_767_225_600_000, Int64.max].map {
    WallTime(milliseconds: $0)
  }

  static func head(_ raw: [UInt8]) {
    guard case .success(let head) = HeadRule.parse(raw) else { return }
    expect((100...999).contains(head.status), "a status has three digits")
    expect(head.fields.refusedName == nil, "a field that was read can be kept")
    expect(HeaderFields(block: head.fields.block) == head.fields, "fields are read as they were written")
    var fields = HeaderFields()
    for field in head.fields { fields.append(field.name, field.value) }
    expect(fields == head.fields, "fields are the sum of their lines")
    for field in head.fields {
      expect(head.fields.values(of: field.name).contains(field.value), "a field that is there is found")
      fields.remove(field.name)
      expect(!fields.contains(field.name), "a field that was removed is not")
    }
    expect(fields.isEmpty, "and nothing else was left")
    use(head)
  }

  static func date(_ text: String) {
    for now in times {
      guard let time = HTTPDate.parse(text, now: now) else { continue }
      let written = HTTPDate.format(time)
      expect(written.utf8.count == 29, "a date is written in one form")
      // The ends of what four digits of a year can write; a leap second may lead over one.
      let canBeWritten = (-62_167_219_200...253_402_300_799).contains(time.seconds)
      expect(!canBeWritten || HTTPDate.parse(written, now: now) == time, "and read again")
    }
    _ = RetryAfterRule.delay(text, now: times[4])
  }

  static func cacheControl(_ text: String) {
    let control = CacheControl(["Cache-Control": text])
    let durations = [
      control.maxAge, control.staleWhileRevalidate, control.staleIfError, control.minFresh, control.maxStale,
    ]
    for case let duration? in durations {
      expect(duration >= .zero && duration <= CacheControl.limit, "times are within their limits")
    }
    expect(control == CacheControl(["cache-control": text]), "names have no letter case")
  }

  /// A Vary field, then a request's.
  static func vary(_ lines: [String]) {
    guard let vary = lines.first else { return }
    let head = LoadHead(fields: ["Vary": vary, "ETag": lines.last ?? ""])
    let request = fields(lines.dropFirst())
    let varying = VaryRule.varying(of: head, to: request, secrets: nil)
    guard let names = VaryRule.names(of: head) else {
      expect(
        !VaryRule.matches(head, varying: varying, request: request, secrets: nil), "nobody knows on what it varies")
      return
    }
    expect(VaryRule.matches(head, varying: varying, request: request, secrets: nil), "its own request matches")
    var index = VariantIndex(generation: 7)
    let text = index.text(names, request: request, secrets: nil)
    index.note(names, "v", tag: head.fields["ETag"])
    expect(VariantIndex(index.facts) == index || names.isEmpty, "an index is read as it was written")
    expect(index.text(names, request: request, secrets: nil) == text, "a variant keeps its name")
    _ = VariantIndex(EntryFacts(head: LoadHead(status: 0, fields: request)))
  }

  /// Range, If-Range, ETag, the caller's conditions.
  static func range(_ lines: [String]) {
    var request = HeaderFields()
    let names = ["Range", "If-Range", "If-None-Match", "If-Modified-Since"]
    for (name, line) in zip(names, lines) { request.append(name, line) }
    let head = LoadHead(fields: ["ETag": lines.last ?? "", "Content-Range": lines.first ?? ""])
    for count in [0, 1, 10, Int.max] {
      guard case .part(let part) = RangeRule.decide(head, count: count, request: request) else { continue }
      expect(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= count, "a part lies in the whole")
      expect(RangeRule.head(of: head, part, count: count).status == 206, "a part is 206")
    }
    _ = ConditionRule.isNotModified(head, request: request, responseTime: times[3])
    for line in lines { _ = EntityTag.list(line) }
    _ = LengthRule.promise(of: ["Content-Length": lines.first ?? ""])
  }

  /// A head's fields, as they may stand in a cache that somebody else wrote, and those of a request.
  static func facts(_ lines: [String]) {
    let split = lines.firstIndex(of: "") ?? lines.endIndex
    let head = LoadHead(fields: fields(lines[..<split]))
    let request = fields(lines[split...].dropFirst())
    for response in times {
      for sent in [response, times[0]] {
        let facts = EntryFacts(head: head, requestTime: sent, responseTime: response)
        for now in times { judge(facts, request, now) }
      }
    }
  }

  private static func judge(_ facts: EntryFacts, _ request: HeaderFields, _ now: WallTime) {
    expect(FreshnessRule.lifetime(of: facts) >= .zero, "a lifetime is not negative")
    if let age = FreshnessRule.age(of: facts, at: now) { expect(age >= .zero, "an age is not negative") }
    let decision = ReuseRule.decide(facts, fields: [:], mode: .standard, freshness: .http, now: now)
    if let end = decision.freshUntil { expect(end >= now, "what is fresh is so for a time still") }
    for mode in [CacheMode.standard, .noCache, .forceCache] {
      for freshness in [Freshness.http, .ttl(.seconds(Int64.max))] {
        let plan = ExchangeRule.plan(
          [facts, facts.invalidated], method: "GET", request: request, mode: mode, freshness: freshness, now: now)
        if let place = plan.served { expect((0...1).contains(place), "what is served is there") }
        _ = StaleRule.mayBridge(facts, .status(503), mode: mode, freshness: freshness, now: now)
      }
    }
  }

  /// Whatever looks at a head, looks at this one.
  private static func use(_ head: LoadHead) {
    let stored = StoreRule.stored(head)
    expect(StoreRule.stored(stored) == stored, "what is stored can be stored again")
    let facts = EntryFacts(head: stored, requestTime: times[3], responseTime: times[3])
    let updated = UpdateRule.updated(facts, by: head, requestTime: times[4], responseTime: times[4])
    expect(updated.head.status == stored.status && updated.generation == facts.generation, "the body stays")
    _ = StoreRule.mayStore(head: head, requestFields: head.fields, freshness: .http, mode: .standard)
    _ = StoreRule.mayStoreFailure(
      head: head, requestFields: head.fields, freshness: .http, mode: .standard, now: times[4])
    _ = LengthRule.promise(of: head)
    _ = Inflater.codings(of: head)
    judge(facts, head.fields, times[4])
  }

  /// `Name: value` a line.
  private static func fields(_ lines: some Sequence<String>) -> HeaderFields {
    var fields = HeaderFields()
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { fields.append(String(parts[0]), String(parts[1])) }
    }
    return fields
  }
}
