internal import FoundationEssentials
internal import Glibc
internal import ManagedObjects

/// What the tests with real servers need of the machine. `dev` installs it.
package enum DebianPackage: String, CaseIterable, Sendable {
  case caddy, nginx, lighttpd, openssl, python3
  /// Without the service that `tinyproxy` would set up.
  case tinyproxy = "tinyproxy-bin"

  package var binary: String {
    switch self {
    case .caddy: "/usr/bin/caddy"
    case .nginx: "/usr/sbin/nginx"
    case .lighttpd: "/usr/sbin/lighttpd"
    case .openssl: "/usr/bin/openssl"
    case .python3: "/usr/bin/python3"
    case .tinyproxy: "/usr/bin/tinyproxy"
    }
  }

  package var isInstalled: Bool { access(binary, X_OK) == 0 }

  /// Whether a test that needs these is to run: all are there, or this is CI, where absence is a failure. What is
  /// missing is told.
  ///
  ///     @Test(.enabled(if: DebianPackage.areWanted(.nginx))) func …
  package static func areWanted(_ packages: DebianPackage...) -> Bool {
    let isCI = ProcessInfo.processInfo.environment["CI"] == "true"
    let (runs, note) = verdict(missing: packages.filter { !$0.isInstalled }, isCI: isCI)
    if let note { _ = note.withCString { write(2, $0, strlen($0)) } }
    return runs
  }

  /// Whether a test runs that misses these, and what to tell of it.
  static func verdict(missing: [DebianPackage], isCI: Bool) -> (runs: Bool, note: String?) {
    if missing.isEmpty || isCI { return (true, nil) }
    let names = missing.map(\.rawValue).joined(separator: " ")
    return (false, "SKIPPED: tests that need \(names) do not run. Install with: apt-get install \(names)\n")
  }
}
