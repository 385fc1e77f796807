import TestSupport
import Testing

@testable import ManagedObjects

struct SingleFlightTests {
  private let flights = SingleFlight<String, Int>()
  private let begun = Watched(0)
  private let held = Watched(true)

  private func work() async -> Int {
    let number = begun.update { count in
      count += 1
      return count
    }
    _ = try? await held.wait(for: "the test") { !$0 }
    return Task.isCancelled ? -1 : number
  }

  private func call(_ key: String = "a") -> Task<Int, Never> {
    Task { [self] in await flights.value(for: key, cancelled: -2) { [self] in await work() } }
  }

  @Test func `calls that overlap share one piece of work, later ones begin anew`() async throws {
    let calls = (0..<10).map { _ in call() }
    try await begun.wait(for: "the work") { $0 == 1 }
    let other = call("b")
    try await begun.wait(for: "the other") { $0 == 2 }
    held.update { $0 = false }
    for call in calls { #expect(await call.value == 1) }
    #expect(await other.value == 2)
    #expect(await call().value == 3)
  }

  @Test func `who is cancelled goes at once, and the others get their value`() async throws {
    let (leaving, staying) = (call(), call())
    try await begun.wait(for: "the work") { $0 == 1 }
    leaving.cancel()
    #expect(await leaving.value == -2)
    held.update { $0 = false }
    #expect(await staying.value == 1)
  }

  @Test func `with the last caller the work is cancelled, and the next begins anew`() async throws {
    let only = call()
    try await begun.wait(for: "the work") { $0 == 1 }
    only.cancel()
    #expect(await only.value == -2)
    held.update { $0 = false }
    #expect(await call().value == 2)
  }

  @Test func `a call of a task that is cancelled already ends at once`() async throws {
    let call = Task { [self] in
      withUnsafeCurrentTask { $0?.cancel() }
      return await flights.value(for: "a", cancelled: -2) { [self] in await work() }
    }
    #expect(await call.value == -2)
  }
}
