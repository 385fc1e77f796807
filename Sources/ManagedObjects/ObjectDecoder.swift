/// A named way from bytes to an object, where no user class is wanted. Same object type and name: one decode, shared.
public struct ObjectDecoder<Object: Sendable>: Sendable {
  public var name: String { representation.variant }
  /// Called on the decode pool, once per load; what it throws reaches the user as `.undecodable`.
  public let decode: @Sendable (Loaded) throws -> Object
  /// What the object costs in the memory cache, in bytes; nil: the length of its body.
  public let cost: (@Sendable (Object) -> Int)?

  /// Only hands on what is there: runs on the transfer's thread.
  let isInline: Bool
  /// Its object is for one caller alone, and never kept.
  let isKept: Bool
  public let representation: Representation

  public init(
    _ name: String, cost: (@Sendable (Object) -> Int)? = nil, decode: @escaping @Sendable (Loaded) throws -> Object
  ) {
    self.init(name, cost: cost, isInline: false, isKept: true, decode: decode)
  }

  init(
    _ name: String, cost: (@Sendable (Object) -> Int)? = nil, isInline: Bool, isKept: Bool,
    decode: @escaping @Sendable (Loaded) throws -> Object
  ) {
    self.cost = cost
    self.isInline = isInline
    self.isKept = isKept
    self.decode = decode
    representation = Representation(of: Object.self, variant: name)
  }
}
