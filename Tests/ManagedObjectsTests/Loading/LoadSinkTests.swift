import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What reaches the manager's side of a sink, and how often.
struct LoadSinkTests {
  @Test func `a whole answer is heard as head, progress and one end`() {
    let room = SinkRoom()
    room.sink.interim(LoadHead(status: 103))
    #expect(room.heads.elements.isEmpty)
    room.bring(head(5), Array("he".utf8), Array("llo".utf8))
    #expect(room.heads.elements.map(\.status) == [200])
    #expect(room.progress.elements.map(\.receivedBytes) == [2, 5])
    #expect(room.progress.elements.last?.fraction == 1)
    #expect(room.text == "hello")
  }

  @Test func `nothing is heard after the end, whatever the loader still calls`() {
    let room = SinkRoom()
    room.bring(head(1), [1])
    #expect(!room.sink.isWanted)
    room.sink.append(Data([2]))
    room.sink.head(LoadHead())
    room.sink.interim(LoadHead(status: 100))
    room.sink.finish()
    room.sink.fail(ObjectError(.transport, "late"))
    #expect(room.outcomes.elements.count == 1 && room.body?.inMemory == Data([1]))
    #expect(room.heads.elements.count == 1 && room.progress.elements.count == 1)
  }

  @Test func `a failure ends it, and a later finish does not`() {
    let room = SinkRoom()
    room.sink.head(LoadHead())
    room.sink.fail(ObjectError(.timedOut, "slow"))
    room.sink.finish()
    #expect(room.error?.code == .timedOut)
  }

  @Test func `an abandoned sink calls nobody and gives back what it wrote`() {
    let entry = FakeEntry()
    let room = SinkRoom { plan in
      plan.limits = BodyStore.Limits(inMemoryBytes: 1, memoryOnlyBytes: 100)
      plan.open = { _ in { _ in EntryWriter(entry) } }
    }
    room.sink.head(head(4))
    room.sink.append(Data([1, 2]))
    #expect(room.sink.isWanted && !entry.state.isAborted)
    room.sink.abandon()
    #expect(!room.sink.isWanted && entry.state.isAborted)
    room.sink.append(Data([3, 4]))
    room.sink.finish()
    #expect(room.outcomes.elements.isEmpty && room.progress.elements.count == 1)
    #expect(entry.state.bytes == [1, 2])
  }

  @Test func `a call while another is running ends the load as a failure, once`() throws {
    let (began, goOn, done) = (Latch(), Latch(), Latch())
    let room = SinkRoom { plan in
      plan.open = { _ in
        began.countDown()
        try? goOn.wait()
        return nil
      }
    }
    let first = Thread { [sink = room.sink] in
      sink.head(head(3))
      done.countDown()
    }
    first.start()
    try began.wait()
    room.sink.append(Data([1]))
    #expect(room.error?.code == .transport)
    goOn.countDown()
    try done.wait()
    #expect(room.heads.elements.isEmpty)
    room.sink.finish()
    #expect(room.outcomes.elements.count == 1)
  }

  @Test func `a sink for tests of loaders gives head and bytes`() throws {
    let ends = Collector<Result<(LoadHead, Data), ObjectError>>()
    let sink = LoadSink(testing: LoadRequest(location: "mem:a", limitBytes: 3)) { ends.append($0) }
    sink.head(LoadHead(status: 404))
    sink.append(Data([1, 2]))
    sink.finish()
    let (head, data) = try #require(ends.elements.first).get()
    #expect(head.status == 404 && data == Data([1, 2]))
    let limited = LoadSink(testing: LoadRequest(location: "mem:a", limitBytes: 3)) { ends.append($0) }
    limited.head(LoadHead())
    limited.append(Data([1, 2, 3, 4]))
    #expect(throws: ObjectError.self) { try #require(ends.elements.last).get() }
  }

  @Test func `without a slow backend there is always room`() {
    let room = SinkRoom()
    room.sink.head(LoadHead())
    room.sink.append(Data(count: 3 << 20))
    let called = Latch()
    room.sink.whenNotFull { called.countDown() }
    #expect(!room.sink.isFull && called.isOpen)
  }

  @Test func `a slow backend fills the sink after two pieces, and calls when there is room`() {
    let jobs = Collector<@Sendable () -> Void>()
    let entry = FakeEntry()
    let room = SinkRoom { plan in
      plan.limits = BodyStore.Limits(inMemoryBytes: 4, memoryOnlyBytes: 100)
      plan.open = { _ in { _ in EntryWriter(entry) } }
      plan.pool = { jobs.append($0) }
    }
    room.sink.head(LoadHead())
    room.sink.append(Data([1, 2, 3]))
    #expect(!room.sink.isFull && jobs.elements.isEmpty)
    room.sink.append(Data([4, 5]))
    #expect(room.sink.isFull)
    let called = Latch()
    room.sink.whenNotFull { called.countDown() }
    #expect(!called.isOpen)
    for job in jobs.elements { job() }
    #expect(called.isOpen && !room.sink.isFull)
    #expect(entry.state.bytes == [1, 2, 3, 4, 5])
    room.sink.finish()
    #expect(room.outcomes.elements.isEmpty)
    jobs.elements.last?()
    #expect(room.body?.isPending == true && room.body?.count == 5)
  }

  @Test func `bytes after the end are a lie, also while the backend still writes`() {
    let jobs = Collector<@Sendable () -> Void>()
    let entry = FakeEntry()
    let room = SinkRoom { plan in
      plan.limits = BodyStore.Limits(inMemoryBytes: 1, memoryOnlyBytes: 100)
      plan.open = { _ in { _ in EntryWriter(entry) } }
      plan.pool = { jobs.append($0) }
    }
    room.bring(LoadHead(), [1, 2], [3, 4])
    room.sink.append(Data([5]))
    #expect(room.error?.code == .transport)
    for job in jobs.elements { job() }
    #expect(room.outcomes.elements.count == 1 && !entry.state.bytes.contains(5))
  }

  @Test func `a second end while the backend still writes is a lie`() {
    let jobs = Collector<@Sendable () -> Void>()
    let room = SinkRoom { plan in
      plan.limits = BodyStore.Limits(inMemoryBytes: 1, memoryOnlyBytes: 100)
      plan.open = { _ in { _ in EntryWriter(FakeEntry()) } }
      plan.pool = { jobs.append($0) }
    }
    room.bring(LoadHead(), [1, 2])
    room.sink.finish()
    #expect(room.error?.code == .transport)
    for job in jobs.elements { job() }
    #expect(room.outcomes.elements.count == 1)
  }
}
