/// How one request of one user ended. Exactly one per (user, request).
public struct Ending<Object: Sendable>: Sendable {
  public enum Outcome: Sendable {
    case ready(Object, ObjectSource)
    case failed(ObjectError)
    case cancelled(CancelReason)
  }

  /// Which request this was: a user that is used again may get the end of an earlier one.
  public let request: ObjectRequest
  public let outcome: Outcome

  public init(request: ObjectRequest, outcome: Outcome) {
    self.request = request
    self.outcome = outcome
  }

  public var object: Object? { if case .ready(let object, _) = outcome { object } else { nil } }

  public func get() throws(ObjectError) -> Object {
    switch outcome {
    case .ready(let object, _): return object
    case .failed(let error): throw error
    case .cancelled(let reason): throw ObjectError(reason)
    }
  }
}

/// A newer object for a request that has ended with a stale one. See `ManagedUser.updated`.
public struct ObjectUpdate<Object: Sendable>: Sendable {
  /// Which request it was: a user may have several behind it.
  public let request: ObjectRequest
  public let object: Object
  public let source: ObjectSource

  public init(request: ObjectRequest, object: Object, source: ObjectSource) {
    self.request = request
    self.object = object
    self.source = source
  }
}
