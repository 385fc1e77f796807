/// The one door to the operating system for cache files: what the caches ask of it, and no more.
///
/// `PosixFileSystem` is the real one; tests put one in between that fails on demand. Calls do what the system call of
/// the same purpose does, make no decision and keep no state. Paths are relative to an open folder and never followed
/// through a symbolic link in their last part.
package protocol FileSystem: Sendable {
  /// The user whose files we may trust.
  var userID: UInt32 { get }
  /// Differs after each start of the machine.
  var bootID: Int64 { get }

  /// Makes the folder at an absolute path, 0700, and those above it that are missing.
  func makeFolders(at path: String) throws(FileFault)
  /// The folder at an absolute path; symbolic links on the way are followed, since the caller chose the path.
  func openFolder(at path: String) throws(FileFault) -> OpenFile
  func makeFolder(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault)
  func open(_ path: FilePath, in folder: borrowing OpenFile, _ access: FileAccess) throws(FileFault) -> OpenFile

  func info(of file: borrowing OpenFile) throws(FileFault) -> FileInfo
  func info(of path: FilePath, in folder: borrowing OpenFile) throws(FileFault) -> FileInfo
  func space(around folder: borrowing OpenFile) throws(FileFault) -> FileSpace
  /// Shows the name and inode of everything in the folder but "." and "..", in no order.
  func list(
    _ path: FilePath, in folder: borrowing OpenFile, _ show: (_ name: Span<UInt8>, _ inode: UInt64) -> Void
  ) throws(FileFault)

  /// One read; fewer bytes where the file ends before.
  func read(_ file: borrowing OpenFile, at offset: Int, count: Int) throws(FileFault) -> HeldBytes
  /// One write; the number of bytes that it took, which may be fewer than there are.
  func write(_ bytes: RawSpan, to file: borrowing OpenFile, at offset: Int) throws(FileFault) -> Int
  func map(_ file: borrowing OpenFile, count: Int, isWritable: Bool) throws(FileFault) -> HeldBytes
  /// Makes sure that the first `count` bytes have room on the disk, so that writing to a mapping of them cannot fail.
  func allocate(_ count: Int, for file: borrowing OpenFile) throws(FileFault)
  /// The file's bytes have reached the disk.
  func sync(_ file: borrowing OpenFile) throws(FileFault)

  /// Both paths are in the same folder; replaces what is there.
  func rename(_ from: FilePath, to path: FilePath, in folder: borrowing OpenFile) throws(FileFault)
  /// The same, but fails with `isTaken` where something is there already.
  func renameNew(_ from: FilePath, to path: FilePath, in folder: borrowing OpenFile) throws(FileFault)
  /// Each of two that are there gets the other's name, in one step.
  func exchange(_ one: FilePath, _ other: FilePath, in folder: borrowing OpenFile) throws(FileFault)
  /// A second name for an open file.
  func link(_ file: borrowing OpenFile, to path: FilePath, in folder: borrowing OpenFile) throws(FileFault)
  func remove(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault)
  func removeFolder(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault)

  func setModified(_ time: WallTime, of file: borrowing OpenFile) throws(FileFault)
  /// Takes a lock (flock) that lasts as long as the open file; false where somebody else has it.
  func lock(_ file: borrowing OpenFile, isShared: Bool) throws(FileFault) -> Bool
  /// Lets other threads run before a long piece of work goes on.
  func yield()
}

extension FileSystem {
  /// Writes all of it, in as many writes as it takes.
  func writeAll(_ bytes: RawSpan, to file: borrowing OpenFile, at offset: Int = 0) throws(FileFault) {
    var done = 0
    while done < bytes.byteCount {
      let count = try write(bytes.extracting(done..<bytes.byteCount), to: file, at: offset + done)
      guard count > 0 else { throw FileFault.diskFull }
      done += count
    }
  }

  func writeAll(_ bytes: [UInt8], to file: borrowing OpenFile) throws(FileFault) {
    try bytes.withRawSpan { (bytes) throws(FileFault) in try writeAll(bytes, to: file) }
  }
}

/// How a file is opened. Never through a symbolic link, and without waiting for the other end of a pipe.
package enum FileAccess: Sendable {
  /// For reading, leaving its access time alone.
  case read
  /// A new file with these permissions, for reading and writing; what is there already is a fault.
  case create(permissions: UInt32)
  /// For reading and writing, made (0600) if missing.
  case update
}

package struct FileInfo: Hashable, Sendable {
  package enum Kind: Sendable { case file, folder, other }

  package var kind: Kind
  /// The nine permission bits and the three above them.
  package var permissions: UInt32
  package var owner: UInt32
  package var device: UInt64
  package var inode: UInt64
  package var bytes: Int
  /// Last modification, which the caches use as last use; nanoseconds since 1970.
  package var modified: Int64
  /// Creation; 0 where it was not asked for or the file system does not know.
  package var born: Int64
}

/// Room on the file system, in bytes.
package struct FileSpace: Sendable {
  package var free: Int
  package var total: Int

  package init(free: Int, total: Int) {
    self.free = free
    self.total = total
  }
}
