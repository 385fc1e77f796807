import TestSupport
import Testing

@testable import ManagedObjects

struct EventHubTests {
  private let hub = EventHub()

  private func names(_ stream: AsyncStream<ObjectEvent>) async -> [String] {
    var names: [String] = []
    for await event in stream { if case .decoded(let id) = event { names.append(id.name) } }
    return names
  }

  @Test func `every listener hears all that happens while it listens, until the end`() async {
    hub.send(.decoded(ObjectID("early")))
    let one = hub.stream(bufferingNewest: 9)
    hub.send(.decoded(ObjectID("a")))
    let two = hub.stream(bufferingNewest: 9)
    hub.send(.decoded(ObjectID("b")))
    hub.finish()
    hub.send(.decoded(ObjectID("late")))
    #expect(await names(one) == ["a", "b"])
    #expect(await names(two) == ["b"])
  }

  @Test func `a slow listener loses the oldest, and keeps at least one`() async {
    let (three, none) = (hub.stream(bufferingNewest: 3), hub.stream(bufferingNewest: -5))
    for name in ["a", "b", "c", "d"] { hub.send(.decoded(ObjectID(name))) }
    hub.finish()
    #expect(await names(three) == ["b", "c", "d"])
    #expect(await names(none) == ["d"])
  }

  @Test func `who listens after the end is not kept waiting`() async {
    hub.finish()
    #expect(await names(hub.stream(bufferingNewest: 9)) == [])
  }

  @Test func `a manager that was shut down keeps nobody waiting for events`() async {
    let manager = ObjectManager(loaders: [HeldLoader()], time: ManualClock())
    manager.shutdown()
    #expect(await names(manager.events()) == [])
  }
}
