import ManagedObjectsConformance
import Shelf
import Testing

@Suite struct ShelfBackendTests {
  /// It keeps nothing in files, lists nothing and counts neither bytes nor uses: it promises the least.
  @Test func `the shelf keeps the contract of a backend`() throws {
    try BackendConformance([]) { _, limits in ShelfBackend(limitEntries: limits.limitEntries ?? .max) }.check()
  }
}
