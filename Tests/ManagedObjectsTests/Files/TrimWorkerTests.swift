import Testing

@testable import ManagedObjects

struct TrimWorkerTests {
  @Test func `a trim that the timer interrupts goes on`() {
    let worker = TrimWorker()
    let slices = Lock(0)
    worker.wake(.slice) {
      let count = slices.withLock { count in
        count += 1
        return count
      }
      // The timer's step waits when the slice has more to do.
      if count == 1 { worker.wake(.step) { false } }
      return count < 3
    }
    #expect(worker.wait(atMost: .seconds(20)))
    #expect(slices.withLock { $0 } == 3)
  }

  @Test func `of many requests while one waits only one runs`() {
    let worker = TrimWorker()
    let runs = Lock(0)
    worker.wake(.step) {
      for _ in 0..<5 {
        worker.wake(.slice) {
          runs.withLock { $0 += 1 }
          return false
        }
      }
      return false
    }
    #expect(worker.wait(atMost: .seconds(20)))
    #expect(runs.withLock { $0 } == 1)
  }
}
