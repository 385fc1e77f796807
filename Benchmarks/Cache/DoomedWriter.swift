import Foundation
import ManagedObjects

/// A process that puts entries into a backend until it is killed: this program once more, told by its environment what
/// it is for. So a program that adds backends of its own kills those as well.
enum DoomedWriter {
  private static let variable = "CACHE_BENCHMARK_DOOMED"
  private static let word = "putting"

  /// Has one begin, and kills it (SIGKILL) while it puts.
  static func die(in backend: BackendCandidate) throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = Array(CommandLine.arguments.dropFirst())
    process.environment = ProcessInfo.processInfo.environment.merging(
      [variable: "\(backend.name)|\(backend.folder.path)"], uniquingKeysWith: { $1 })
    process.standardOutput = output
    try process.run()
    let isPutting = isPutting(output.fileHandleForReading)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    guard isPutting else { throw Breach("\(backend.name) could not be opened by another process.") }
  }

  /// Waits until it has put a few; false: it ended before.
  private static func isPutting(_ output: FileHandle) -> Bool {
    var said = ""
    while !said.contains(word) {
      let more = output.availableData
      guard !more.isEmpty else { return false }
      said += String(decoding: more, as: UTF8.self)
    }
    return true
  }

  /// In such a process: puts and does not return. In any other: does nothing.
  static func live(_ contenders: [CacheContender]) throws {
    guard let words = ProcessInfo.processInfo.environment[variable]?.split(separator: "|", maxSplits: 1),
      words.count == 2, let contender = contenders.first(where: { $0.name == words[0] })
    else { return }
    let candidate = try BackendCandidate(contender, in: URL(filePath: String(words[1])))
    for start in stride(from: 1 << 40, to: .max, by: 10) {
      _ = try candidate.run(Job(operation: .put, keys: Array(start..<(start + 10)), bytes: 1024))
      FileHandle.standardOutput.write(Data("\(word)\n".utf8))
    }
  }
}
