internal import Glibc

/// A file or folder that is open. It has one owner and is closed with it.
package struct OpenFile: ~Copyable, Sendable {
  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// In the place of a folder: paths are absolute, or begin where the process is (AT_FDCWD of openat(2)). Never closed.
  static let workingFolder = OpenFile(descriptor: AT_FDCWD)
}

/// What a system call failed with (errno of intro(2)).
package struct FileFault: Error, Hashable, Sendable, CustomStringConvertible {
  package let number: Int32

  package init(number: Int32) { self.number = number }

  /// The failure of the system call made just before on this thread.
  static var last: FileFault { FileFault(number: errno) }

  package static let diskFull = FileFault(number: ENOSPC)
  package static let readFailed = FileFault(number: EIO)
  package static let readOnly = FileFault(number: EROFS)
  package static let noDescriptors = FileFault(number: EMFILE)
  package static let missing = FileFault(number: ENOENT)
  package static let taken = FileFault(number: EEXIST)
  package static let badPath = FileFault(number: EINVAL)
  package static let notPermitted = FileFault(number: EPERM)
  package static let refused = FileFault(number: EACCES)

  /// Nothing of that name, or a file where a folder was expected on the way.
  var isMissing: Bool { number == ENOENT || number == ENOTDIR }
  var isTaken: Bool { number == EEXIST }
  /// The call, or an option of it, is not known to this file system.
  var isUnsupported: Bool { [EINVAL, ENOSYS, EOPNOTSUPP, EPERM].contains(number) }
  /// Something else than a regular file has the name: a symbolic link (ELOOP), a socket (ENXIO), a device.
  var isWrongKind: Bool { [ELOOP, ENXIO, ENODEV, EISDIR].contains(number) }

  package var description: String { unsafe String(cString: strerror(number)) }
}
