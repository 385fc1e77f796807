// swift-tools-version: 6.2
// Somebody else's package, with none of our settings: what it needs to use the library is in our manifest or missing.
import PackageDescription

let package = Package(
  name: "Stranger",
  dependencies: [.package(name: "ManagedObjects", path: "../..")],
  targets: [
    .executableTarget(
      name: "Stranger", dependencies: [.product(name: "ManagedObjects", package: "ManagedObjects")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
