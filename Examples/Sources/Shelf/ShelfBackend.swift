import Foundation
import ManagedObjects

/// Entries on a shelf in memory, at most so many: the least that a backend has to bring.
package final class ShelfBackend: CacheBackend {
  private struct Shelf: Sendable {
    var entries: [EntryKey: ShelfLease] = [:]
    /// Oldest first.
    var order: [EntryKey] = []
  }

  private let shelf = Lock(Shelf())
  private let limitEntries: Int

  package init(limitEntries: Int) { self.limitEntries = max(1, limitEntries) }

  package func lookUp(_ key: EntryKey) -> (any EntryLease)? { shelf.withLock { $0.entries[key] } }

  package func begin(_ key: EntryKey, expectedBytes: Int?) -> EntryWriter {
    EntryWriter(ShelfWriter { [self] lease in put(lease, for: key) })
  }

  package func remove(_ key: EntryKey) {
    shelf.withLock { shelf in
      shelf.entries[key] = nil
      shelf.order.removeAll { $0 == key }
    }
  }

  package func clear() { shelf.withLock { $0 = Shelf() } }

  package func statistics() -> BackendStatistics {
    shelf.withLock { shelf in
      BackendStatistics(entries: shelf.entries.count, bytes: shelf.entries.values.reduce(0) { $0 + $1.count })
    }
  }

  private func put(_ lease: ShelfLease, for key: EntryKey) {
    shelf.withLock { shelf in
      shelf.order.removeAll { $0 == key }
      shelf.order.append(key)
      shelf.entries[key] = lease
      if shelf.order.count > limitEntries { shelf.entries[shelf.order.removeFirst()] = nil }
    }
  }
}

/// A reader's hold on an entry. The bytes are a value, so it stays good whatever becomes of the shelf.
private final class ShelfLease: EntryLease {
  let facts: EntryFacts
  private let bytes: Data

  init(facts: EntryFacts, bytes: Data) {
    self.facts = facts
    self.bytes = bytes
  }

  var count: Int { bytes.count }
  func data() -> Data { bytes }
}

/// Collects bytes; nothing is seen of them until they are committed.
private final class ShelfWriter: EntryWriting {
  private let bytes = Lock(Data())
  private let put: @Sendable (ShelfLease) -> Void

  init(put: @escaping @Sendable (ShelfLease) -> Void) { self.put = put }

  func append(_ more: RawSpan) {
    let more = more.withUnsafeBytes { Data($0) }
    bytes.withLock { $0 += more }
  }

  func commit(_ facts: EntryFacts) -> any EntryLease {
    let lease = ShelfLease(facts: facts, bytes: bytes.withLock { $0 })
    put(lease)
    return lease
  }

  func abort() {}
}
