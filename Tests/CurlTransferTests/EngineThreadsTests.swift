import Locking
import TestSupport
import Testing

@testable import CurlTransfer

/// What the end of a process does to threads that use libcurl. Each test has threads of its own, not the process's.
struct EngineThreadsTests {
  private let threads = EngineThreads()
  private let log = Watched<[String]>([])

  /// A thread that goes in, takes from its inbox until it is told what to do, and leaves.
  private func startThread(_ inbox: EngineInbox, pass: @escaping @Sendable () -> Void = {}) {
    let started = EngineThread.start { [threads, log] in
      threads.enter(inbox)
      log.update { $0.append("in") }
      var commands: [EngineInbox.Command] = []
      while true {
        pass()
        switch inbox.take(into: &commands) {
        case .goOn: continue
        case .rest: threads.rest()
        case .close:
          log.update { $0.append("out") }
          return threads.leave()
        }
      }
    }
    #expect(started)
  }

  @Test func `a process that exits finds every engine at rest, and none of them closed`() async throws {
    let inboxes = [EngineInbox(), EngineInbox(), EngineInbox()]
    for inbox in inboxes { startThread(inbox) }
    _ = try await log.wait(for: "three threads") { $0.count == 3 }
    threads.freeze()
    // A thread at rest takes nothing any more, not even that it is to close.
    for inbox in inboxes { inbox.close() }
    #expect(log.value == ["in", "in", "in"])
  }

  @Test func `a thread that ends is joined by the next one that ends, and by the exit`() async throws {
    for count in 1...3 {
      let inbox = EngineInbox()
      inbox.close()
      startThread(inbox)
      _ = try await log.wait(for: "its end") { $0.count == 2 * count }
    }
    threads.freeze()
    #expect(log.value.filter { $0 == "out" }.count == 3)
  }

  @Test func `a receiver that hangs delays the exit by a second, not for ever`() async throws {
    let held = Watched(true)
    startThread(EngineInbox()) { [log] in
      log.update { $0.append("hangs") }
      while held.value {}
    }
    _ = try await log.wait(for: "the thread") { $0.contains("hangs") }
    let time = ContinuousClock().measure { threads.freeze() }
    #expect(time >= .seconds(1) && time < .seconds(5))
    held.update { $0 = false }
  }

  @Test func `a receiver that exits does not wait for itself`() async throws {
    let done = Watched(false)
    startThread(EngineInbox()) { [threads] in
      threads.freeze()
      done.update { $0 = true }
      EngineThread.rest()
    }
    _ = try await done.wait(for: "the exit") { $0 }
  }
}
