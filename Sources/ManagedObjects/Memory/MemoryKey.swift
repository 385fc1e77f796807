/// Which ready object is meant: whose answer, for which id, in which form.
///
/// Its hash is computed once: a look-up and the insertion after it share it, and so do all steps inside the cache.
package struct MemoryKey: Hashable, Sendable {
  let id: ObjectID
  /// Whose answer this is; "" for everybody's.
  let scope: String
  let representation: Representation
  /// Seeded anew in each process, so nobody outside can choose keys that collide.
  let hash: Int

  package init(id: ObjectID, scope: String = "", representation: Representation) {
    self.id = id
    self.scope = scope
    self.representation = representation
    var hasher = Hasher()
    hasher.combine(id.name)
    // Most keys have none of these, and leaving out what is empty is no harm: equal keys agree on it. The rest of the
    // key tells few keys of one id apart; comparing them costs less than hashing it each time.
    if !id.namespace.isEmpty { hasher.combine(id.namespace) }
    if !scope.isEmpty { hasher.combine(scope) }
    if !representation.variant.isEmpty { hasher.combine(representation.variant) }
    hash = hasher.finalize()
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.hash == right.hash && left.id == right.id && left.scope == right.scope
      && left.representation == right.representation
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
