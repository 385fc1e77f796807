// swift-tools-version: 6.2
// Needs Swift 6.3 (`weak let`), libcurl 7.88 or later, zlib, OpenSSL 3's libcrypto and xxHash.
import PackageDescription

/// Every target is built under the strictest checks. Warnings are made errors by `./dev`, not here:
/// a package that depends on this one must not fail on a warning of some later compiler.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// What ships is checked for every unsafe construct as well.
let strictAndMemorySafe = strict + [.strictMemorySafety()]

let package = Package(
  name: "ManagedObjects",
  products: [
    .library(name: "ManagedObjects", targets: ["ManagedObjects"]),
    .executable(name: "mobj", targets: ["mobj"]),
    .executable(name: "Benchmarks", targets: ["Benchmarks"]),
    .library(name: "CacheBenchmark", targets: ["CacheBenchmark"]),
    .library(name: "ManagedObjectsConformance", targets: ["ManagedObjectsConformance"]),
  ],
  targets: [
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
    .systemLibrary(name: "CFiles"),
    .systemLibrary(name: "CMalloc"),
    .target(name: "Locking", swiftSettings: strictAndMemorySafe),
    .target(name: "CurlTransfer", dependencies: ["CCurl", "Locking"], swiftSettings: strictAndMemorySafe),
    .target(
      name: "ManagedObjects", dependencies: ["CurlTransfer", "Locking", "CZlib", "CCrypto", "CXXHash", "CFiles"],
      swiftSettings: strictAndMemorySafe),
    .executableTarget(name: "mobj", dependencies: ["ManagedObjects", "CMalloc"], swiftSettings: strict),
    .executableTarget(name: "http-cache-bridge", dependencies: ["ManagedObjects"], swiftSettings: strict),
    .executableTarget(name: "Demo", dependencies: ["ManagedObjects", "TestSupport"], swiftSettings: strict),
    .executableTarget(
      name: "Benchmarks", dependencies: ["ManagedObjects", "TestSupport", "CurlFloor", "CacheBenchmark"],
      path: "Benchmarks", exclude: ["CurlFloor", "Cache", "Peers"], swiftSettings: strict),
    .target(
      name: "CacheBenchmark", dependencies: ["ManagedObjects", "TestSupport"], path: "Benchmarks/Cache",
      swiftSettings: strict),
    .target(name: "CurlFloor", dependencies: ["CCurl", "CXXHash"], path: "Benchmarks/CurlFloor"),
    .target(
      name: "TestSupport", dependencies: ["ManagedObjects", "CZlib"], path: "Tests/TestSupport",
      swiftSettings: strict),
    .testTarget(
      name: "CurlTransferTests", dependencies: ["CurlTransfer", "Locking", "TestSupport"], swiftSettings: strict),
    .target(
      name: "ManagedObjectsConformance", dependencies: ["ManagedObjects"], path: "Tests/Conformance",
      swiftSettings: strict),
    .executableTarget(
      name: "cache-worker", dependencies: ["ManagedObjects", "ManagedObjectsConformance"], path: "Tests/CacheWorker",
      swiftSettings: strict),
    .testTarget(
      name: "ManagedObjectsTests",
      dependencies: [
        "ManagedObjects", "CurlTransfer", "TestSupport", "ManagedObjectsConformance", "cache-worker", "CacheBenchmark",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TestSupportTests", dependencies: ["ManagedObjects", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "mobjTests", dependencies: ["ManagedObjects", "mobj", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "HouseRulesTests", swiftSettings: strict),
  ]
)
