/// Large bodies whose checksum was found good, so that each is read in full only once. Bounded: when it is full it
/// begins anew, which costs one more reading of each.
final class VerifiedBodies: Sendable {
  private static let limit = 4096

  /// A file that is not the same file, or was written to since, has another one.
  private struct Identity: Hashable {
    var device, inode: UInt64
    var bytes: Int
    var modified: Int64
  }

  private let known = Lock(Set<Identity>())

  func contains(_ file: FileInfo) -> Bool { known.withLock { $0.contains(Self.identity(file)) } }

  func insert(_ file: FileInfo) {
    let identity = Self.identity(file)
    known.withLock { known in
      if known.count >= Self.limit { known = [] }
      known.insert(identity)
    }
  }

  private static func identity(_ file: FileInfo) -> Identity {
    Identity(device: file.device, inode: file.inode, bytes: file.bytes, modified: file.modified)
  }
}
