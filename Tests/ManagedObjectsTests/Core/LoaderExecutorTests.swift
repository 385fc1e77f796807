import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct LoaderExecutorTests {
  private func thread() -> UInt { UInt(pthread_self()) }

  @Test func `a task that prefers it goes on where its loads end, and never on two threads`() async throws {
    let server = try LoopbackServer()
    server.on("/a", Reply("hello"))
    let manager = ObjectManager()
    let here = thread()
    let threads = await withTaskExecutorPreference(manager.loaderExecutor) {
      var threads: Set<UInt> = [thread()]
      for index in 0..<20 {
        let data = try? await manager.data(for: ObjectRequest(server.url("/a?\(index)")))
        #expect(data == Data("hello".utf8))
        threads.insert(thread())
      }
      return threads
    }
    #expect(threads.count == 1 && !threads.contains(here))
  }

  @Test func `without a thread that loads, and after a shutdown, tasks run all the same`() async {
    let manager = ObjectManager(loaders: [HeldLoader()])
    let closed = ObjectManager()
    closed.shutdown()
    for executor in [manager.loaderExecutor, closed.loaderExecutor] {
      let sum = await withTaskExecutorPreference(executor) {
        await withTaskGroup(of: Int.self) { group in
          for number in 1...10 { group.addTask { number } }
          return await group.reduce(0, +)
        }
      }
      #expect(sum == 55)
    }
  }
}
