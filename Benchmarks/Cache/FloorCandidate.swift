import Foundation
import ManagedObjects

/// Bare system calls; see `PosixFloor`.
final class FloorCandidate: Candidate {
  let name = "POSIX floor"
  let version = ""
  let abilities: Set<Ability> = [.trim]
  private let folder: String
  private var floor: PosixFloor

  init(in folder: URL) {
    self.folder = folder.path
    floor = PosixFloor(folder: folder.path)
  }

  func sibling() -> any Candidate { FloorCandidate(in: URL(filePath: folder)) }

  func run(_ job: Job) throws -> [Int] {
    switch job.operation {
    case .open:
      let names = job.keys.map(Self.name)
      let start = nanoseconds()
      floor = PosixFloor(folder: folder)
      for name in names { _ = floor.get(name) }
      return [nanoseconds() - start]
    case .trim:
      let start = nanoseconds()
      floor.trim(part: 0.2)
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
      case .put: floor.put(name, body)
      case .get: floor.get(name) == FloorBody(count: job.bytes, number: number)
      case .miss: floor.get(name) == nil
      case .contains: floor.contains(name)
      default: false
      }
    let time = nanoseconds() - start
    guard isRight else { throw Breach("The floor failed at \(job.operation.rawValue) of \(number).") }
    return time
  }
}
