import Testing

@testable import ManagedObjects

@Suite struct MemoryLimitTests {
  private let meminfo = "MemTotal:       16384000 kB\nMemFree:         123 kB\n"
  private let mount2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
  private let mount1 = "36 25 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"

  private func standard(_ files: [String: String]) -> Int { MemoryLimit.standard { files[$0] } }

  @Test func `a tenth of the machine's memory, at most 512 MB`() {
    #expect(standard(["/proc/meminfo": "MemTotal:        1024000 kB\n"]) == 1_024_000 * 1024 / 10)
    #expect(standard(["/proc/meminfo": meminfo]) == 512 << 20)
  }

  @Test func `where nothing can be read, 64 MB`() {
    #expect(standard([:]) == 64 << 20)
    #expect(standard(["/proc/meminfo": "nonsense\nMemTotal: kB\n"]) == 64 << 20)
  }

  @Test func `the least limit along the path of a version 2 group counts`() {
    var files = [
      "/proc/meminfo": meminfo, "/proc/self/mountinfo": mount2, "/proc/self/cgroup": "0::/a.slice/b.service\n",
      "/sys/fs/cgroup/a.slice/b.service/memory.max": "max\n", "/sys/fs/cgroup/a.slice/memory.max": "1000000000\n",
    ]
    #expect(standard(files) == 100_000_000)
    files["/sys/fs/cgroup/a.slice/b.service/memory.max"] = "20000000\n"
    #expect(standard(files) == 2_000_000)
    files["/sys/fs/cgroup/a.slice/b.service/memory.max"] = "0\n"
    #expect(standard(files) == 0)
  }

  @Test func `version 1 groups count, also beside an empty version 2 tree`() {
    let files = [
      "/proc/meminfo": meminfo,
      "/proc/self/mountinfo": mount1 + "37 25 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
      "/proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/docker/5f3e\n0::/\n",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "/sys/fs/cgroup/memory/docker/5f3e/memory.limit_in_bytes": "300000000\n",
    ]
    #expect(standard(files) == 30_000_000)
  }

  @Test func `in a container the mounted root may be the group itself`() {
    let mount = "36 25 0:31 /docker/5f3e /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    #expect(
      MemoryLimit.limitFiles(cgroups: "4:memory:/docker/5f3e\n", mounts: mount)
        == ["/sys/fs/cgroup/memory/memory.limit_in_bytes"])
    #expect(
      MemoryLimit.limitFiles(cgroups: "4:memory:/docker/5f3e/in\n", mounts: mount) == [
        "/sys/fs/cgroup/memory/in/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
      ])
  }

  @Test func `a path outside what is mounted leaves the mounted root`() {
    #expect(
      MemoryLimit.limitFiles(cgroups: "0::/../other\n", mounts: mount2) == ["/sys/fs/cgroup/memory.max"])
    let mount = "36 25 0:31 /docker/5f3e /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
    #expect(
      MemoryLimit.limitFiles(cgroups: "4:memory:/elsewhere\n", mounts: mount)
        == ["/sys/fs/cgroup/memory/memory.limit_in_bytes"])
  }

  @Test(arguments: [
    "", ":", "\n\n", "0:", "0::", "36 25 - cgroup2", " - ", "36 25 0:31 / /x rw - cgroup cgroup rw,cpu\n",
  ])
  func `other text names no files, or only well formed ones`(text: String) {
    #expect(MemoryLimit.limitFiles(cgroups: text, mounts: text) == [])
    #expect(MemoryLimit.limitFiles(cgroups: text, mounts: mount1) == [])
  }

  @Test(
    arguments: [
      ("max\n", nil), ("", nil), ("-1\n", nil), ("12\n", 12), ("99999999999999999999\n", nil), ("٣\n", nil),
    ] as [(String, Int?)])
  func `limits are plain numbers`(text: String, bytes: Int?) { #expect(MemoryLimit.bytes(inLimit: text) == bytes) }

  @Test func `memory is told in kilobytes and cannot overflow`() {
    #expect(MemoryLimit.bytes(inMeminfo: meminfo) == 16_384_000 * 1024)
    #expect(MemoryLimit.bytes(inMeminfo: "MemTotal: 9223372036854775807 kB") == nil)
    #expect(MemoryLimit.bytes(inMeminfo: "MemTotal: -5 kB") == nil)
    #expect(MemoryLimit.bytes(inMeminfo: "MemTotal: 5 MB") == nil)
  }

  @Test func `this machine has a limit`() {
    #expect((1...(512 << 20)).contains(MemoryLimit.standard()))
  }
}
