internal import CFiles
internal import Glibc

/// The real file system, by system calls and nothing in between.
package struct PosixFileSystem: FileSystem {
  package init() {}

  package var userID: UInt32 { geteuid() }

  package var bootID: Int64 {
    let file = unsafe Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0, let bytes = try? read(OpenFile(descriptor: file), at: 0, count: 64) else { return 0 }
    return bytes.withBytes { Int64(bitPattern: StreamingChecksum.of($0)) }
  }

  // MARK: Folders

  package func makeFolders(at path: String) throws(FileFault) {
    guard !path.utf8.contains(0) else { throw FileFault.badPath }
    var made = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      made += "/\(part)"
      if unsafe mkdir(made, 0o700) != 0, errno != EEXIST { throw FileFault.last }
    }
  }

  package func openFolder(at path: String) throws(FileFault) -> OpenFile {
    guard !path.utf8.contains(0) else { throw FileFault.badPath }
    return OpenFile(descriptor: try checked(unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
  }

  package func makeFolder(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    let number = folder.descriptor
    try done(unsafe path.withPointer { unsafe mkdirat(number, $0, 0o700) })
  }

  package func list(
    _ path: FilePath, in folder: borrowing OpenFile, _ show: (_ name: Span<UInt8>, _ inode: UInt64) -> Void
  ) throws(FileFault) {
    let number = folder.descriptor
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let descriptor = try checked(unsafe path.withPointer { unsafe openat(number, $0, flags) })
    guard let listing = unsafe fdopendir(descriptor) else {
      let fault = FileFault.last
      close(descriptor)
      throw fault
    }
    defer { unsafe closedir(listing) }
    // The end and a fault look alike but for errno (readdir(3)).
    errno = 0
    while let entry = unsafe readdir(listing) {
      unsafe Self.show(entry, show)
      errno = 0
    }
    if errno != 0 { throw FileFault.last }
  }

  private static func show(
    _ entry: UnsafeMutablePointer<dirent>, _ show: (_ name: Span<UInt8>, _ inode: UInt64) -> Void
  ) {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return }
    // Sound: readdir(3) ends d_name by a zero, and the entry stays until the next readdir of the same listing.
    let name = unsafe UnsafeRawPointer(entry) + offset
    let count = unsafe strlen(name.assumingMemoryBound(to: CChar.self))
    let bytes = Span<UInt8>(_bytes: unsafe RawSpan(_unsafeStart: name, byteCount: count))
    if bytes[0] == 0x2E, count == 1 || count == 2 && bytes[1] == 0x2E { return }
    show(bytes, unsafe UInt64(entry.pointee.d_ino))
  }

  // MARK: Opening and asking

  package func open(
    _ path: FilePath, in folder: borrowing OpenFile, _ access: FileAccess
  ) throws(FileFault) -> OpenFile {
    let number = folder.descriptor
    let always = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    switch access {
    case .read:
      var descriptor = unsafe path.withPointer { unsafe openat(number, $0, O_RDONLY | mo_no_atime | always) }
      // O_NOATIME is for a file's owner only (open(2)).
      if descriptor < 0, errno == EPERM {
        descriptor = unsafe path.withPointer { unsafe openat(number, $0, O_RDONLY | always) }
      }
      return OpenFile(descriptor: try checked(descriptor))
    case .create(let permissions):
      let flags = O_RDWR | O_CREAT | O_EXCL | always
      return OpenFile(
        descriptor: try checked(unsafe path.withPointer { unsafe openat(number, $0, flags, permissions) }))
    case .update:
      let flags = O_RDWR | O_CREAT | always
      return OpenFile(descriptor: try checked(unsafe path.withPointer { unsafe openat(number, $0, flags, 0o600) }))
    }
  }

  package func info(of file: borrowing OpenFile) throws(FileFault) -> FileInfo {
    var status = stat()
    try done(unsafe fstat(file.descriptor, &status))
    let modified = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    return FileInfo(
      kind: kind(status.st_mode), permissions: status.st_mode & 0o7777, owner: status.st_uid,
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), bytes: Int(status.st_size), modified: modified,
      born: 0)
  }

  package func info(of path: FilePath, in folder: borrowing OpenFile) throws(FileFault) -> FileInfo {
    let number = folder.descriptor
    var status = mo_file_info()
    try done(unsafe path.withPointer { path in unsafe mo_file_info(number, path, &status) })
    return FileInfo(
      kind: kind(status.mode), permissions: status.mode & 0o7777, owner: status.owner,
      device: status.device, inode: status.inode, bytes: Int(status.bytes), modified: status.modified,
      born: status.born)
  }

  private func kind(_ mode: mode_t) -> FileInfo.Kind {
    switch mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .folder
    default: .other
    }
  }

  package func space(around folder: borrowing OpenFile) throws(FileFault) -> FileSpace {
    var status = statvfs()
    try done(unsafe fstatvfs(folder.descriptor, &status))
    let block = Int64(clamping: status.f_frsize)
    return FileSpace(
      free: Int(Int64(clamping: status.f_bavail).clampedMultiply(by: block)),
      total: Int(Int64(clamping: status.f_blocks).clampedMultiply(by: block)))
  }

  // MARK: Bytes

  package func read(_ file: borrowing OpenFile, at offset: Int, count: Int) throws(FileFault) -> HeldBytes {
    let number = file.descriptor
    return try unsafe HeldBytes(capacity: count) { (start) throws(FileFault) -> Int in
      while true {
        let result = unsafe pread(number, start, count, offset)
        if result >= 0 { return result }
        if errno != EINTR { throw FileFault.last }
      }
    }
  }

  package func write(_ bytes: RawSpan, to file: borrowing OpenFile, at offset: Int) throws(FileFault) -> Int {
    let number = file.descriptor
    while true {
      let result = unsafe bytes.withUnsafeBytes { unsafe pwrite(number, $0.baseAddress, $0.count, offset) }
      if result >= 0 { return result }
      if errno != EINTR { throw FileFault.last }
    }
  }

  package func map(_ file: borrowing OpenFile, count: Int, isWritable: Bool) throws(FileFault) -> HeldBytes {
    guard count > 0 else { throw FileFault.badPath }
    let protection = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
    let start = unsafe mmap(nil, count, protection, MAP_SHARED, file.descriptor, 0)
    guard let start = unsafe start, unsafe start != UnsafeMutableRawPointer(bitPattern: -1) else {
      throw FileFault.last
    }
    return unsafe HeldBytes(mapped: start, count: count)
  }

  package func allocate(_ count: Int, for file: borrowing OpenFile) throws(FileFault) {
    let result = posix_fallocate(file.descriptor, 0, count)
    if result != 0 { throw FileFault(number: result) }
  }

  package func sync(_ file: borrowing OpenFile) throws(FileFault) { try done(fsync(file.descriptor)) }

  // MARK: Names

  package func rename(_ from: FilePath, to path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    let number = folder.descriptor
    try done(unsafe from.withPointer { from in unsafe path.withPointer { unsafe renameat(number, from, number, $0) } })
  }

  package func renameNew(_ from: FilePath, to path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    let number = folder.descriptor
    try done(unsafe from.withPointer { from in unsafe path.withPointer { unsafe mo_rename_new(number, from, $0) } })
  }

  package func exchange(_ one: FilePath, _ other: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    let number = folder.descriptor
    try done(
      unsafe one.withPointer { one in unsafe other.withPointer { unsafe mo_rename_exchange(number, one, $0) } })
  }

  package func link(
    _ file: borrowing OpenFile, to path: FilePath, in folder: borrowing OpenFile
  ) throws(FileFault) {
    let number = folder.descriptor
    // The way of linkat(2) to name an open file without privileges.
    let open = "/proc/self/fd/\(file.descriptor)"
    try done(unsafe path.withPointer { unsafe linkat(AT_FDCWD, open, number, $0, AT_SYMLINK_FOLLOW) })
  }

  package func remove(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    let number = folder.descriptor
    try done(unsafe path.withPointer { unsafe unlinkat(number, $0, 0) })
  }

  package func removeFolder(_ path: FilePath, in folder: borrowing OpenFile) throws(FileFault) {
    let number = folder.descriptor
    try done(unsafe path.withPointer { unsafe unlinkat(number, $0, AT_REMOVEDIR) })
  }

  // MARK: Times and locks

  package func setModified(_ time: WallTime, of file: borrowing OpenFile) throws(FileFault) {
    let nanoseconds = Int(time.milliseconds - time.seconds * 1000) * 1_000_000
    let times = [
      timespec(tv_sec: 0, tv_nsec: mo_time_omit), timespec(tv_sec: Int(time.seconds), tv_nsec: nanoseconds),
    ]
    try done(unsafe futimens(file.descriptor, times))
  }

  package func lock(_ file: borrowing OpenFile, isShared: Bool) throws(FileFault) -> Bool {
    if flock(file.descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 { return true }
    if errno == EWOULDBLOCK { return false }
    throw FileFault.last
  }

  package func yield() { sched_yield() }

  private func checked(_ descriptor: Int32) throws(FileFault) -> Int32 {
    if descriptor < 0 { throw FileFault.last }
    return descriptor
  }

  private func done(_ result: Int32) throws(FileFault) {
    if result != 0 { throw FileFault.last }
  }
}

extension FilePath {
  /// Sound: the bytes hold the zero that ends the path, and the pointer is used during the call only.
  fileprivate func withPointer<Result>(_ use: (UnsafePointer<CChar>) -> Result) -> Result {
    withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { preconditionFailure("A path has at least its zero.") }
        return unsafe use(start.assumingMemoryBound(to: CChar.self))
      }
    }
  }
}
