import Foundation
import Testing

@testable import ManagedObjects

struct DecodeWatchTests {
  private let start = Moment.now

  private func job(_ name: String) -> DecodeJob {
    let id = ObjectID(name)
    return DecodeJob(
      handler: HandlerID(number: 1),
      key: HandlerKey(id: id, scope: "", fields: [:], mode: .standard, freshness: .http, limitBytes: nil),
      representation: Representation(of: Int.self, variant: "x"),
      body: LoadedBody(
        loaded: Loaded(id: id, bytes: Data()), facts: EntryFacts(head: LoadHead()), mayKeep: true, hasBytes: true),
      seats: Few())
  }

  @Test func `a decode that ends in time is forgotten`() {
    var watch = DecodeWatch()
    #expect(watch.isEmpty)
    let number = watch.enter(job("a"))
    #expect(!watch.isEmpty)
    #expect(watch.begin(number, at: start)?.key.id.name == "a")
    let isInTime = watch.end(number)
    #expect(isInTime && watch.isEmpty)
    #expect(watch.giveUp(startedBefore: start + .seconds(99)).isEmpty)
  }

  @Test func `those that began at the limit or before are given up, oldest first, and told so at their end`() {
    var watch = DecodeWatch()
    let numbers = ["a", "b", "c"].map { watch.enter(job($0)) }
    for (index, number) in numbers.enumerated() { _ = watch.begin(number, at: start + .seconds(index)) }
    #expect(watch.giveUp(startedBefore: start + .seconds(1)).map(\.key.id.name) == ["a", "b"])
    #expect(watch.giveUp(startedBefore: start + .seconds(1)).isEmpty)
    let ends = numbers.map { watch.end($0) }
    #expect(ends == [false, false, true])
  }

  @Test func `what waits for a thread does not grow old, but can be given up`() {
    var watch = DecodeWatch()
    let (first, second) = (watch.enter(job("a")), watch.enter(job("b")))
    #expect(watch.giveUp(startedBefore: start + .seconds(99)).isEmpty)
    #expect(watch.giveUpWaiting().map(\.key.id.name) == ["a", "b"])
    #expect(watch.isEmpty && watch.begin(first, at: start) == nil && watch.begin(second, at: start) == nil)
  }
}
