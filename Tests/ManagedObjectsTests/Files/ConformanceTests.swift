import Foundation
import ManagedObjectsConformance
import Testing

@testable import ManagedObjects

/// Our backends keep the contract that is published for those of others.
@Suite(.serialized)
struct ConformanceTests {
  /// A thousand rounds and a minute in the long form, a tenth of the rounds before a change is taken. A round is two
  /// processes killed; there are two kinds of it.
  #if THREAD_SANITIZER
    private static let (rounds, seconds) = (5, 2.0)
  #else
    private static let environment = ProcessInfo.processInfo.environment
    private static let isLong = environment["MO_LONG"] != nil
    private static let rounds = isLong ? 1000 : environment["CI"] == nil ? 25 : 100
    private static let seconds = isLong ? 60.0 : 2.0
  #endif

  /// The program stands beside the one that runs the tests.
  private static func processes(_ kind: String) -> ConformanceProcesses {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let worker = URL(filePath: tests).deletingLastPathComponent().appending(path: "cache-worker").path
    return ConformanceProcesses(command: [worker, kind], rounds: rounds, seconds: seconds)
  }

  @Test func `FileCache keeps the contract of a backend`() throws {
    try BackendConformance(.all, processes: Self.processes("file")) { folder, limits in
      try FileCache(folder: folder, limits: limits)
    }.check()
  }

  @Test func `BigFileCache keeps the contract of a backend`() throws {
    try BackendConformance(.all, processes: Self.processes("big")) { folder, limits in
      try BigFileCache(folder: folder, limits: limits, shards: 256)
    }.check()
  }

  @Test func `MemoryBackend keeps the contract of a backend`() throws {
    try BackendConformance(.lists) { _, _ in MemoryBackend() }.check()
  }

  @Test(arguments: Manner.allCases) func `a backend that promises less is asked for no more`(manner: Manner) throws {
    try BackendConformance(manner.promises) { folder, limits in try ModestBackend(manner, folder, limits) }.check()
  }

  @Test func `a backend that forgets its counts when it is opened again is found`() throws {
    let breaches = breaches([.persists, .lists, .holdsLimits]) { try ModestBackend(.forgetsCounts, $0, $1) }
    #expect(breaches.contains { $0.contains("what others put is counted") })
  }

  @Test func `a backend that packs its files and does not look at them is found`() throws {
    let breaches = breaches([.persists, .verifies]) { folder, _ in try PackingBackend(folder) }
    #expect(breaches.contains { $0.contains("damaged files") && $0.contains("other bytes") }, "\(breaches)")
  }

  @Test func `a backend without files cannot promise that it finds damage in them`() throws {
    let memory = MemoryBackend()
    let breaches = breaches([.persists, .verifies]) { _, _ in memory }
    #expect(breaches.contains { $0.contains("none can be damaged") }, "\(breaches)")
  }

  private func breaches(_ promises: BackendConformance.Promises, _ open: @escaping BackendConformance.Opening)
    -> [String]
  {
    do { try BackendConformance(promises, open: open).check() } catch {
      return (error as? ConformanceFailure)?.breaches ?? []
    }
    return []
  }

  /// A check that nothing fails proves nothing: each fault here has to be found.
  @Test(arguments: Fault.allCases) func `a fault is found`(fault: Fault) {
    let conformance = BackendConformance([.lists, .holdsLimits]) { _, _ in FaultyBackend(fault) }
    #expect {
      try conformance.check()
    } throws: { error in
      let breaches = (error as? ConformanceFailure)?.breaches ?? []
      return breaches.contains { $0.contains(fault.rawValue) }
    }
  }
}

/// What is wrong with a backend, and a word of the check that has to find it.
enum Fault: String, CaseIterable, Sendable {
  case losesFacts = "bytes and facts"
  case ignoresKind = "differ in one part"
  case keepsRemoved = "removed is gone"
  case showsUnfinished = "never seen"
  case takesAnyUpdate = "304 for a body"
  case hidesEntries = "shown once"
  case hasNoLimit = "limit of entries"
}

/// A backend in memory with one fault.
private final class FaultyBackend: CacheBackend {
  private let memory = MemoryBackend()
  private let fault: Fault

  init(_ fault: Fault) { self.fault = fault }

  private func changed(_ key: EntryKey) -> EntryKey {
    fault == .ignoresKind ? EntryKey(key.id, scope: key.scope, variant: key.variant) : key
  }

  func lookUp(_ key: EntryKey) throws -> (any EntryLease)? { memory.lookUp(changed(key)) }

  func begin(_ key: EntryKey, expectedBytes: Int?) throws -> EntryWriter {
    if fault == .showsUnfinished { try memory.put(key, Data()) }
    let writer = memory.begin(changed(key), expectedBytes: expectedBytes)
    return fault == .losesFacts ? EntryWriter(ForgetfulWriter(writer)) : writer
  }

  func remove(_ key: EntryKey) { if fault != .keepsRemoved { memory.remove(changed(key)) } }
  func clear() { memory.clear() }
  func statistics() -> BackendStatistics { memory.statistics() }

  func update(_ key: EntryKey, facts: EntryFacts) {
    guard fault == .takesAnyUpdate, let old = memory.lookUp(key) else { return memory.update(key, facts: facts) }
    _ = try? memory.put(key, old.data(), facts)
  }

  func forEach(_ visit: (EntrySummary) throws -> EntryVerdict) throws {
    var isFirst = true
    try memory.forEach({ entry in
      defer { isFirst = false }
      return fault == .hidesEntries && isFirst ? .keep : try visit(entry)
    })
  }
}

/// Stores no header fields.
private final class ForgetfulWriter: EntryWriting {
  private let writer: Lock<EntryWriter>

  init(_ writer: consuming EntryWriter) { self.writer = Lock(writer) }

  func append(_ bytes: RawSpan) throws { try writer.withLock { try $0.append(bytes) } }

  func commit(_ facts: EntryFacts) throws -> any EntryLease {
    var facts = facts
    facts.head.fields = [:]
    return try writer.withLock { try $0.commit(facts) }
  }

  func abort() {}
}

/// How a backend may be other than ours, and keep the contract.
enum Manner: CaseIterable, Sendable {
  /// Knows of each error that it holds, in memory, and so of no other instance's.
  case countsErrors
  case cannotList
  /// When it is full, what is new goes.
  case keepsTheOld
  /// And one that does not keep it: it counts only what was put since it was opened.
  case forgetsCounts

  static let allCases: [Manner] = [.countsErrors, .cannotList, .keepsTheOld]

  var promises: BackendConformance.Promises {
    switch self {
    case .countsErrors: .lists
    case .cannotList: [.persists, .verifies, .holdsLimits, .ordersByUse]
    case .keepsTheOld: [.lists, .holdsLimits]
    case .forgetsCounts: []
    }
  }
}
