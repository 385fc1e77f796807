import TestSupport
import Testing

@testable import ManagedObjects

struct WorkerPoolTests {
  @Test func `never more threads work than allowed, and all work is done`() async {
    let pool = WorkerPool("test", limit: 3)
    let figures = Lock((running: 0, most: 0, done: 0))
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      for _ in 0..<500 {
        pool.run {
          figures.withLock {
            $0.running += 1
            $0.most = max($0.most, $0.running)
          }
          let isLast = figures.withLock {
            $0.running -= 1
            $0.done += 1
            return $0.done == 500
          }
          if isLast { continuation.resume() }
        }
      }
    }
    #expect(figures.withLock { $0.most } <= 3)
    #expect(figures.withLock { $0.done } == 500)
  }

  @Test func `a thread that was written off is replaced, up to the bound`() async {
    let pool = WorkerPool("test", limit: 1, limitWrittenOff: 1)
    let held = Latch()
    await withCheckedContinuation { (started: CheckedContinuation<Void, Never>) in
      pool.run {
        started.resume()
        try? held.wait()
      }
    }
    pool.writeOffThread()
    #expect(!pool.isExhausted)
    await withCheckedContinuation { (ran: CheckedContinuation<Void, Never>) in pool.run { ran.resume() } }
    pool.writeOffThread()
    #expect(pool.isExhausted)
    pool.regainThread()
    #expect(!pool.isExhausted)
    held.countDown()
  }

  @Test func `idle is told at once when nothing runs, and after the last work otherwise`() async {
    let pool = WorkerPool("test", limit: 2)
    await withCheckedContinuation { (idle: CheckedContinuation<Void, Never>) in pool.whenIdle { idle.resume() } }
    let done = Lock(0)
    for _ in 0..<50 { pool.run { done.withLock { $0 += 1 } } }
    await withCheckedContinuation { (idle: CheckedContinuation<Void, Never>) in pool.whenIdle { idle.resume() } }
    #expect(done.withLock { $0 } == 50)
  }

  @Test func `what work holds is let go outside the pool's lock, and as soon as the work is done`() async throws {
    let pool = WorkerPool("test", limit: 1)
    let (gone, held) = (Latch(2), Latch())
    for _ in 0..<2 {
      let asking = AskingAtItsEnd {
        _ = pool.isExhausted
        gone.countDown()
      }
      pool.run { withExtendedLifetime(asking) {} }
    }
    pool.run { try? held.wait() }
    try await gone.wait()
    held.countDown()
  }
}

private final class AskingAtItsEnd: Sendable {
  private let ask: @Sendable () -> Void
  init(_ ask: @escaping @Sendable () -> Void) { self.ask = ask }
  deinit { ask() }
}
