import Foundation
import ManagedObjects

/// How far the process grows, from the moment before a request to its largest until the end.
struct MemoryCandidate {
  let job: CandidateJob
  let urls: [String]

  init(_ job: CandidateJob, _ urls: [String]) { (self.job, self.urls) = (job, urls) }

  /// The second URL, to a file. The first one, small, has brought to life what lives as long as the process does.
  func growthToFile() async throws -> CandidateReport {
    let manager = ObjectManager()
    let output = URL(filePath: job.output ?? "body")
    _ = try await manager.file(for: ObjectRequest(urls[0]), at: output, replacing: true)
    let meter = Meter()
    let before = try ResidentMemory.restart()
    let answer = try await manager.file(for: ObjectRequest(urls[1]), at: output, replacing: true)
    var report = meter.report(Tally())
    report.value = Double(try ResidentMemory.peak() - before)
    (report.bodies, report.bytes) = (1, answer.bytes)
    return report
  }

  func growthInMemory() async throws -> CandidateReport {
    let (manager, tally) = (ObjectManager(), Tally())
    _ = try await manager.data(for: ObjectRequest(urls[0]))
    let meter = Meter()
    let before = try ResidentMemory.restart()
    let body = try await manager.data(for: ObjectRequest(urls[1]))
    let peak = try ResidentMemory.peak()
    tally.add(body, 0)
    var report = meter.report(tally)
    report.value = Double(peak - before)
    return report
  }
}

/// What the kernel says of this process, in bytes; see proc(5).
enum ResidentMemory {
  /// Forgets the peak; returns what is resident now.
  static func restart() throws -> Int {
    try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
    return try field("VmRSS")
  }

  static func now() throws -> Int { try field("VmRSS") }

  static func peak() throws -> Int { try field("VmHWM") }

  private static func field(_ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    guard let kibibytes = line?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw Wrong("/proc/self/status has no \(name)")
    }
    return kibibytes << 10
  }
}
