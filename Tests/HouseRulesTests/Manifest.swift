import Foundation

/// What `Package.swift` says of its targets.
struct Manifest {
  struct Target: Equatable {
    let name: String
    let path: String
    let dependencies: Set<String>
  }

  let targets: [Target]

  init(_ text: String) {
    let begins = Array(text.matches(of: /\.(\w+)\(\s*name: "([^"]+)"/))
    let ends = begins.dropFirst().map(\.range.lowerBound) + [text.endIndex]
    targets = zip(begins, ends).compactMap { begin, end in
      let (kind, name) = (begin.1, String(begin.2))
      guard ["target", "executableTarget", "testTarget"].contains(kind) else { return nil }
      let rest = text[begin.range.upperBound..<end]
      let listed = rest.firstMatch(of: /dependencies: \[(.*?)\]/.dotMatchesNewlines())?.1 ?? ""
      let path = rest.firstMatch(of: /path: "([^"]+)"/)?.1
      return Target(
        name: name, path: path.map(String.init) ?? (kind == "testTarget" ? "Tests/" : "Sources/") + name,
        dependencies: Set(listed.matches(of: /"([^"]+)"/).map { String($0.1) }))
    }
  }

  /// Whose file it is: of nested folders the innermost is meant.
  func target(of path: String) -> Target? {
    targets.filter { path.hasPrefix($0.path + "/") }.max { $0.path.count < $1.path.count }
  }

  /// Modules of this package that the file imports and its target does not name. They are found all the same, but are not
  /// always built before it, and when they change it is not built again.
  func undeclared(_ path: String, _ text: String) -> Set<String> {
    guard let target = target(of: path) else { return [] }
    let imported = text.matches(of: /(?m)^(?:@testable |public |package |internal |private )*import (\w+)/)
    let own = Set(targets.map(\.name)).subtracting([target.name])
    return own.intersection(imported.map { String($0.1) }).subtracting(target.dependencies)
  }
}
