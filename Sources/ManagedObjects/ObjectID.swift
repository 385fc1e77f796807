/// What is shared and cached under one name: an oid where there is one, else a normalised URL.
///
/// Kind and namespace are part of the identity, so an oid and a URL of equal text never meet.
public struct ObjectID: Hashable, Sendable, CustomStringConvertible {
  public enum Kind: UInt8, Sendable {
    case oid = 1
    case url = 2
  }

  /// The caller's division of its own names, for `remove(namespace:)`; "" by default.
  public let namespace: String
  public let kind: Kind
  public let name: String

  /// - Parameter name: any text but "" for an oid; for a URL the key that `URLRule` made of it.
  public init(_ name: String, kind: Kind = .oid, namespace: String = "") {
    self.name = name
    self.kind = kind
    self.namespace = namespace
  }
}

/// One decoded form of an id. Users of equal representation share one decode and one object.
public struct Representation: Hashable, Sendable {
  private let object: ObjectIdentifier
  private let maker: ObjectIdentifier?
  /// "" where the maker tells the form.
  public let variant: String
  /// Of the variant, 0 for "": made once, where each look-up would hash the text again.
  let variantHash: Int

  /// The default of a user: the same object type made by the same class of user.
  public init<Object: Sendable>(of object: Object.Type, madeBy maker: any Any.Type) {
    self.object = ObjectIdentifier(object)
    self.maker = ObjectIdentifier(maker)
    variant = ""
    variantHash = 0
  }

  /// The same object type under the same name, whoever asks.
  public init<Object: Sendable>(of object: Object.Type, variant: String) {
    self.object = ObjectIdentifier(object)
    maker = nil
    self.variant = variant
    variantHash = variant.isEmpty ? 0 : Int(truncatingIfNeeded: TableHash.of(variant))
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(object)
    hasher.combine(maker)
    hasher.combine(variantHash)
  }
}
