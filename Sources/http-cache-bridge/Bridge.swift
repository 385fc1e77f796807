import FoundationEssentials
import Glibc
import ManagedObjects

/// Speaks HTTP through a managed cache for a program in another language: requests as JSON lines on standard input,
/// answers as JSON lines on standard output, in the order in which they come; logs on standard error. Ends with its
/// input. The cache is in the folder that CACHE_DIR names; without it nothing is cached.
@main
struct Bridge {
  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    let cache: FileCache?
    do {
      cache = try ProcessInfo.processInfo.environment["CACHE_DIR"].map { try FileCache(folder: URL(filePath: $0)) }
    } catch {
      log("No cache: \(error)")
      exit(1)
    }
    let manager = ObjectManager(cache: cache)
    await withDiscardingTaskGroup { group in
      while let line = readLine() {
        group.addTask { await answer(line, manager) }
      }
    }
    await manager.settle()
    manager.shutdown()
  }

  private static func answer(_ line: String, _ manager: ObjectManager) async {
    let request: BridgeRequest
    do { request = try JSONDecoder().decode(BridgeRequest.self, from: Data(line.utf8)) } catch {
      log("Not a request: \(error)")
      return write(BridgeAnswer(notARequest: line))
    }
    var answer: BridgeAnswer
    do {
      answer = try BridgeAnswer(request.id, await manager.response(to: request.load))
    } catch {
      answer = BridgeAnswer(request.id, error)
    }
    write(answer)
  }

  private static func write(_ answer: BridgeAnswer) {
    do { try write(JSONEncoder().encode(answer) + [0x0A]) } catch { log("No answer to \(answer.id ?? 0): \(error)") }
  }

  /// One write call a line, so that lines do not mix.
  private static let output = Lock(())

  private static func write(_ bytes: Data) {
    output.withLock { _ in
      var rest = Array(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(1, rest, rest.count)
        guard count > 0 else { return }
        rest.removeFirst(count)
      }
    }
  }

  private static func log(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = Glibc.write(2, line, line.count)
  }
}
