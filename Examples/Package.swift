// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "ManagedObjects", path: "..")],
  targets: [
    .executableTarget(
      name: "Examples", dependencies: [.product(name: "ManagedObjects", package: "ManagedObjects")],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    .testTarget(name: "ExamplesTests", dependencies: ["Examples"], swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
