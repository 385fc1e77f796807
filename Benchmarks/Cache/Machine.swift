import Foundation

/// Where figures were made.
struct Machine: Codable {
  var processor: String
  var cores: Int
  var kernel: String
  var fileSystem: String

  init(directory: String) {
    let info = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line = info.split(separator: "\n").first { $0.hasPrefix("model name") }
    processor = line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    cores = ProcessInfo.processInfo.activeProcessorCount
    kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? "unknown"
    kernel = kernel.trimmingCharacters(in: .whitespacesAndNewlines)
    fileSystem = Self.fileSystem(of: directory)
  }

  /// Type and options of the mount with the longest path above the directory.
  private static func fileSystem(of directory: String) -> String {
    let path = URL(filePath: directory).resolvingSymlinksInPath().path
    let mounts = ((try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? "").split(separator: "\n")
    let fields = mounts.map { $0.split(separator: " ").map(String.init) }.filter { $0.count >= 4 }
    let above = fields.filter { path == $0[1] || $0[1] == "/" || path.hasPrefix($0[1] + "/") }
    guard let mount = above.max(by: { $0[1].count <= $1[1].count }) else { return "unknown" }
    return "\(mount[2]) (\(mount[3]))"
  }
}
