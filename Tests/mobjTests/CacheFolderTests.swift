import Testing

@testable import mobj

struct CacheFolderTests {
  @Test(arguments: [
    (["XDG_CACHE_HOME": "/x", "HOME": "/home/a"], "/x/mobj"), (["HOME": "/home/a"], "/home/a/.cache/mobj"),
    (["XDG_CACHE_HOME": "", "HOME": "/home/a"], "/home/a/.cache/mobj"),
    (["XDG_CACHE_HOME": "relative", "HOME": "/home/a"], "/home/a/.cache/mobj"), ([:], nil), (["HOME": ""], nil),
  ])
  func `the folder follows the environment`(environment: [String: String], expected: String?) {
    #expect(CacheFolder.standard(in: environment) == expected)
  }

  @Test func `no backend was asked for: no warning`() {
    var options = GetOptions()
    options.backend = .none
    let opened = CacheFolder.open(options, in: [:])
    #expect(opened.backend == nil && opened.warning == nil)
  }

  @Test func `no folder to be found: a warning, and no cache`() {
    let opened = CacheFolder.open(GetOptions(), in: [:])
    #expect(opened.backend == nil)
    #expect(opened.warning?.contains("--cache") == true)
  }
}
