// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "ManagedObjects", path: "..")],
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "Shelf", dependencies: [.product(name: "ManagedObjects", package: "ManagedObjects")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "Examples",
      dependencies: [.product(name: "ManagedObjects", package: "ManagedObjects"), "CSQLite", "Shelf"],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "ShelfBenchmark", dependencies: [.product(name: "CacheBenchmark", package: "ManagedObjects"), "Shelf"],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .testTarget(
      name: "ExamplesTests",
      dependencies: [
        "Examples", "CSQLite", "Shelf", .product(name: "ManagedObjectsConformance", package: "ManagedObjects"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
