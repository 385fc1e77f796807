import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct CallbackQueueTests {
  private let queue = CallbackQueue(Trampoline())
  private let log = Collector<Int>()
  private let jobs = Collector<@Sendable () -> Void>()

  private var later: Delivery { .custom { [jobs] in jobs.append($0) } }

  private func post(_ number: Int, _ delivery: Delivery, here: Bool = false) {
    queue.post(delivery, here: here) { [log] in log.append(number) }
  }

  @Test func `here means before post returns, whatever the delivery`() {
    post(1, later, here: true)
    #expect(log.elements == [1] && jobs.elements.isEmpty)
  }

  @Test func `elsewhere means where the delivery says, in order and in one go`() {
    post(1, later)
    post(2, later)
    #expect(log.elements.isEmpty && jobs.elements.count == 1)
    jobs.elements[0]()
    #expect(log.elements == [1, 2])
    post(3, later)
    #expect(jobs.elements.count == 2)
  }

  @Test func `what waits for its thread is run by a callback that may run here, before it`() {
    post(1, later)
    post(2, later, here: true)
    #expect(log.elements == [1, 2])
    jobs.elements[0]()
    #expect(log.elements == [1, 2])
    post(3, later)
    jobs.elements[1]()
    #expect(log.elements == [1, 2, 3])
  }

  @Test func `a callback posted by a callback runs after it, not inside`() {
    queue.post(.direct, here: true) { [queue, log] in
      queue.post(.direct, here: true) { log.append(2) }
      log.append(1)
    }
    #expect(log.elements == [1, 2])
  }

  @Test func `while a callback runs elsewhere, here does not wait for it and does not overlap it`() throws {
    let (began, goOn) = (Latch(), Latch())
    let thread = Thread { [queue, log] in
      queue.post(.direct, here: true) {
        began.countDown()
        try? goOn.wait()
        log.append(1)
      }
    }
    thread.start()
    try began.wait()
    post(2, .direct, here: true)
    #expect(log.elements.isEmpty)
    goOn.countDown()
    #expect(try log.wait(2) == [1, 2])
  }

  @Test func `what is posted to a queue that was made while a callback runs waits for its end`() {
    let queue = CallbackQueue(Trampoline(), isRunning: true)
    queue.post(.direct, here: true) { [log] in log.append(1) }
    queue.post(later, here: false) { [log] in log.append(2) }
    #expect(log.elements.isEmpty && jobs.elements.isEmpty)
    queue.runWaiting()
    #expect(log.elements == [1, 2])
  }

  @Test func `callbacks from eight threads never overlap, and none is lost`() throws {
    let running = Lock((now: 0, most: 0))
    let done = Latch(8)
    for thread in 0..<8 {
      Thread { [queue, log] in
        for round in 0..<500 {
          let delivery: Delivery = round % 2 == 0 ? .pool : .direct
          queue.post(delivery, here: round % 3 == 0) {
            running.withLock {
              $0.now += 1
              $0.most = max($0.most, $0.now)
            }
            log.append(thread * 500 + round)
            running.withLock { $0.now -= 1 }
          }
        }
        done.countDown()
      }.start()
    }
    try done.wait()
    let seen = try log.wait(4000)
    #expect(Set(seen).count == 4000 && seen.count == 4000)
    #expect(running.withLock { $0.most } == 1)
    for thread in 0..<8 {
      let own = seen.filter { $0 / 500 == thread }
      #expect(own == own.sorted(), "the order of thread \(thread) was changed")
    }
  }
}
