/// The list of what the answers under one id vary on: it stands in their place under the empty variant, as an entry of
/// status 0 without a body, whose head is literally
///
///     Vary: accept-language
///     Vary: accept, accept-language
///     ETag: 9c1185a5c5e9fc54…  "v1"
///
/// newest first: the sets of field names, and which variant has which entity tag, so that a request that no variant
/// answers can ask whether one of them would do (RFC 9111 section 4.1). Each answer is an entry of its own, named by the
/// request's values of one of the sets and by the index's generation: with the index, all of them are out of reach, and
/// an index made anew does not find old ones.
package struct VariantIndex: Hashable, Sendable {
  package struct Tagged: Hashable, Sendable {
    package let variant: String
    package let tag: String
  }

  /// More sets than any server means, and more variants than it is worth to ask about at once.
  package static var limitSets: Int { 16 }
  package static var limitTags: Int { 16 }
  /// Names in lower case, sorted.
  package private(set) var sets: [[String]] = []
  package private(set) var tags: [Tagged] = []
  package let generation: UInt64

  package init(generation: UInt64) { self.generation = generation }

  /// nil: an answer, no index.
  package init?(_ facts: EntryFacts) {
    guard facts.head.status == 0 else { return nil }
    generation = facts.generation
    sets = facts.head.fields.values(of: "Vary").compactMap { line in
      VaryRule.names(of: LoadHead(fields: ["Vary": line]))
    }
    tags = facts.head.fields.values(of: "ETag").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 1)
      return parts.count == 2 ? Tagged(variant: String(parts[0]), tag: String(parts[1])) : nil
    }
  }

  package var facts: EntryFacts {
    var fields = HeaderFields()
    for names in sets { fields.append("Vary", names.joined(separator: ", ")) }
    for tagged in tags { fields.append("ETag", "\(tagged.variant) \(tagged.tag)") }
    return EntryFacts(head: LoadHead(status: 0, fields: fields), generation: generation)
  }

  /// The answer that is stored as this variant: its set becomes the newest, and so does its tag.
  package mutating func note(_ names: [String], _ variant: String, tag: String?) {
    sets.removeAll { $0 == names }
    sets.insert(names, at: 0)
    sets = Array(sets.prefix(Self.limitSets))
    tags.removeAll { $0.variant == variant }
    if let tag, EntityTag(tag) != nil { tags.insert(Tagged(variant: variant, tag: tag), at: 0) }
    tags = Array(tags.prefix(Self.limitTags))
  }

  /// What the name of the answer to such a request under one of the sets is a digest of.
  package func text(_ names: [String], request: HeaderFields, secrets: VaryRule.Secrets?) -> String {
    "\(generation)\n" + VaryRule.variant(names, request: request, secrets: secrets)
  }
}
