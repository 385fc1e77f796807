import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What one user's callback does to others: they are told where they asked to be told.
struct NestedCallbackTests {
  private let loader = HeldLoader()

  @Test func `an actor is told on itself, also by what another's callback does`() async throws {
    let manager = ObjectManager(loaders: [loader])
    for round in 0..<20 {
      let reader = Reader()
      manager.manage(reader, for: ObjectRequest("mem:\(round)"))
      let caller = Calling(delivery: round % 2 == 0 ? .pool : .direct) { manager.leave(reader) }
      manager.manage(caller, for: ObjectRequest("mem:other \(round)"))
      try await loader.waitForStarts(2 * round + 2)
      loader.answer(.number(2 * round + 1), "x")
      #expect(try await reader.endings.wait() == ["cancelled"])
    }
  }

  @Test func `a queue that runs work at once is where its user is told, also inside another's callback`() async throws {
    let manager = ObjectManager(loaders: [loader])
    let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "own")
    queue.setSpecific(key: key, value: true)
    let places = Collector<Bool>()
    let bound = Calling(delivery: .custom { work in queue.sync(execute: work) }) {
      places.append(DispatchQueue.getSpecific(key: key) == true)
    }
    manager.manage(bound, for: ObjectRequest("mem:a"))
    let caller = Calling { [loader] in loader.fail("mem:a", ObjectError(.refusedByPolicy, "no")) }
    manager.manage(caller, for: ObjectRequest("mem:b"))
    try await loader.waitForStarts(2)
    loader.answer("mem:b", "x")
    #expect(try await places.wait() == [true])
  }

  @Test(.timeLimit(.minutes(1))) func `twenty thousand hits asked for inside one callback are delivered in order`()
    async throws
  {
    let manager = ObjectManager(loaders: [loader])
    let count = 20_000
    let order = Collector<Int>()
    let users = (0..<count).map { number in Calling { order.append(number) } }
    let first = Calling { for user in users { manager.manage(user, for: ObjectRequest("mem:a")) } }
    manager.manage(first, for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "x", ["Cache-Control": "max-age=60"])
    #expect(try await order.wait(count, seconds: 50) == Array(0..<count))
  }
}

private actor Reader: ActorUser {
  let endings = Collector<String>()
  nonisolated func readyFromLoaded(_ loaded: Loaded) throws -> Int { loaded.count }
  func received(_ ending: Ending<Int>) { endings.append(ending.object == nil ? "cancelled" : "ready") }
}

private final class Calling: ManagedUser {
  let delivery: Delivery
  private let call: @Sendable () -> Void

  init(delivery: Delivery = .pool, _ call: @escaping @Sendable () -> Void) {
    self.delivery = delivery
    self.call = call
  }

  func readyFromLoaded(_ loaded: Loaded) throws -> Int { loaded.count }
  func ended(_ ending: Ending<Int>) { call() }
}
