package import FoundationEssentials
internal import Glibc

/// A folder of a test's own, empty, mode 0700; gone with all in it when this is let go of.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init(_ name: String = "test") throws {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(parent)/\(name).XXXXXX\0".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemFault("mkdtemp in \(parent)") }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
  }

  deinit { Self.remove(path) }

  package var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

  /// The path of a file in it, which need not be there.
  package func path(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file, and the folders on the way to it. Returns its path.
  @discardableResult
  package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = path(name)
    let folder = URL(filePath: file).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(filePath: file))
    return file
  }

  @discardableResult
  package func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

  package func read(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

  package func contains(_ name: String) -> Bool { access(path(name), F_OK) == 0 }

  /// Everything below, folders included, as relative paths in order of their names.
  package var names: [String] {
    ((try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []).sorted()
  }

  /// Folders that a test has locked are opened first.
  private static func remove(_ path: String) {
    chmod(path, 0o700)
    for name in (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? [] {
      var facts = stat()
      let file = "\(path)/\(name)"
      if lstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR { chmod(file, 0o700) }
    }
    try? FileManager.default.removeItem(atPath: path)
  }
}
