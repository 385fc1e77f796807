import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// The cache is best effort, delivery is not.
struct BodyStoreTests {
  private let faults = Collector<ObjectError>()

  private func store(
    inMemory: Int = 4, memoryOnly: Int = 100, open: BodyStore.Open?
  ) -> BodyStore {
    BodyStore(limits: BodyStore.Limits(inMemoryBytes: inMemory, memoryOnlyBytes: memoryOnly), open: open) {
      [faults] in faults.append($0)
    }
  }

  private func store(_ entry: FakeEntry, memoryOnly: Int = 100) -> BodyStore {
    store(memoryOnly: memoryOnly) { _ in EntryWriter(entry) }
  }

  @Test func `a body of up to the limit stays in memory and opens nothing`() throws {
    let opened = Collector<Int?>()
    var store = store { size in
      opened.append(size)
      return EntryWriter(FakeEntry())
    }
    store.expect(4)
    try store.append(Data([1, 2]).bytes)
    try store.append(Data([3, 4]).bytes)
    let whole = store.finish()
    #expect(whole.inMemory == Data([1, 2, 3, 4]))
    #expect(opened.elements.isEmpty)
  }

  @Test func `the byte that is too much takes all of them into an entry`() throws {
    let entry = FakeEntry()
    var store = store(entry)
    for byte in 1...6 as ClosedRange<UInt8> { try store.append(Data([byte]).bytes) }
    let count = store.count
    #expect(count == 6)
    let body = store.finish()
    #expect(body.isPending && body.count == 6 && entry.state.bytes == [1, 2, 3, 4, 5, 6])
    #expect(faults.elements.isEmpty)
  }

  @Test func `a store that is dropped leaves no entry behind`() throws {
    let entry = FakeEntry()
    do {
      var store = store(entry)
      store.expect(10)
      try store.append(Data([1]).bytes)
    }
    #expect(entry.state.isAborted)
  }

  @Test func `a pending entry is given out once, and aborted when nobody takes it`() {
    let (taken, left) = (FakeEntry(), FakeEntry())
    let entry = PendingEntry(EntryWriter(taken), count: 1)
    let isThere = entry.take() != nil
    let isThereTwice = entry.take() != nil
    #expect(isThere && !isThereTwice && taken.state.isAborted)
    _ = PendingEntry(EntryWriter(left), count: 1)
    #expect(left.state.isAborted)
  }

  @Test func `a backend that refuses to begin costs one fault and no byte`() throws {
    var store = store { _ in throw FakeEntry.Full() }
    store.expect(6)
    for byte in 1...6 as ClosedRange<UInt8> { try store.append(Data([byte]).bytes) }
    let whole = store.finish()
    #expect(whole.inMemory == Data([1, 2, 3, 4, 5, 6]))
    #expect(faults.elements.map(\.code) == [.cacheBroken])
    #expect(faults.elements.first?.underlying is FakeEntry.Full)
  }

  @Test func `a backend that fails with the first bytes is given up, and they are still here`() throws {
    let entry = FakeEntry(failingAppend: 1)
    var store = store(entry)
    try store.append(Data([1, 2, 3]).bytes)
    try store.append(Data([4, 5, 6]).bytes)
    try store.append(Data([7]).bytes)
    let whole = store.finish()
    #expect(whole.inMemory == Data([1, 2, 3, 4, 5, 6, 7]))
    #expect(faults.elements.count == 1 && entry.state.isAborted)
  }

  @Test(arguments: 2...5, [FakeEntry.Salvage.whole, .half])
  func `a backend that fails later gives back what it has, and the body goes on in memory`(
    append: Int, salvage: FakeEntry.Salvage
  ) throws {
    let entry = FakeEntry(failingAppend: append, salvaging: salvage)
    var store = store(entry)
    store.expect(20)
    let body = Pattern().bytes(20)
    for piece in stride(from: 0, to: 20, by: 4) { try store.append(Data(body[piece..<(piece + 4)]).bytes) }
    let count = store.count
    #expect(count == 20)
    let whole = store.finish()
    #expect(whole.inMemory == Data(body))
    #expect(faults.elements.count == 1 && entry.state.isAborted)
  }

  @Test(arguments: [FakeEntry.Salvage.short, .fails])
  func `bytes that cannot be got back end the body, and say what failed first`(salvage: FakeEntry.Salvage) throws {
    var store = store(FakeEntry(failingAppend: 2, salvaging: salvage))
    store.expect(20)
    try store.append(Data([1, 2]).bytes)
    do throws(ObjectError) {
      try store.append(Data([3, 4]).bytes)
      #expect(Bool(false), "it was to fail")
    } catch {
      #expect(error.code == .cacheBroken && error.underlying is FakeEntry.Full)
    }
    #expect(faults.elements.count == 1)
  }

  @Test func `what is too large for memory is not salvaged`() throws {
    var store = store(FakeEntry(failingAppend: 3), memoryOnly: 5)
    store.expect(20)
    try store.append(Data([1, 2]).bytes)
    try store.append(Data([3, 4]).bytes)
    do throws(ObjectError) {
      try store.append(Data([5, 6]).bytes)
      #expect(Bool(false), "it was to fail")
    } catch { #expect(error.code == .cacheBroken) }
  }

  @Test func `memory alone holds exactly up to its limit`() throws {
    var store = store(inMemory: 2, memoryOnly: 5, open: nil)
    let outgrows = store.outgrowsMemory(1 << 40)
    #expect(!outgrows)
    store.expect(1 << 40)
    try store.append(Data([1, 2, 3]).bytes)
    try store.append(Data([4, 5]).bytes)
    do throws(ObjectError) {
      try store.append(Data([6]).bytes)
      #expect(Bool(false), "it was to fail")
    } catch {
      #expect(error.code == .tooLarge && error.message.contains("limitMemoryOnlyBodyBytes"))
    }
  }

  @Test func `what may be in memory may be there without a backend too`() throws {
    var store = store(inMemory: 8, memoryOnly: 2, open: nil)
    try store.append(Data(count: 8).bytes)
    let whole = store.finish()
    #expect(whole.count == 8)
  }
}
