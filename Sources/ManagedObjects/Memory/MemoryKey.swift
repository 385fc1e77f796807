/// Which ready object is meant: whose answer, for which id, in which form.
///
/// Its hash is computed once: a look-up and the insertion after it share it, and so do all steps inside the cache.
package struct MemoryKey: Hashable, Sendable {
  let id: ObjectID
  /// Whose answer this is; "" for everybody's.
  let scope: String
  let representation: Representation
  let hash: Int

  package init(id: ObjectID, scope: String = "", representation: Representation) {
    hash = Self.hash(id, scope, representation)
    self.id = id
    self.scope = scope
    self.representation = representation
  }

  private static func hash(_ id: ObjectID, _ scope: String, _ representation: Representation) -> Int {
    var hash = TableHash.of(id.name)
    // Most keys have neither, and leaving out what is empty is no harm: equal keys agree on it.
    if !id.namespace.isEmpty { hash = TableHash.of(id.namespace, behind: hash) }
    if !scope.isEmpty { hash = TableHash.of(scope, behind: hash) }
    return Int(truncatingIfNeeded: hash) ^ representation.variantHash
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.hash == right.hash && left.id == right.id && left.scope == right.scope
      && left.representation == right.representation
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
