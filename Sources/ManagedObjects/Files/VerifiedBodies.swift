/// Large bodies whose checksum was found good, so that each is read in full only once. Bounded: when it is full it
/// begins anew, which costs one more reading of each.
final class VerifiedBodies: Sendable {
  private static let limit = 4096

  /// A file that is not the same file, or was written to since, has another one. So has a good file in the place of
  /// another: files can be swapped without changing any of their own facts.
  private struct Identity: Hashable {
    var device, inode: UInt64
    var bytes: Int
    var modified: Int64
    var checksum: UInt64

    init(_ file: FileInfo, _ checksum: UInt64) {
      (device, inode, bytes, modified) = (file.device, file.inode, file.bytes, file.modified)
      self.checksum = checksum
    }
  }

  private let known = Lock(Set<Identity>())

  /// - Parameter checksum: what its head says that the bytes have.
  func contains(_ file: FileInfo, checksum: UInt64) -> Bool {
    known.withLock { $0.contains(Identity(file, checksum)) }
  }

  func insert(_ file: FileInfo, checksum: UInt64) {
    known.withLock { known in
      if known.count >= Self.limit { known = [] }
      known.insert(Identity(file, checksum))
    }
  }
}
