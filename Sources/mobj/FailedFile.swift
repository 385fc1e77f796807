internal import Glibc

/// Where `--failed` writes to. A file is written beside its place and put there when all is said, so that it may be the
/// very list that is being read, and is never seen in part; a pipe or device is written into.
struct FailedFile {
  private let descriptor: Descriptor
  private let path: String
  /// nil: nothing is to be put anywhere.
  private let temporary: String?
  private(set) var fault: Descriptor.Fault?

  /// - Throws: where no file can be made there.
  init(path: String) throws(Descriptor.Fault) {
    self.path = path
    if path == "-" {
      temporary = nil
      descriptor = .standardOutput
    } else if Descriptor.isSpecial(path) {
      temporary = nil
      descriptor = try .open(path, forWriting: true)
    } else {
      guard !Descriptor.isFolder(path) else { throw .failed(EISDIR) }
      let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
      let temporary = "\(folder).mobj-failed-\(getpid())"
      self.temporary = temporary
      descriptor = try .create(temporary)
    }
  }

  /// After the first fault nothing more is tried.
  mutating func write(_ bytes: [UInt8]) {
    guard fault == nil, !bytes.isEmpty else { return }
    do throws(Descriptor.Fault) { try descriptor.write(bytes) } catch { fault = error }
  }

  /// Puts the file in its place; where it could not be written, the one that is there stays as it was.
  mutating func finish() {
    guard let temporary else { return }
    descriptor.close()
    if fault == nil, rename(temporary, path) != 0 { fault = Descriptor.Fault(errno) }
    if fault != nil { unlink(temporary) }
  }

  /// Puts nothing in its place: it would not be whole.
  func abandon() {
    guard let temporary else { return }
    descriptor.close()
    unlink(temporary)
  }
}
