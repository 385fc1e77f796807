public import FoundationEssentials

/// Takes what a loader brings: any number of interim heads, one final head, wire bytes, one end.
///
/// Anything else, and any call from two threads at once, ends the load as a failure. It checks the promised length,
/// undoes gzip and deflate where the manager asked for them, and keeps the body in memory or in an unfinished entry.
/// Lets go of the manager's side at its end, so a loader that keeps old sinks leaks nothing.
public final class LoadSink: Sendable {
  /// False once nobody wants the load; what is given afterwards is dropped.
  public var isWanted: Bool { false }

  /// True: as much is waiting to be written as may; hold back until `whenNotFull` calls.
  public var isFull: Bool { false }

  /// Calls once, on any thread, as soon as more bytes are welcome; at once if they are now.
  public func whenNotFull(_ call: @escaping @Sendable () -> Void) {}

  /// A 1xx response, before the final one.
  public func interim(_ head: LoadHead) {}

  /// The final response's head.
  public func head(_ head: LoadHead) {}

  /// Bytes as they came over the wire.
  public func append(_ data: Data) {}
  public func append(_ bytes: RawSpan) {}

  /// The body is complete, as far as the loader can tell.
  public func finish() {}
  public func fail(_ error: ObjectError) {}
}
