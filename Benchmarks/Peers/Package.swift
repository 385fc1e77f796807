// swift-tools-version: 6.2
// What the cache benchmark compares with, and what that needs: libsqlite3-dev and liblmdb-dev. A package of its own,
// so that nobody who uses ManagedObjects needs them.
import PackageDescription

let package = Package(
  name: "Peers",
  targets: [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
    .executableTarget(
      name: "cache-peer", dependencies: ["CSQLite", "CLMDB"], swiftSettings: [.swiftLanguageMode(.v6)]),
  ]
)
