import Foundation

/// What a process of a candidate is to do. Given to it as JSON on its command line.
struct CandidateJob: Codable {
  enum Kind: String, Codable {
    /// The C loop on libcurl.
    case floor
    /// recv and write by hand, for one body.
    case receive
    /// `data(for:)`, so many at a time.
    case objects
    /// `data(for:)`, all at once.
    case callers
    /// `data(for:)` of a manager with a FileCache.
    case cached
    /// Foundation's URLSession, so many at a time.
    case session
    /// `file(for:at:)`, for the growth of memory.
    case growthToFile
    /// `data(for:)` of one large body, for the growth of memory.
    case growthInMemory
    /// Memory for each request that waits for its turn.
    case waiting
    /// Time to cancel many that wait and some that run.
    case cancel
    /// The same two for tasks that wait for nothing.
    case bareWaiting, bareCancel
  }

  var kind: Kind
  /// A file with a URL a line.
  var list = ""
  var parallel = 64
  var isPolling = false
  /// Of libcurl, in bytes; 0: its own.
  var buffer = 0
  var inflates = false
  /// True: the floor is asked by another thread, which sleeps until the body is there.
  var isAskedFromOutside: Bool?
  /// A PEM file; the candidate then expects HTTP/2.
  var authorities: String?
  /// Where bodies go.
  var output: String?
  var port = 0
  /// How many requests wait.
  var count = 0
}

/// How a candidate fared; its own account, one line of JSON on standard output.
struct CandidateReport: Codable {
  var bodies = 0
  var bytes = 0
  var digest: UInt64 = 0
  /// Seconds, from the first request to the last body.
  var wall = 0.0
  /// Seconds of user and system time of the whole process meanwhile.
  var cpu = 0.0
  /// What the job asked for beside the times: bytes of growth, or milliseconds.
  var value = 0.0
}

/// The process of one candidate.
enum CandidateProcess {
  static func run(_ text: String) async throws {
    let job = try JSONDecoder().decode(CandidateJob.self, from: Data(text.utf8))
    let urls = job.list.isEmpty ? [] : try lines(of: job.list)
    let report = try await report(job, urls)
    FileHandle.standardOutput.write(try JSONEncoder().encode(report))
  }

  /// On the pool, as a server's requests would be: not on the main actor, where the program's top level runs.
  @concurrent private static func report(_ job: CandidateJob, _ urls: [String]) async throws -> CandidateReport {
    switch job.kind {
    case .floor: try CurlFloorCandidate(job, urls).run()
    case .receive: try CurlFloorCandidate(job, urls).receive()
    case .objects: try await ManagerCandidate(job, urls).objects()
    case .callers: try await ManagerCandidate(job, urls).callers()
    case .cached: try await ManagerCandidate(job, urls).cached()
    case .session: try await SessionCandidate(job, urls).run()
    case .growthToFile: try await MemoryCandidate(job, urls).growthToFile()
    case .growthInMemory: try await MemoryCandidate(job, urls).growthInMemory()
    case .waiting: try await CrowdCandidate(job).waiting()
    case .cancel: try await CrowdCandidate(job).cancel()
    case .bareWaiting: try await BareCrowd(job).waiting()
    case .bareCancel: try await BareCrowd(job).cancel()
    }
  }

  private static func lines(of file: String) throws -> [String] {
    try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
  }
}
