import Foundation

/// Where figures were made.
package struct Machine: Codable {
  package var processor: String
  package var cores: Int
  package var kernel: String
  package var fileSystem: String

  package init(directory: String) {
    let info = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line = info.split(separator: "\n").first { $0.hasPrefix("model name") }
    processor = line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    cores = ProcessInfo.processInfo.activeProcessorCount
    kernel = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? "unknown"
    kernel = kernel.trimmingCharacters(in: .whitespacesAndNewlines)
    let mount = Mount(above: directory)
    fileSystem = mount.map { "\($0.type) (\($0.options))" } ?? "unknown"
  }
}

/// A mounted file system.
struct Mount {
  let device: String
  let type: String
  let options: String

  /// The one with the longest path above the directory.
  init?(above directory: String) {
    let path = URL(filePath: directory).resolvingSymlinksInPath().path
    let mounts = ((try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? "").split(separator: "\n")
    let fields = mounts.map { $0.split(separator: " ").map(String.init) }.filter { $0.count >= 4 }
    let above = fields.filter { path == $0[1] || $0[1] == "/" || path.hasPrefix($0[1] + "/") }
    // Of several on one path the last one counts.
    guard
      let mount = above.enumerated().max(by: { ($0.element[1].count, $0.offset) < ($1.element[1].count, $1.offset) })
    else { return nil }
    (device, type, options) = (mount.element[0], mount.element[2], mount.element[3])
  }

  /// What about it makes figures of file caches worth less.
  var warnings: [String] {
    var warnings: [String] = []
    if ["tmpfs", "ramfs"].contains(type) {
      warnings.append("The files are in memory (\(type)): nothing here is what a disk costs.")
    } else if type == "overlay" || type.hasPrefix("fuse") || type.hasPrefix("nfs") || type == "9p" {
      warnings.append("The files are on \(type), whose own layer is measured as well.")
    } else if type != "ext4" {
      warnings.append("The goals were set on ext4; this is \(type).")
    }
    if type == "ext4", !hasJournal {
      warnings.append("This ext4 has no journal: after a bulk removal it makes new files ten times slower for minutes.")
    }
    if options.split(separator: ",").contains("discard") {
      warnings.append("Mounted with discard: removing a file waits for the device.")
    }
    if device.hasPrefix("/dev/"), !device.hasPrefix("/dev/loop") {
      warnings.append("Not a fresh file system: what was removed on it before disturbs what is made now.")
    }
    return warnings
  }

  /// The journal's thread shows itself under the device's name; "/dev/root" hides that.
  private var hasJournal: Bool {
    let name = device.split(separator: "/").last.map(String.init) ?? ""
    let journals = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/fs/jbd2")) ?? []
    return name == "root" ? !journals.isEmpty : journals.contains { $0.hasPrefix(name + "-") }
  }
}
