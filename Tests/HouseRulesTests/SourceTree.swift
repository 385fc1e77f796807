import Foundation

/// The project's Swift files.
struct SourceTree {
  let root: URL

  /// The tree that this file was compiled from.
  init(file: String = #filePath) {
    root = URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  }

  /// Paths, relative to the root, and texts. Build folders of nested packages are not ours.
  func files() throws -> [(path: String, text: String)] {
    try ["Sources", "Tests", "Benchmarks", "Examples", "Fuzzing"].flatMap { folder in
      let names = FileManager.default.enumerator(atPath: root.appending(path: folder).path())?.allObjects ?? []
      return try names.compactMap { $0 as? String }
        .filter { $0.hasSuffix(".swift") && !$0.contains(".build") }
        .map { name in
          let path = folder + "/" + name
          return (path, try String(contentsOf: root.appending(path: path), encoding: .utf8))
        }
    }
  }
}
