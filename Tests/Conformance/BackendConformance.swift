public import Foundation
public import ManagedObjects

/// Whether a backend keeps the contract of `CacheBackend`, found out from outside: one call from a test.
///
///     @Test func `my backend keeps the contract`() throws {
///       try BackendConformance(.all) { folder, limits in try MyBackend(folder, limits) }.check()
///     }
///
/// It knows no test framework: what is wrong is thrown, all of it in one error, a line for each check that failed. Each
/// check has a new folder, which is removed afterwards. All of it takes some seconds.
public struct BackendConformance: Sendable {
  /// What a backend promises beyond the least that `CacheBackend` demands. What it does not promise is not checked.
  public struct Promises: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Another instance on the same folder finds the entries and the secret.
    public static let persists = Promises(rawValue: 1)
    /// `forEach` shows every entry.
    public static let lists = Promises(rawValue: 2)
    /// Holds to `limitEntries` and `limitBytes` within one hundredth and one object, once `settle` has returned.
    public static let holdsLimits = Promises(rawValue: 4)
    /// What was used longest ago goes first.
    public static let ordersByUse = Promises(rawValue: 8)
    /// It keeps entries in files, and damaged ones are misses, never other bytes.
    public static let verifies = Promises(rawValue: 16)
    public static let all: Promises = [.persists, .lists, .holdsLimits, .ordersByUse, .verifies]
  }

  public typealias Opening = @Sendable (URL, CacheLimits) throws -> any CacheBackend

  let promises: Promises
  let open: Opening
  /// Checks with several processes, where there is a program for it.
  let processes: ConformanceProcesses?

  /// - Parameters:
  ///   - processes: a program that opens the same backend, for the checks with several processes and with processes
  ///     that are killed; nil: without those.
  ///   - open: a new instance on this folder, which may hold entries already, with these limits. A backend that keeps
  ///     nothing in files ignores the folder.
  public init(_ promises: Promises, processes: ConformanceProcesses? = nil, open: @escaping Opening) {
    self.promises = promises
    self.processes = processes
    self.open = open
  }

  /// Runs all checks that apply; blocks until they are done.
  /// - Throws: `ConformanceFailure` where any failed.
  public func check() throws {
    var breaches: [String] = []
    for check in checks where promises.isSuperset(of: check.needs) {
      do { try check.run(in: try Room(promises, open)) } catch { breaches.append("\(check.name): \(error)") }
    }
    if !breaches.isEmpty { throw ConformanceFailure(breaches: breaches) }
  }

  /// What `check` runs, by name.
  public var names: [String] { checks.filter { promises.isSuperset(of: $0.needs) }.map(\.name) }

  private var checks: [Check] {
    Check.storing + Check.changing + Check.sharing + Check.limits + Check.damage
      + (processes.map(Check.processes) ?? [])
  }
}

/// The checks that failed, and how.
public struct ConformanceFailure: Error, CustomStringConvertible {
  public let breaches: [String]
  public var description: String { breaches.joined(separator: "\n") }
}

/// A program that works on a folder with the backend to be checked: its `main` calls `ConformanceWorker.run`.
public struct ConformanceProcesses: Sendable {
  let command: [String]
  let rounds: Int
  let seconds: Double

  /// - Parameters:
  ///   - command: the program's path and its first arguments.
  ///   - rounds: so often two processes are killed at work.
  ///   - seconds: so long four processes work on one folder at once.
  public init(command: [String], rounds: Int = 20, seconds: Double = 2) {
    self.command = command
    self.rounds = rounds
    self.seconds = seconds
  }
}
