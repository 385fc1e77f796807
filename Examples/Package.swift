// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "ManagedObjects", path: "..")],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .executableTarget(
      name: "Examples", dependencies: [.product(name: "ManagedObjects", package: "ManagedObjects"), "CSQLite"],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .testTarget(
      name: "ExamplesTests", dependencies: ["Examples", "CSQLite"], swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
