internal import Glibc

/// A file system in memory that holds so many bytes, where root may mount one. Gone with this value.
package final class SmallDisk: Sendable {
  package let folder: TemporaryFolder

  /// Tried, since root in a container may not.
  package static let isAllowed: Bool = {
    guard geteuid() == 0 else { return false }
    return (try? SmallDisk(bytes: 1 << 20)) != nil
  }()

  package init(bytes: Int) throws {
    folder = try TemporaryFolder("disk")
    guard mount("tmpfs", folder.path, "tmpfs", UInt(MS_NOSUID), "size=\(bytes),mode=0700") == 0 else {
      throw SystemFault("mount")
    }
  }

  deinit { umount2(folder.path, Int32(MNT_DETACH)) }

  package func resize(to bytes: Int) throws {
    guard mount("tmpfs", folder.path, "tmpfs", UInt(MS_REMOUNT), "size=\(bytes)") == 0 else {
      throw SystemFault("mount")
    }
  }

  package var freeBytes: Int {
    var facts = statvfs()
    return statvfs(folder.path, &facts) == 0 ? Int(facts.f_bfree) * Int(facts.f_frsize) : -1
  }
}
