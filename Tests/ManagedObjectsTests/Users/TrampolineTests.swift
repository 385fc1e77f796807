import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct TrampolineTests {
  @Test func `what is asked for inside a callback runs when that has returned, in order`() {
    let trampoline = Trampoline()
    let log = Collector<String>()
    trampoline.run {
      log.append("outer begins")
      trampoline.run {
        log.append("first begins")
        trampoline.run { log.append("of the first") }
        log.append("first ends")
      }
      trampoline.run { log.append("second") }
      log.append("outer ends")
    }
    #expect(log.elements == ["outer begins", "outer ends", "first begins", "first ends", "second", "of the first"])
  }

  @Test func `callbacks that answer each other for ever do not use up the stack`() {
    let trampoline = Trampoline()
    let count = Lock(0)
    @Sendable func again() {
      let isEnough = count.withLock {
        $0 += 1
        return $0 == 100_000
      }
      if !isEnough { trampoline.run(again) }
    }
    trampoline.run(again)
    #expect(count.withLock { $0 } == 100_000)
  }

  @Test func `work for now or not at all is refused inside other work, and what it asks for waits for its end`() {
    let trampoline = Trampoline()
    let log = Collector<String>()
    let hasRun = trampoline.runAtOnce {
      trampoline.run { log.append("waited") }
      let isNested = trampoline.runAtOnce { log.append("nested") }
      log.append("runs, nested \(isNested)")
    }
    #expect(hasRun && log.elements == ["runs, nested false", "waited"])
    trampoline.run { log.append("inside \(trampoline.runAtOnce {})") }
    #expect(log.elements.last == "inside false" && trampoline.runAtOnce {})
  }

  @Test func `threads do not wait for each other`() throws {
    let trampoline = Trampoline()
    let (held, done) = (Latch(), Latch())
    trampoline.run {
      let other = Thread { trampoline.run { held.countDown() } }
      other.start()
      if (try? held.wait()) != nil { done.countDown() }
    }
    #expect(done.isOpen)
  }
}
