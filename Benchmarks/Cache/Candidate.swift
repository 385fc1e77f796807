import Foundation
import ManagedObjects

/// One piece of work for a candidate, which measures each of its operations by itself.
struct Job: Sendable {
  enum Operation: String, Codable, Sendable {
    /// Opens what is stored anew, with `limitEntries`, and makes one get: as a process that starts does.
    case open
    case put
    case get = "get, hit"
    case miss = "get, miss"
    case contains
    /// A get; where it misses, a put.
    case mixed
    /// Goes down to the limit that it was opened with, in as many steps as it takes.
    case trim

    /// As peers that are programs are told.
    var word: String {
      switch self {
      case .get: "get"
      case .miss: "miss"
      default: rawValue
      }
    }
  }

  var operation: Operation
  /// Names are made of these, see `name(of:)`.
  var keys: [Int] = []
  /// Length of each body.
  var bytes = 4096
  var limitEntries: Int?
  /// The part of the limit that a trim goes down to.
  var lowWater = 0.9

  static func name(of key: Int) -> String { "https://cdn.example.org/assets/2024/08/\(key / 1000)/item-\(key).jpg" }

  /// A body begins with its key, so that each that comes back can be checked.
  func body(of key: Int) -> [UInt8] {
    Self.stamp(key) + (8..<max(8, bytes)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
  }

  static func stamp(_ key: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: key >> (8 * $0)) } }
}

/// What a candidate can do beside put, get and contains.
enum Ability: String, Sendable {
  /// Keeps to a limit by itself.
  case limit
  /// Goes down to a limit when it is told to.
  case trim
}

/// A store that takes part. Everything is checked while it is measured: length and first bytes of each body that comes.
protocol Candidate: AnyObject {
  var name: String { get }
  var version: String { get }
  var abilities: Set<Ability> { get }

  /// Nanoseconds of each operation; of `trim` of each step; of `mixed` a miss is a negative number.
  func run(_ job: Job) throws -> [Int]

  /// How many are stored.
  func count() throws -> Int

  /// Another one on the same folder, as another thread or process has it.
  func sibling() throws -> any Candidate
}

extension Candidate {
  /// After a trim, give or take a twentieth: what was not removed, or too much, makes its time worth nothing.
  func expectLeft(_ expected: ClosedRange<Int>) throws {
    let (left, tolerance) = (try count(), expected.upperBound / 20)
    guard left >= expected.lowerBound - tolerance, left <= expected.upperBound + tolerance else {
      throw Breach("\(name) was to trim to \(expected) entries, and has \(left).")
    }
  }
}

/// A claim of a measurement that turned out wrong, so that its figures are worth nothing.
struct Breach: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Nanoseconds of a clock that only goes on. `ContinuousClock` takes twice as long, which is a part of a fast operation.
func nanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
