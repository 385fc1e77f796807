internal import Glibc

/// How much memory ready objects may take where nobody says: a tenth of what the process may use, at most 512 MB.
///
/// What it may use is the least of the machine's memory and the limits of its control group and all groups above. See
/// https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.max), .../cgroup-v1/memory.html (memory.limit_in_bytes)
/// and proc(5), of which these are lines:
///
///     /proc/self/cgroup     4:memory:/docker/5f3e        0::/user.slice/app.service
///     /proc/self/mountinfo  30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw
///     /proc/meminfo         MemTotal:       16384256 kB
enum MemoryLimit {
  static let most = 512 << 20
  /// Where nothing can be read.
  static let fallback = 64 << 20

  static func standard() -> Int {
    standard { path in
      // A machine with very many mounts has a long mountinfo; the groups are mounted early.
      readSmallFile(path, limitBytes: 1 << 20).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// - Parameter read: a file's text; nil: there is none.
  static func standard(read: (String) -> String?) -> Int {
    let files = limitFiles(cgroups: read("/proc/self/cgroup") ?? "", mounts: read("/proc/self/mountinfo") ?? "")
    let limits = files.compactMap { read($0).flatMap(bytes(inLimit:)) }
    let all = limits + [read("/proc/meminfo").flatMap(bytes(inMeminfo:))].compactMap(\.self)
    return all.min().map { min(most, $0 / 10) } ?? fallback
  }

  /// "max\n" and numbers that mean no limit are nil, or so large that another limit is the least.
  static func bytes(inLimit text: String) -> Int? {
    Int(text.prefix { $0.isASCII && $0.isNumber })
  }

  static func bytes(inMeminfo text: String) -> Int? {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("MemTotal:") }) else { return nil }
    let words = line.split(separator: " ")
    guard words.count == 3, words[2] == "kB", let kilobytes = Int(words[1]) else { return nil }
    let (bytes, overflow) = kilobytes.multipliedReportingOverflow(by: 1024)
    return overflow || bytes < 0 ? nil : bytes
  }

  /// The limit files of the process's memory groups, from its own to the outermost that can be seen.
  static func limitFiles(cgroups: String, mounts: String) -> [String] {
    let hierarchies = mounts.split(separator: "\n").compactMap { Hierarchy(mountinfoLine: $0) }
    return hierarchies.flatMap { hierarchy in
      guard let path = path(in: cgroups, isVersion2: hierarchy.isVersion2) else { return [String]() }
      return hierarchy.limitFiles(path: path)
    }
  }

  /// The process's path in the unified hierarchy ("0::/path") or in that of the memory controller ("4:memory:/path").
  private static func path(in cgroups: String, isVersion2: Bool) -> String? {
    for line in cgroups.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let isWanted = isVersion2 ? parts[1].isEmpty : parts[1].split(separator: ",").contains("memory")
      if isWanted { return String(parts[2]) }
    }
    return nil
  }

  /// A mounted tree of control groups.
  private struct Hierarchy {
    let isVersion2: Bool
    /// The group that is seen at `mountPoint`.
    let root: [Substring]
    let mountPoint: String

    init?(mountinfoLine line: Substring) {
      guard let dash = line.firstRange(of: " - ") else { return nil }
      let front = line[..<dash.lowerBound].split(separator: " ")
      let back = line[dash.upperBound...].split(separator: " ")
      guard front.count >= 5, back.count >= 3 else { return nil }
      isVersion2 = back[0] == "cgroup2"
      guard isVersion2 || back[0] == "cgroup" && back[2].split(separator: ",").contains("memory") else { return nil }
      root = front[3].split(separator: "/")
      mountPoint = String(front[4])
    }

    /// In a container the path may name groups above the root that is mounted; then the root is all that is seen.
    func limitFiles(path: String) -> [String] {
      let all = path.split(separator: "/")
      var groups = all.starts(with: root) ? Array(all.dropFirst(root.count)) : []
      if groups.contains("..") { groups = [] }
      let name = isVersion2 ? "memory.max" : "memory.limit_in_bytes"
      return (0...groups.count).reversed().map { depth in
        ([mountPoint] + groups.prefix(depth).map(String.init) + [name]).joined(separator: "/")
      }
    }
  }
}

/// The first bytes of a file; nil when it cannot be read.
private func readSmallFile(_ path: String, limitBytes: Int) -> [UInt8]? {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while bytes.count < limitBytes {
    // Sound: the kernel writes at most `buffer.count` bytes.
    let count = unsafe read(descriptor, &buffer, buffer.count)
    if count < 0 && errno == EINTR { continue }
    guard count >= 0 else { return nil }
    guard count > 0 else { break }
    bytes.append(contentsOf: buffer[..<count])
  }
  return bytes
}
