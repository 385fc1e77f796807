import Glibc
import ManagedObjects

/// The least that a cache with a file an entry can do, by bare system calls: 256 folders, the name by the digits of a
/// hash that is given, put as open, write, close, rename, get as open, fstat, read, close. Nothing is checked.
final class PosixFloor {
  private let root: Int32
  private var made = [Bool](repeating: false, count: 256)

  init(folder: String) {
    mkdir(folder, 0o700)
    root = open(folder, O_RDONLY | O_DIRECTORY)
  }

  deinit { close(root) }

  func put(_ name: FloorName, _ body: [UInt8]) -> Bool {
    var temp = name.path
    temp.insert(0x74, at: temp.count - 1)
    if !made[Int(name.shard)] {
      mkdirat(root, name.folder.map { CChar(bitPattern: $0) }, 0o700)
      made[Int(name.shard)] = true
    }
    let file = path(temp) { openat(root, $0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
    let written = body.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
    close(file)
    return written == body.count && path(temp) { from in path(name.path) { renameat(root, from, root, $0) } } == 0
  }

  /// nil: a miss.
  func get(_ name: FloorName) -> FloorBody? {
    read(name) { bytes in FloorBody(count: bytes.count, number: Self.number(bytes, at: 0)) }
  }

  // MARK: What a cache needs beside

  /// The same with a head in front, of which the first eight bytes are the checksum of all that follows.
  func put(_ name: FloorName, _ body: [UInt8], behind headBytes: Int) -> Bool {
    var record = [UInt8](repeating: 0, count: headBytes) + body
    let checksum = StreamingChecksum.of(record.span.bytes.extracting(8..<record.count))
    for place in 0..<8 { record[place] = UInt8(truncatingIfNeeded: checksum >> UInt64(8 * place)) }
    return put(name, record)
  }

  /// Checks all of it, and hands the body out where it was read to; nil: a miss, or damaged.
  func get(_ name: FloorName, behind headBytes: Int) -> FloorBody? {
    let body: FloorBody?? = read(name) { bytes in
      guard bytes.count >= headBytes else { return nil }
      let checked = RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: bytes[8...]))
      guard StreamingChecksum.of(checked) == UInt64(bitPattern: Int64(Self.number(bytes, at: 0))) else { return nil }
      return FloorBody(count: bytes.count - headBytes, number: Self.number(bytes, at: headBytes))
    }
    return body ?? nil
  }

  private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
    bytes.count >= offset + 8 ? bytes.loadUnaligned(fromByteOffset: offset, as: Int.self).littleEndian : 0
  }

  private func read<Result>(_ name: FloorName, _ use: (UnsafeRawBufferPointer) -> Result) -> Result? {
    let file = path(name.path) { openat(root, $0, O_RDONLY | O_CLOEXEC) }
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return nil }
    // As any cache must, it gives memory away that somebody else frees.
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(8, Int(status.st_size)), alignment: 16)
    defer { bytes.deallocate() }
    let count = Glibc.read(file, bytes, Int(status.st_size))
    return count < 0 ? nil : use(UnsafeRawBufferPointer(start: bytes, count: count))
  }

  func contains(_ name: FloorName) -> Bool {
    var status = stat()
    return path(name.path) { fstatat(root, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
  }

  /// The bare loop of a trim: lists, asks for each file's date, sorts, removes the oldest.
  func trim(to limitEntries: Int) {
    var found: [(shard: Int, name: String, date: Int)] = []
    list { shard, folder, name in
      var status = stat()
      fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW)
      found.append((shard, name, status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec))
    }
    found.sort { $0.date < $1.date }
    for entry in found.prefix(max(0, found.count - limitEntries)) {
      let folder = FloorName(shard: UInt8(entry.shard)).folder.dropLast()
      unlinkat(root, String(decoding: folder, as: UTF8.self) + "/" + entry.name, 0)
    }
  }

  func count() -> Int {
    var count = 0
    list { _, _, _ in count += 1 }
    return count
  }

  private func list(_ show: (_ shard: Int, _ folder: Int32, _ name: String) -> Void) {
    for shard in 0..<256 {
      let folder = openat(root, FloorName(shard: UInt8(shard)).folder.map { CChar(bitPattern: $0) }, O_RDONLY)
      guard folder >= 0, let listing = fdopendir(folder) else { continue }
      while let entry = readdir(listing) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        guard name.utf8.count == 32 else { continue }
        show(shard, dirfd(listing), name)
      }
      closedir(listing)
    }
  }

  private func path<Result>(_ bytes: [UInt8], _ use: (UnsafePointer<CChar>) -> Result) -> Result {
    bytes.withUnsafeBytes { use($0.baseAddress!.assumingMemoryBound(to: CChar.self)) }
  }
}

/// What a get brought: its length, and the number that its first eight bytes are.
struct FloorBody: Equatable {
  var count: Int
  var number: Int
}

/// "a7/a7c9…(32 digits)", from the first 16 bytes of a digest.
struct FloorName {
  let shard: UInt8
  let path: [UInt8]
  let folder: [UInt8]

  private static let digits = Array("0123456789abcdef".utf8)

  init(digest: [UInt8]) {
    shard = digest[0]
    let hex = digest.prefix(16).flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
    folder = Array(hex[0..<2]) + [0]
    path = Array(hex[0..<2]) + [0x2F] + hex + [0]
  }

  init(shard: UInt8) {
    self.shard = shard
    path = [0]
    folder = [Self.digits[Int(shard >> 4)], Self.digits[Int(shard & 15)], 0]
  }
}
