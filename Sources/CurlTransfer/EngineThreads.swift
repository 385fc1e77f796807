internal import Dispatch
internal import Locking

/// The threads that are inside libcurl, kept out of the way when the process exits.
///
/// exit(3) runs the clean-up of OpenSSL, GnuTLS, p11-kit and others while all other threads go on. A thread that uses one
/// of them just then, or lets go of the values that they keep for each thread, brings a good program down at its very
/// end. So at exit every engine is brought to rest first, outside libcurl, without a word to its receivers; and a thread
/// that has ended is joined, by the next one that ends or at exit, since only then are its values gone.
final class EngineThreads: Sendable {
  private struct State {
    var inside: [UInt: EngineInbox] = [:]
    /// Has left, and is perhaps not quite gone.
    var lastEnded: UInt?
    var isExiting = false
  }

  private let state = Lock(State())
  /// Entered for each engine that is to come to rest.
  private let unrest = DispatchGroup()

  /// Called by a new thread before it uses libcurl. Where the process exits it does not return.
  func enter(_ inbox: EngineInbox) {
    let isExiting = state.withLock { state in
      if !state.isExiting { state.inside[EngineThread.current] = inbox }
      return state.isExiting
    }
    if isExiting { EngineThread.rest() }
  }

  /// Called by a thread that has done with libcurl, as its last act.
  func leave() {
    let (isExiting, ended) = state.withLock { state in
      guard !state.isExiting else { return (true, nil) as (Bool, UInt?) }
      state.inside[EngineThread.current] = nil
      defer { state.lastEnded = EngineThread.current }
      return (false, state.lastEnded)
    }
    if isExiting { rest() }
    if let ended { EngineThread.join(ended) }
  }

  /// Called by an engine that finds its inbox frozen.
  func rest() -> Never {
    unrest.leave()
    EngineThread.rest()
  }

  /// Brings all to rest. One that hangs in a receiver's code is waited for one second; the caller's own never.
  func freeze() {
    let (inside, ended) = state.withLock { state in
      defer { (state.isExiting, state.lastEnded) = (true, nil) }
      let others = state.inside.filter { $0.key != EngineThread.current }
      for _ in others { unrest.enter() }
      return (others, state.lastEnded)
    }
    for inbox in inside.values { inbox.freeze() }
    if let ended { EngineThread.join(ended) }
    _ = unrest.wait(timeout: .now() + .seconds(1))
  }
}
