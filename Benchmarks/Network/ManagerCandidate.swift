import CurlFloor
import Foundation
import ManagedObjects

/// This library, through its front door.
struct ManagerCandidate {
  let job: CandidateJob
  let urls: [String]

  init(_ job: CandidateJob, _ urls: [String]) { (self.job, self.urls) = (job, urls) }

  func objects() async throws -> CandidateReport { try await measure(manager(), inFlight: job.parallel) }

  func callers() async throws -> CandidateReport { try await measure(manager(), inFlight: urls.count) }

  func cached() async throws -> CandidateReport {
    var limits = CacheLimits(bytes: nil)
    limits.keepFreeBytes = 0
    let cache = try FileCache(folder: URL(filePath: job.output ?? "cache"), limits: limits)
    let report = try await measure(manager(cache), inFlight: job.parallel)
    let entries = cache.statistics().entries
    guard entries == urls.count else { throw Wrong("the cache has \(entries) of \(urls.count) entries") }
    return report
  }

  /// Ready objects are let go of soon, as the floor lets go of its bodies at once.
  private func manager(_ cache: FileCache? = nil) -> ObjectManager {
    var policy = Policy()
    policy.limitTransfersPerHost = policy.limitTransfers
    policy.limitMemoryCost = 4 << 20
    guard let authorities = job.authorities else { return ObjectManager(cache: cache, policy: policy) }
    var options = CurlLoaderOptions()
    options.certificateAuthorityFile = authorities
    return ObjectManager(loaders: [CurlLoader(options: options)], cache: cache, policy: policy)
  }

  private func measure(_ manager: ObjectManager, inFlight: Int) async throws -> CandidateReport {
    let (tally, urls) = (Tally(), urls)
    let meter = Meter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for first in 0..<min(inFlight, urls.count) {
        group.addTask {
          // Each takes every so manieth, so that nobody has to ask whose turn it is.
          for number in stride(from: first, to: urls.count, by: inFlight) {
            tally.add(try await manager.data(for: ObjectRequest(urls[number])), number)
          }
        }
      }
      try await group.waitForAll()
    }
    let report = meter.report(tally)
    manager.shutdown()
    return report
  }
}

/// Counts what came, whoever got it.
final class Tally: Sendable {
  private let seen = Lock(CandidateReport())

  func add(_ body: Data, _ number: Int) {
    let digest = body.withUnsafeBytes { floor_digest($0.baseAddress, $0.count, UInt64(number)) }
    seen.withLock { seen in
      seen.bodies += 1
      seen.bytes += body.count
      seen.digest &+= digest
    }
  }

  var report: CandidateReport { seen.withLock { $0 } }
}

/// Takes the times of a piece of work.
struct Meter {
  private let wall = floor_now()
  private let cpu = floor_cpu()

  func report(_ tally: Tally) -> CandidateReport {
    var report = tally.report
    report.wall = floor_now() - wall
    report.cpu = floor_cpu() - cpu
    return report
  }
}
