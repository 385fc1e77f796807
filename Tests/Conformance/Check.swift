import Foundation
import ManagedObjects

/// One part of the contract.
struct Check: Sendable {
  let name: String
  let needs: BackendConformance.Promises
  let run: @Sendable (Room) throws -> Void

  init(
    _ name: String, needs: BackendConformance.Promises = [], run: @escaping @Sendable (Room) throws -> Void
  ) {
    self.name = name
    self.needs = needs
    self.run = run
  }

  func run(in room: consuming Room) throws { try run(room) }
}

/// A folder of one check, removed with it, and backends on it.
final class Room: Sendable {
  let folder: URL
  /// What the backend promises, where only a part of a check needs it.
  let promises: BackendConformance.Promises
  private let opening: BackendConformance.Opening

  init(_ promises: BackendConformance.Promises, _ opening: @escaping BackendConformance.Opening) throws {
    self.promises = promises
    self.opening = opening
    folder = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The cache has a folder below that of the room.
  var cacheFolder: URL { folder.appending(path: "cache") }

  func open(entries: Int? = nil, bytes: Int? = nil) throws -> any CacheBackend {
    try opening(cacheFolder, Self.limits(entries: entries, bytes: bytes))
  }

  /// Limits that do not depend on how full the machine's disk is.
  static func limits(entries: Int?, bytes: Int?) -> CacheLimits {
    var limits = CacheLimits(bytes: bytes, entries: entries)
    limits.keepFreeBytes = 0
    return limits
  }
}

/// What was expected and did not come.
struct Breach: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

func expect(_ isTrue: Bool, _ what: @autoclosure () throws -> String) throws {
  if !isTrue { throw Breach(try what()) }
}

func expectError(_ what: String, _ work: () throws -> Void) throws {
  do { try work() } catch { return }
  throw Breach(what)
}

/// Waits until a date that the kernel gives a file is another one: it takes them from a clock that goes in steps of some
/// milliseconds, and entries with one date have no order.
func waitForNextDate() {
  let end = ContinuousClock.now + .milliseconds(12)
  while ContinuousClock.now < end { sched_yield() }
}
