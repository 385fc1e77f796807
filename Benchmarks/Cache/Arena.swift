import Foundation
import ManagedObjects

/// Who takes part, and where.
final class Arena {
  let folder: URL
  let isQuick: Bool
  private(set) var warnings: [String] = []
  /// "LMDB 0.9.24", for each.
  private(set) var introductions: [String] = []
  private let isDisposable: Bool
  private var makers: [(URL) throws -> any Candidate] = []

  init(_ options: CacheBenchmarkOptions, contenders: [CacheContender]) throws {
    let parent = options.directory ?? FileManager.default.temporaryDirectory.path
    folder = URL(filePath: parent + "/mo-benchmark-\(UUID().uuidString)")
    isDisposable = options.isDisposable
    isQuick = options.isQuick
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // A peer that ends early is an error of its own, not a signal.
    signal(SIGPIPE, SIG_IGN)
    let makers: [(URL) throws -> any Candidate] =
      [{ FloorCandidate(in: $0) }, { FloorCandidate(in: $0, headBytes: FloorCandidate.headBytes) }]
      + contenders.map { contender in { try BackendCandidate(contender, in: $0) } }
      + [{ try PlainFoundationCache(in: $0) }] + options.peers.map { command in { try PeerProgram(command, in: $0) } }
    for (place, maker) in makers.enumerated() { admit(maker, folder.appending(path: "try-\(place)"), options.only) }
  }

  /// Tries it: who cannot even begin takes no part.
  private func admit(_ maker: @escaping (URL) throws -> any Candidate, _ place: URL, _ only: [String]?) {
    do {
      let candidate = try maker(place)
      guard introductions.isEmpty || only?.contains(candidate.name) != false else { return }
      makers.append(maker)
      introductions.append(candidate.version.isEmpty ? candidate.name : "\(candidate.name) \(candidate.version)")
    } catch {
      warnings.append("Left out: \(error)")
    }
  }

  /// All of them, each in a new folder; the floor first.
  func candidates(_ part: String) throws -> [any Candidate] {
    try makers.enumerated().map { place, maker in try maker(folder.appending(path: "\(part)-\(place)")) }
  }

  /// Everybody does the job, a piece at a time, in an order that turns.
  func run(_ job: Job, by candidates: [any Candidate], pieces size: Int = 250) throws -> [Samples] {
    var samples = candidates.map { _ in Samples() }
    for (round, start) in stride(from: 0, to: job.keys.count, by: size).enumerated() {
      var piece = job
      piece.keys = Array(job.keys[start..<min(start + size, job.keys.count)])
      for turn in candidates.indices {
        let at = (turn + round) % candidates.count
        samples[at].add(try candidates[at].run(piece))
      }
    }
    return samples
  }

  /// Has what was put reach the disk, or whoever comes next pays for it: a fifth of a trim's files would still be unwritten,
  /// and the journal full of them.
  func settleDisk() { sync() }

  func tell(_ text: String) {
    FileHandle.standardError.write(Data("cache: \(text)\n".utf8))
  }

  /// Removes what a part left.
  func clear(_ part: String = "") {
    guard !isDisposable else { return }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasPrefix(part) {
      try? FileManager.default.removeItem(at: folder.appending(path: name))
    }
    if part.isEmpty { try? FileManager.default.removeItem(at: folder) }
  }
}
