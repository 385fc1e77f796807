import CurlFloor
import Foundation
import ManagedObjects

/// Many requests to a server that takes connections and never answers: 64 run, all others wait.
struct CrowdCandidate {
  private let count: Int
  private let running = 64
  private let manager: ObjectManager
  private let base: String

  init(_ job: CandidateJob) throws {
    count = job.count
    var policy = Policy()
    policy.limitTransfersPerHost = running
    manager = ObjectManager(policy: policy)
    let port = floor_silent_port()
    guard port > 0 else { throw Wrong("there is no port to listen on") }
    base = "http://127.0.0.1:\(port)/assets/2024/08/item-"
  }

  /// Bytes for each request that waits, the caller's task and the text of its URL included.
  func waiting() async throws -> CandidateReport {
    let first = ask(0..<running)
    try await settle(running)
    let before = try ResidentMemory.now()
    let others = ask(running..<(running + count))
    try await settle(running + count)
    let growth = try ResidentMemory.now() - before
    try await Self.cancel(others, of: count)
    try await Self.cancel(first, of: running)
    return CandidateReport(bodies: count, value: Double(growth) / Double(count))
  }

  /// Milliseconds from the cancel until every request has ended so.
  func cancel() async throws -> CandidateReport {
    let all = ask(0..<(running + count))
    try await settle(running + count)
    let start = floor_now()
    try await Self.cancel(all, of: running + count)
    return CandidateReport(bodies: count, value: (floor_now() - start) * 1000)
  }

  /// As a server does that gives up a page: one task, with a child for each request. Its value: how many were cancelled.
  private func ask(_ numbers: Range<Int>) -> Task<Int, Never> {
    let (manager, base) = (manager, base)
    return Task {
      await withTaskGroup(of: Bool.self) { group in
        for number in numbers {
          group.addTask {
            do throws(ObjectError) {
              _ = try await manager.data(for: ObjectRequest("\(base)\(number).jpg"))
              return false
            } catch { return error.code == .cancelled }
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }
  }

  static func cancel(_ task: Task<Int, Never>, of requests: Int) async throws {
    task.cancel()
    guard await task.value == requests else { throw Wrong("a request that was cancelled ended otherwise") }
  }

  /// Until all have asked, and the transfers that may run have begun.
  private func settle(_ asked: Int) async throws {
    try await Self.settle {
      let now = manager.statistics
      return now.runningTransfers == running && now.liveHandlers + now.waitingHandlers == asked
    }
  }

  /// Sleeps, since counts cannot be awaited and a busy wait would be measured too; the last sleep lets those that were just
  /// begun send their request, or come to wait.
  static func settle(_ isSettled: () -> Bool) async throws {
    for _ in 0..<3000 {
      if isSettled() { return try await Task.sleep(for: .milliseconds(50)) }
      try await Task.sleep(for: .milliseconds(5))
    }
    throw Wrong("not all came to wait")
  }
}
