// swift-tools-version: 6.2
// What `./dev fuzz` builds: a package of its own, so that neither the library nor its users' builds know of it.
import PackageDescription

let package = Package(
  name: "Fuzzing",
  dependencies: [.package(name: "ManagedObjects", path: "..")],
  targets: [
    .target(name: "CFuzzer"),
    .executableTarget(
      name: "Fuzz", dependencies: ["CFuzzer", .product(name: "ManagedObjects", package: "ManagedObjects")],
      swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]),
  ]
)
