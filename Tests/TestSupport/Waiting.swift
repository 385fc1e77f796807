/// Waits until a number of things have happened.
package final class Latch: Sendable {
  private let left: Watched<Int>
  private let count: Int

  package init(_ count: Int = 1) {
    self.count = count
    left = Watched(count)
  }

  /// One of them has happened; more than were waited for do no harm.
  package func countDown() { left.update { $0 -= 1 } }

  package var isOpen: Bool { left.value <= 0 }

  package func wait(seconds: Double = 10) async throws {
    try await left.wait(for: "all of \(count)", seconds: seconds) { $0 <= 0 }
  }

  package func wait(seconds: Double = 10) throws {
    try left.wait(for: "all of \(count)", seconds: seconds) { $0 <= 0 }
  }
}

/// Gathers values from any thread, in the order in which they come.
package final class Collector<Element: Sendable>: Sendable {
  private let all = Watched<[Element]>([])

  package init() {}

  package func append(_ element: Element) { all.update { $0.append(element) } }

  package var elements: [Element] { all.value }

  /// The elements as soon as there are so many, perhaps more by then.
  @discardableResult
  package func wait(_ count: Int = 1, seconds: Double = 10) async throws -> [Element] {
    try await all.wait(for: "\(count) elements", seconds: seconds) { $0.count >= count }
  }

  @discardableResult
  package func wait(_ count: Int = 1, seconds: Double = 10) throws -> [Element] {
    try all.wait(for: "\(count) elements", seconds: seconds) { $0.count >= count }
  }
}

/// Asks again and again, yielding in between, for what nobody announces: a weak reference that goes, a file that
/// appears. Everything else waits on a `Latch`, a `Collector` or a `Watched`.
package func until(
  _ what: String, seconds: Double = 10, _ isMet: @Sendable () throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(seconds)
  while try !isMet() {
    guard ContinuousClock.now < end else { throw TimedOut(what, seconds: seconds) }
    await Task.yield()
    try Task.checkCancellation()
  }
}
