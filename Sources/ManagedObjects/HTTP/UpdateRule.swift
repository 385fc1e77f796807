/// What a 304 changes in a stored response (RFC 9111 section 3.2).
package enum UpdateRule {
  /// Whether a 304 is about this stored response. A strong tag names its bytes: with another one the server means bytes
  /// that are not these (RFC 9111 section 4.3.4). Where either has none, it answers what was asked.
  package static func confirms(_ head: LoadHead, _ stored: EntryFacts) -> Bool {
    guard let new = strongTag(head), let old = strongTag(stored.head) else { return true }
    return new == old
  }

  private static func strongTag(_ head: LoadHead) -> EntityTag? {
    head.fields["ETag"].flatMap(EntityTag.init).flatMap { $0.isWeak ? nil : $0 }
  }

  /// The same bytes under the new fields. Fields that describe the stored bytes stay, since many a server sends others
  /// with a 304; so do status, generation, checksum and what the entry varies on.
  package static func updated(
    _ facts: EntryFacts, by head: LoadHead, requestTime: WallTime, responseTime: WallTime
  ) -> EntryFacts {
    var updated = facts
    updated.requestTime = requestTime
    updated.responseTime = responseTime
    let kept = describingFields.union(StoreRule.connectionFields(of: head.fields))
      .union(CacheControl(head.fields).withheldFields)
    let replacing = RedirectRule.unmarked(head.fields).filter { !kept.contains($0.name.lowercased()) }
    updated.head.fields = RedirectRule.unmarked(updated.head.fields)
    // The old answer's date and age say nothing about the new one, whether or not it brings its own.
    updated.head.fields.removeAll(named: Set(replacing.map { $0.name.lowercased() }).union(["date", "age"]))
    for field in replacing { updated.head.fields.append(field.name, field.value) }
    updated.head = RedirectRule.answer(updated.head, redirectedAs: head, now: responseTime)
    return updated
  }

  private static var describingFields: Set<String> {
    ["content-length", "content-encoding", "content-range", "content-type"]
  }
}
