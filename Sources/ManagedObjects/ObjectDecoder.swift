/// A named way from bytes to an object, where no user class is wanted. Same object type and name: one decode, shared.
public struct ObjectDecoder<Object: Sendable>: Sendable {
  public let name: String
  /// Called on the decode pool, once per load; what it throws reaches the user as `.undecodable`.
  public let decode: @Sendable (Loaded) throws -> Object
  /// What the object costs in the memory cache, in bytes; nil: the length of its body.
  public let cost: (@Sendable (Object) -> Int)?

  public init(
    _ name: String, cost: (@Sendable (Object) -> Int)? = nil, decode: @escaping @Sendable (Loaded) throws -> Object
  ) {
    self.name = name
    self.cost = cost
    self.decode = decode
  }

  public var representation: Representation { Representation(of: Object.self, variant: name) }
}
