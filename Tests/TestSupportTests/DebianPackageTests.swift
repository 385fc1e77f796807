import Testing

@testable import TestSupport

struct DebianPackageTests {
  @Test func `a test without its packages is skipped aloud, and never in CI`() {
    let (runs, note) = DebianPackage.verdict(missing: [.nginx, .tinyproxy], isCI: false)
    #expect(!runs && note?.hasSuffix("apt-get install nginx tinyproxy-bin\n") == true)
    for (missing, isCI) in [([], false), ([.nginx], true)] as [([DebianPackage], Bool)] {
      let (runs, note) = DebianPackage.verdict(missing: missing, isCI: isCI)
      #expect(runs && note == nil)
    }
  }
}
