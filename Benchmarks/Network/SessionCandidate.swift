import Foundation
import FoundationNetworking

/// What one would take without this library: Foundation's URLSession, without its cache.
struct SessionCandidate {
  let job: CandidateJob
  let urls: [String]

  init(_ job: CandidateJob, _ urls: [String]) { (self.job, self.urls) = (job, urls) }

  func run() async throws -> CandidateReport {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = job.parallel
    configuration.urlCache = nil
    let session = URLSession(configuration: configuration)
    let (tally, urls, parallel) = (Tally(), urls, job.parallel)
    let meter = Meter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for first in 0..<min(parallel, urls.count) {
        group.addTask {
          for number in stride(from: first, to: urls.count, by: parallel) {
            guard let url = URL(string: urls[number]) else { throw Wrong("\(urls[number]) is no URL") }
            tally.add(try await session.data(from: url).0, number)
          }
        }
      }
      try await group.waitForAll()
    }
    return meter.report(tally)
  }
}
