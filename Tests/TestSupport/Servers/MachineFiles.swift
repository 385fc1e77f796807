internal import FoundationEssentials
internal import Glibc

/// Real files of this machine, as somebody else made them: texts, pictures, programs, empty ones.
package struct MachineFiles: Sendable {
  /// Absolute paths, in no order.
  package let paths: [String]

  /// So many files of at most `limitBytes` that anybody may read, spread evenly over what the machine has; fewer, where
  /// it has fewer. Symbolic links are not followed.
  package init(_ count: Int, limitBytes: Int = 1 << 20) {
    var all: [String] = []
    for root in ["/usr/share", "/usr/include", "/usr/lib", "/usr/bin"] where all.count < count {
      all += Self.files(below: root, limitBytes: limitBytes)
    }
    paths = Self(paths: all).some(count)
  }

  private init(paths: [String]) { self.paths = paths }

  /// So many of them, spread evenly.
  package func some(_ count: Int) -> [String] {
    (0..<min(count, paths.count)).map { paths[$0 * paths.count / count] }
  }

  /// The path of a URL that names this file on a server whose root is "/": all but letters, digits, "-._~/" as percent
  /// signs.
  package static func target(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var target: [UInt8] = []
    for byte in path.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D...0x2F, 0x5F, 0x7E: target.append(byte)
      default: target += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: target, as: UTF8.self)
  }

  private static func files(below root: String, limitBytes: Int) -> [String] {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
    return names.map { "\(root)/\($0)" }.filter { path in
      var facts = stat()
      return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && facts.st_mode & S_IROTH != 0
        && facts.st_size <= limitBytes
    }
  }
}
