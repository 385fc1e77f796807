import CurlFloor
import ManagedObjects

/// The crowd of `CrowdCandidate` alone: each task waits for nothing but its being cancelled, and throws then. What the
/// language takes for it.
struct BareCrowd {
  private let running = 64
  private let count: Int
  private let asked = Count()

  init(_ job: CandidateJob) { count = job.count }

  /// Bytes for each task.
  func waiting() async throws -> CandidateReport {
    let first = ask(running)
    try await settle(running)
    let before = try ResidentMemory.now()
    let others = ask(count)
    try await settle(running + count)
    let growth = try ResidentMemory.now() - before
    try await CrowdCandidate.cancel(others, of: count)
    try await CrowdCandidate.cancel(first, of: running)
    return CandidateReport(bodies: count, value: Double(growth) / Double(count))
  }

  /// Milliseconds from the cancel until all have ended.
  func cancel() async throws -> CandidateReport {
    let all = ask(running + count)
    try await settle(running + count)
    let start = floor_now()
    try await CrowdCandidate.cancel(all, of: running + count)
    return CandidateReport(bodies: count, value: (floor_now() - start) * 1000)
  }

  private func ask(_ count: Int) -> Task<Int, Never> {
    Task { [asked] in
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<count {
          group.addTask {
            do {
              try await Waiter().wait(asked)
              return false
            } catch { return true }
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
    }
  }

  private func settle(_ count: Int) async throws { try await CrowdCandidate.settle { asked.value == count } }

  private final class Count: Sendable {
    private let count = Lock(0)
    var value: Int { count.withLock { $0 } }
    func increase() { count.withLock { $0 += 1 } }
  }

  private final class Waiter: Sendable {
    private let continuation = Lock<CheckedContinuation<Void, Never>?>(nil)

    /// Throws when its task is cancelled; returns never.
    func wait(_ asked: Count) async throws {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          self.continuation.withLock { $0 = continuation }
          asked.increase()
        }
      } onCancel: {
        continuation.withLock { $0.take() }?.resume()
      }
      throw CancellationError()
    }
  }
}
