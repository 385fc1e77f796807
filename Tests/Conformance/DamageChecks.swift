import Foundation
import ManagedObjects

/// What may become of a file while no program looks.
private enum Damage: CaseIterable {
  case emptied, halved, lengthened, flipped, zeros

  func apply(to file: URL) throws {
    var bytes = try Data(contentsOf: file)
    switch self {
    case .emptied: bytes = Data()
    case .halved: bytes = bytes.prefix(bytes.count / 2)
    case .lengthened: bytes += Data(repeating: 7, count: 10)
    case .flipped: bytes[bytes.count * 3 / 4] ^= 0x40
    case .zeros: bytes = Data(count: bytes.count)
    }
    // Into the file itself, as damage does, and not by rename.
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: bytes)
    try handle.close()
  }
}

extension Check {
  static let damage = [
    Check("damaged files are misses that heal, and never other bytes", needs: [.verifies, .persists]) { room in
      for damage in Damage.allCases {
        for size in [5000, 200_000, 3 << 20] { try check(damage, size, room) }
      }
    }
  ]

  private static func check(_ damage: Damage, _ size: Int, _ room: Room) throws {
    let names = (0..<4).map { "\(damage) \(size) \($0)" }
    for name in names.dropFirst() { try room.open().put(name, count: size) }
    let before = states(of: files(in: room.cacheFolder))
    try room.open().put(names[0], count: size)
    for file in try files(holding: names[0], size, before, room) { try damage.apply(to: file) }
    let cache = try room.open()
    for name in names {
      guard let found = (try? cache.lookUp(key(name))).flatMap({ try? $0?.data() }) else { continue }
      try expect(found == Content.body(of: name, version: 0, count: size), "\(name): other bytes")
    }
    for name in names { try cache.put(name, version: 1, count: size) }
    for name in names { try cache.expect(name, version: 1, count: size) }
    guard room.promises.contains(.lists) else { return }
    let result = try cache.verify(repairs: true) { _ in }
    try expect(result.badEntries == 0, "\(damage), \(size) bytes: damaged entries are left")
  }

  /// Files that hold a body can be told by its last bytes; where they are packed or encoded, it is all files that were
  /// written when it was put.
  private static func files(
    holding name: String, _ size: Int, _ before: [URL: FileState], _ room: Room
  ) throws -> [URL] {
    let all = states(of: files(in: room.cacheFolder)).filter { $0.value.bytes > 0 }
    let ending = Content.body(of: name, version: 0, count: size).suffix(32)
    let plain = try all.keys.filter { try Data(contentsOf: $0).range(of: ending) != nil }
    if !plain.isEmpty { return plain }
    let written = all.filter { before[$0.key] != $0.value }.map(\.key)
    try expect(!written.isEmpty, "\(size) bytes: no file in the folder was written for them, so none can be damaged")
    return written
  }

  private struct FileState: Equatable {
    var bytes: Int
    var modified: Date
  }

  private static func states(of files: [URL]) -> [URL: FileState] {
    var states: [URL: FileState] = [:]
    for file in files {
      let facts = try? FileManager.default.attributesOfItem(atPath: file.path)
      guard let bytes = facts?[.size] as? Int, let modified = facts?[.modificationDate] as? Date else { continue }
      states[file] = FileState(bytes: bytes, modified: modified)
    }
    return states
  }

  private static func files(in folder: URL) -> [URL] {
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
    return (all?.compactMap { $0 as? URL } ?? []).filter {
      (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
    }
  }
}
