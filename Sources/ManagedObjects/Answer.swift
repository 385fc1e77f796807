/// What an async call gives beside the object.
public struct Answer<Object: Sendable>: Sendable {
  public let object: Object
  public let source: ObjectSource
  /// Why it came from there.
  public let reason: AnswerReason
  public let head: LoadHead
  /// Length of the body in bytes, decoded.
  public let bytes: Int
  /// Of the load that brought it, or that revalidated it; nil: it came from a cache alone, or by another loader than
  /// `CurlLoader`.
  public let timings: LoadTimings?

  init(_ object: Object, _ delivered: Delivered) {
    self.object = object
    source = delivered.source
    reason = delivered.reason
    head = delivered.head
    bytes = delivered.count
    timings = delivered.timings
  }
}
