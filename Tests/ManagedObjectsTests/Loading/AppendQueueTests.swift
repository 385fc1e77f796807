import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// A body store that a pool feeds.
struct AppendQueueTests {
  private let jobs = Collector<@Sendable () -> Void>()
  private let ends = Collector<Result<ReceivedBody, ObjectError>>()

  private func queue(_ entry: FakeEntry, memoryOnly: Int = 100) -> AppendQueue {
    AppendQueue(
      BodyStore(
        limits: BodyStore.Limits(inMemoryBytes: 0, memoryOnlyBytes: memoryOnly), open: { _ in EntryWriter(entry) },
        onFault: { _ in })
    ) { [jobs] in jobs.append($0) }
  }

  /// Runs what was given to the pool since the number given.
  private func runJobs(from first: Int = 0) { for job in jobs.elements[first...] { job() } }

  @Test func `pieces are written in order, by one job at a time`() throws {
    let entry = FakeEntry()
    let queue = queue(entry)
    try queue.append(Data([1]))
    try queue.append(Data([2]))
    #expect(jobs.elements.count == 1 && entry.state.bytes.isEmpty)
    runJobs()
    try queue.append(Data([3]))
    #expect(jobs.elements.count == 2)
    runJobs(from: 1)
    #expect(entry.state.bytes == [1, 2, 3])
  }

  @Test func `two outstanding pieces are full, and every waiter is called once there is room`() throws {
    let queue = queue(FakeEntry())
    let calls = Collector<Int>()
    queue.whenNotFull { calls.append(0) }
    try queue.append(Data([1]))
    #expect(!queue.isFull)
    try queue.append(Data([2]))
    #expect(queue.isFull)
    queue.whenNotFull { calls.append(1) }
    queue.whenNotFull { calls.append(2) }
    #expect(calls.elements == [0])
    runJobs()
    #expect(calls.elements == [0, 1, 2] && !queue.isFull)
  }

  @Test func `the end comes after the last piece, and once`() throws {
    let entry = FakeEntry()
    let queue = queue(entry)
    try queue.append(Data([1]))
    try queue.append(Data([2]))
    queue.finish { [ends] in ends.append($0) }
    #expect(ends.elements.isEmpty && jobs.elements.count == 1)
    runJobs()
    #expect(ends.elements.count == 1)
    #expect(try ends.elements[0].get().count == 2 && entry.state.bytes == [1, 2])
  }

  @Test func `the end of a body without bytes comes too`() throws {
    let queue = queue(FakeEntry())
    queue.finish { [ends] in ends.append($0) }
    runJobs()
    #expect(try ends.elements.first?.get().count == 0)
  }

  @Test func `a piece that cannot be kept fails the end, makes room, and refuses what follows`() throws {
    let queue = queue(FakeEntry(failingAppend: 1, salvaging: .fails), memoryOnly: 0)
    let called = Latch()
    try queue.append(Data([1]))
    try queue.append(Data([2]))
    queue.whenNotFull { called.countDown() }
    runJobs()
    #expect(called.isOpen && !queue.isFull)
    #expect(throws: ObjectError.self) { try queue.append(Data([3])) }
    queue.finish { [ends] in ends.append($0) }
    runJobs(from: 1)
    #expect(ends.elements.count == 1)
    #expect(throws: ObjectError.self) { try ends.elements[0].get() }
  }

  @Test func `called off, it writes nothing more, frees who waits, and tells no end`() throws {
    let entry = FakeEntry()
    let queue = queue(entry)
    let called = Latch()
    try queue.append(Data([1]))
    try queue.append(Data([2]))
    queue.whenNotFull { called.countDown() }
    queue.finish { [ends] in ends.append($0) }
    queue.abort()
    #expect(called.isOpen && !queue.isFull)
    try queue.append(Data([3]))
    runJobs()
    #expect(entry.state.bytes.isEmpty && ends.elements.isEmpty)
  }

  /// The end may be asked for just as the pool finds nothing to do: then the last piece was lost, or the end.
  @Test func `a last piece and the end that come while the pool goes idle are both honoured`() async throws {
    let pool = WorkerPool("test", limit: 2)
    for round in 0..<3000 {
      let entry = FakeEntry()
      let queue = AppendQueue(
        BodyStore(
          limits: BodyStore.Limits(inMemoryBytes: 0, memoryOnlyBytes: 100), open: { _ in EntryWriter(entry) },
          onFault: { _ in })
      ) { pool.run($0) }
      try queue.append(Data([1]))
      if round % 2 == 0 { await Task.yield() }
      try queue.append(Data([2]))
      let ends = Collector<Result<ReceivedBody, ObjectError>>()
      queue.finish { ends.append($0) }
      _ = try await ends.wait()
      #expect(try ends.elements[0].get().count == 2)
      #expect(entry.state.bytes == [1, 2])
    }
  }
}
