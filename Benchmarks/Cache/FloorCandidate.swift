import Foundation
import ManagedObjects

/// Bare system calls; see `PosixFloor`.
final class FloorCandidate: Candidate {
  /// What a cache has to keep beside a body, in front of it: so much as our caches write for the benchmark's head and a
  /// key of four digits.
  static let headBytes = 202
  static let nameWithHeads = "floor with heads"

  let name: String
  let version = ""
  let abilities: Set<Ability>
  private let folder: String
  private let headBytes: Int
  private var floor: PosixFloor
  private var limitEntries = Int.max

  /// - Parameter headBytes: more than 0: what the same costs with heads and checksums, which no other candidate's ratio
  ///   is made of. A body of a page and its head are two pages, for instance.
  init(in folder: URL, headBytes: Int = 0) {
    self.folder = folder.path
    self.headBytes = headBytes
    name = headBytes > 0 ? Self.nameWithHeads : "POSIX floor"
    abilities = headBytes > 0 ? [] : [.trim]
    floor = PosixFloor(folder: folder.path)
  }

  func count() -> Int { floor.count() }

  func sibling() -> any Candidate { FloorCandidate(in: URL(filePath: folder), headBytes: headBytes) }

  func run(_ job: Job) throws -> [Int] {
    switch job.operation {
    case .open:
      let names = job.keys.map(Self.name)
      let start = nanoseconds()
      floor = PosixFloor(folder: folder)
      limitEntries = job.limitEntries ?? .max
      for name in names { _ = floor.get(name) }
      return [nanoseconds() - start]
    case .trim:
      let start = nanoseconds()
      floor.trim(to: limitEntries)
      return [nanoseconds() - start]
    default:
      let names = job.keys.map { (number: $0, name: Self.name($0)) }
      let floor = floor
      return try names.map { try measure(job, $0.number, $0.name, floor) }
    }
  }

  private static func name(_ number: Int) -> FloorName {
    FloorName(digest: EntryKey(ObjectID(Job.name(of: number), kind: .url)).digest.bytes)
  }

  private func measure(_ job: Job, _ number: Int, _ name: FloorName, _ floor: PosixFloor) throws -> Int {
    let body = job.operation == .put ? job.body(of: number) : []
    let start = nanoseconds()
    let isRight =
      switch job.operation {
      case .put: headBytes > 0 ? floor.put(name, body, behind: headBytes) : floor.put(name, body)
      case .get: get(name, floor) == FloorBody(count: job.bytes, number: number)
      case .miss: floor.get(name) == nil
      case .contains: floor.contains(name)
      default: false
      }
    let time = nanoseconds() - start
    guard isRight else { throw Breach("The floor failed at \(job.operation.rawValue) of \(number).") }
    return time
  }

  private func get(_ name: FloorName, _ floor: PosixFloor) -> FloorBody? {
    headBytes > 0 ? floor.get(name, behind: headBytes) : floor.get(name)
  }
}
