import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// A backend of somebody else's, whose `append` may take its time, under the whole manager.
struct SlowBackendTests {
  private let loader = HeldLoader()
  private let time = ManualClock()

  private func manager(_ backend: SlowBackend) -> ObjectManager {
    var policy = Policy()
    policy.limitBodyInMemoryBytes = 1000
    return ObjectManager(loaders: [loader], cache: backend, policy: policy, time: time)
  }

  @Test func `a fast loader is held back, and no byte is lost`() async throws {
    let backend = SlowBackend()
    let manager = manager(backend)
    let user = RecordingUser.data()
    manager.manage(user, for: ObjectRequest("mem:large"))
    try await loader.waitForStarts(1)
    let body = Pattern().bytes(100_000)
    let sink = try #require(loader.sink(0))
    sink.head(head(body.count, ["Cache-Control": "max-age=60"]))
    var heldBack = 0
    for start in stride(from: 0, to: body.count, by: 700) {
      sink.append(Data(body[start..<min(start + 700, body.count)]))
      guard sink.isFull else { continue }
      heldBack += 1
      // As a loader with manners does. The backend writes only while it is let.
      backend.allow(4)
      let room = Latch()
      sink.whenNotFull { room.countDown() }
      try await room.wait()
    }
    sink.finish()
    backend.allow(1000)
    #expect(try await user.object() == Data(body))
    #expect(heldBack > 0)
    #expect(backend.mostAtOnce == 1)
    let again = RecordingUser.data(variant: "again")
    manager.manage(again, for: ObjectRequest("mem:large"))
    #expect(try await again.object() == Data(body))
    #expect(loader.starts == 1)
  }

  @Test func `a loader without manners loses nothing either`() async throws {
    let backend = SlowBackend()
    let manager = manager(backend)
    let user = RecordingUser.data()
    manager.manage(user, for: ObjectRequest("mem:large"))
    try await loader.waitForStarts(1)
    let body = Pattern().bytes(50_000)
    loader.head(0, head(body.count))
    for start in stride(from: 0, to: body.count, by: 1000) { loader.append(0, Array(body[start..<(start + 1000)])) }
    loader.finish(0)
    #expect(user.endings.isEmpty)
    backend.allow(1000)
    #expect(try await user.object() == Data(body))
  }

  @Test func `a backend that fails in the middle costs one event and no byte`() async throws {
    let backend = SlowBackend(failingAppend: 5)
    backend.allow(1000)
    let manager = manager(backend)
    let events = manager.events()
    let user = RecordingUser.data()
    manager.manage(user, for: ObjectRequest("mem:large"))
    try await loader.waitForStarts(1)
    let body = Pattern().bytes(20_000)
    loader.head(0, head(body.count))
    for start in stride(from: 0, to: body.count, by: 1000) { loader.append(0, Array(body[start..<(start + 1000)])) }
    loader.finish(0)
    #expect(try await user.object() == Data(body))
    manager.shutdown()
    var faults = 0
    for await event in events { if case .cacheFailed = event { faults += 1 } }
    #expect(faults == 1)
  }

  @Test func `a user that leaves while the backend writes leaves no entry behind`() async throws {
    let backend = SlowBackend()
    let manager = manager(backend)
    let user = RecordingUser.data()
    manager.manage(user, for: ObjectRequest("mem:large"))
    try await loader.waitForStarts(1)
    loader.head(0, LoadHead())
    for _ in 0..<4 { loader.append(0, Pattern().bytes(1000)) }
    try await until("it writes") { backend.appends == 1 }
    #expect(manager.leave(user))
    backend.allow(1000)
    try await until("the entry is given up") { backend.aborts == 1 }
    #expect(backend.commits == 0)
  }
}

/// Entries in memory, written only as far as the test allows; fails where it says.
private final class SlowBackend: CacheBackend {
  struct State: Sendable {
    var allowed = 0
    var appends = 0
    var writing = 0
    var mostAtOnce = 0
    var aborts = 0
    var commits = 0
  }

  private let inner = MemoryBackend()
  private let failingAppend: Int?
  private let state = Watched(State())

  init(failingAppend: Int? = nil) { self.failingAppend = failingAppend }

  var mostAtOnce: Int { state.value.mostAtOnce }
  var appends: Int { state.value.appends }
  var aborts: Int { state.value.aborts }
  var commits: Int { state.value.commits }

  func allow(_ appends: Int) { state.update { $0.allowed += appends } }

  func lookUp(_ key: EntryKey) -> (any EntryLease)? { inner.lookUp(key) }
  func remove(_ key: EntryKey) { inner.remove(key) }
  func clear() { inner.clear() }
  func statistics() -> BackendStatistics { inner.statistics() }
  func begin(_ key: EntryKey, expectedBytes: Int?) -> EntryWriter {
    EntryWriter(Writer(self, inner.begin(key, expectedBytes: expectedBytes)))
  }

  private final class Writer: EntryWriting {
    private let backend: SlowBackend
    private let inner: Lock<EntryWriter?>

    init(_ backend: SlowBackend, _ inner: consuming sending EntryWriter) {
      self.backend = backend
      self.inner = Lock(inner)
    }

    func append(_ bytes: RawSpan) throws {
      let number = backend.state.update { state in
        state.appends += 1
        state.writing += 1
        state.mostAtOnce = max(state.mostAtOnce, state.writing)
        return state.appends
      }
      defer { backend.state.update { $0.writing -= 1 } }
      // On a thread of the manager's file pool, which is there to be blocked.
      try backend.state.wait(for: "leave to write") { $0.allowed >= number }
      if number == backend.failingAppend { throw FakeEntry.Full() }
      let more = [UInt8](bytes)
      try inner.withLock { try $0?.append(Data(more).bytes) }
    }

    func commit(_ facts: EntryFacts) throws -> any EntryLease {
      backend.state.update { $0.commits += 1 }
      guard let lease = try inner.withLock({ try $0?.commit(facts) }) else { throw FakeEntry.Full() }
      return lease
    }

    func abort() { backend.state.update { $0.aborts += 1 } }

    func salvage() throws -> Data { try inner.withLock { try $0?.salvage() } ?? Data() }
  }
}
