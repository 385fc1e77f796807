internal import Dispatch

/// Where a user's callbacks run. A memory hit runs on the caller's thread, unless the callbacks belong to an actor that
/// the caller is not on.
public struct Delivery: Sendable {
  /// The actor the callbacks are isolated to, if any.
  let actor: (any Actor)?
  /// `run` keeps the thread, and promises nothing about it.
  var isDirect = false
  let run: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// The library's callback pool (default).
  public static let pool = Delivery(actor: nil) { work in callbackQueue.async(execute: work) }

  /// On whichever thread ends the request. For a few instructions only; saves the hop.
  public static let direct = Delivery(actor: nil, isDirect: true) { work in work() }

  /// On the main actor.
  public static let mainActor = Delivery(actor: MainActor.shared) { work in
    Task.immediate { @MainActor in work() }
  }

  /// Isolated to this actor.
  public static func on<A: Actor>(_ actor: A) -> Delivery {
    Delivery(actor: actor) { work in Task.immediate { await actor.runManaged(work) } }
  }

  /// Any queue, event loop or executor: `.custom { work in queue.async(execute: work) }`. It must run every piece of
  /// work it is given, in order.
  public static func custom(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) -> Delivery {
    Delivery(actor: nil, run: run)
  }

  /// Whether callbacks may run on the thread of a caller with this isolation.
  func allows(_ caller: (any Actor)?) -> Bool { actor == nil || actor === caller }
}

/// Concurrent, so that a slow callback delays its own user only, while fewer are slow than there are cores: it shares the
/// process's threads with tasks and other such queues. Whoever blocks for long chooses a queue of their own: `.custom`.
private let callbackQueue = DispatchQueue(label: "ManagedObjects.callbacks", attributes: .concurrent)

extension Actor {
  fileprivate func runManaged(_ work: @Sendable () -> Void) { work() }
}
