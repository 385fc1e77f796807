/// The full name of an entry, and its digest, under which backends file it.
public struct EntryKey: Hashable, Sendable {
  public enum Kind: UInt8, Sendable {
    case good = 1
    case error = 2
    case partial = 3
  }

  public let id: ObjectID
  /// Whose answer this is; "" for everybody's.
  public let scope: String
  public let kind: Kind
  /// Which of several answers to requests that differ in the fields that Vary names; "" for the only one.
  public let variant: String
  /// SHA-256 over the parts, each preceded by its length; computed once. Cannot be chosen by a server.
  public let digest: SHA256Digest

  public init(_ id: ObjectID, scope: String = "", kind: Kind = .good, variant: String = "") {
    self.id = id
    self.scope = scope
    self.kind = kind
    self.variant = variant
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      18 + id.namespace.utf8.count + id.name.utf8.count + scope.utf8.count + variant.utf8.count)
    bytes.append(kind.rawValue)
    bytes.append(id.kind.rawValue)
    func add(_ part: String) {
      bytes.append(count: part.utf8.count)
      bytes.append(contentsOf: part.utf8)
    }
    add(id.namespace)
    add(id.name)
    add(scope)
    add(variant)
    digest = SHA256Digest(of: bytes)
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.digest == right.digest && left.id == right.id && left.scope == right.scope && left.kind == right.kind
      && left.variant == right.variant
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
