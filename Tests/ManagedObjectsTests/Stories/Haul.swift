import Foundation
import ManagedObjects
import TestSupport
import Testing

/// Files of this machine fetched through a manager, many at once, each compared with the disk as soon as it is here and
/// then let go of.
struct Haul {
  /// How often objects came from where.
  var sources: [ObjectSource: Int] = [:]
  var bytes = 0
  /// Files that failed, or differ, and why.
  var faults: [String] = []
  /// The most memory of its own that this process had meanwhile, beyond what it had before; files that are mapped are
  /// not its own.
  var ownMemoryBytes = 0

  /// - Parameters:
  ///   - arrived: counts the files as they are done with.
  ///   - url: where a file of this absolute path is served.
  init(
    _ paths: [String], through manager: ObjectManager, counting arrived: Watched<Int>, atOnce: Int = 64,
    from url: @escaping @Sendable (String) -> String
  ) async {
    let before = ownMemory()
    let haul = Watched(Haul())
    let next = Watched(0)
    await withTaskGroup { group in
      for _ in 0..<atOnce {
        group.addTask {
          while case let index = next.update({ next in
            next += 1
            return next - 1
          }), index < paths.count {
            let path = paths[index]
            let (source, count, fault) = await fetched(path, through: manager, from: url(path))
            let memory = index % 200 == 0 ? ownMemory() - before : 0
            haul.update { $0.add(source, count, fault, memory) }
            arrived.update { $0 += 1 }
          }
        }
      }
    }
    self = haul.value
  }

  private init() {}

  private mutating func add(_ source: ObjectSource?, _ count: Int, _ fault: String?, _ memory: Int) {
    if let source { sources[source, default: 0] += 1 }
    if let fault { faults.append(fault) }
    bytes += count
    ownMemoryBytes = max(ownMemoryBytes, memory)
  }
}

private func fetched(
  _ path: String, through manager: ObjectManager, from url: String
) async -> (source: ObjectSource?, count: Int, fault: String?) {
  do {
    let answer = try await manager.answer(for: ObjectRequest(url), decodedBy: .data)
    let isEqual = answer.object == (try Data(contentsOf: URL(filePath: path)))
    return (answer.source, answer.object.count, isEqual ? nil : "\(path) differs")
  } catch {
    return (nil, 0, "\(path): \(error)")
  }
}

/// Memory of this process that no file stands behind (RssAnon of proc(5)), in bytes.
private func ownMemory() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
  return 1024 * (line.flatMap { line in line.split(separator: " ").dropFirst().first.flatMap { Int($0) } } ?? 0)
}

/// How many descriptors this process has open.
func openDescriptors() -> Int {
  ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count
}

#if THREAD_SANITIZER
  /// Under the sanitizer all is slow, and memory says nothing.
  let isSanitized = true
#else
  let isSanitized = false
#endif

/// Walking the machine's folders takes half a second, so once is enough.
private let machineFiles = MachineFiles(10_000)

/// Paths of files of this machine: so many, or under the sanitizer a tenth.
func filesOfThisMachine(_ count: Int) throws -> [String] {
  try #require(machineFiles.paths.count == 10_000, "this machine has too few files to serve")
  return machineFiles.some(isSanitized ? count / 10 : count)
}

/// What is a matter of time only: this many, but where long tests are wanted (`MO_LONG`) this many.
func shortOrLong(_ short: Int, _ long: Int) -> Int {
  ProcessInfo.processInfo.environment["MO_LONG"] == nil ? short : long
}
