/// What stands in a run of shards, as one visit sees it.
struct ShardListing {
  struct Body: Hashable {
    var generation: UInt64
    var bytes: Int
    var modified: Int64
  }

  /// Heads, with the bytes of their bodies in the charge.
  var entries: [TrimRule.Item] = []
  var bodies: [EntryName: [Body]] = [:]
  /// Small entries that are, or were, being written.
  var temps: [FilePath] = []
  /// Something that has an entry's name and is no file.
  var junk: [EntryName] = []
  /// Of all files of a name with body but without head.
  var orphans: [EntryName] { bodies.keys.filter { !names.contains($0) } }
  private var names: Set<EntryName> = []
}

extension FileStore {
  /// Lists the shards and asks for the date and size of each file, in the order of inodes: half the time when the
  /// file system has to read them from disk.
  func list(_ shards: Range<Int>, in folder: StoreFolder, _ pace: inout Pace) -> ShardListing {
    var listing = ShardListing()
    var heads: [(name: EntryName, inode: UInt64)] = []
    var bodies: [(name: EntryName, generation: UInt64)] = []
    for shard in shards where folder.hasShard(shard) {
      try? fileSystem.list(folder.paths.shard(shard), in: folder.root) { name, inode in
        switch ListedName(name) {
        case .head(let name) where folder.paths.shard(of: name) == shard: heads.append((name, inode))
        case .body(let name, let generation) where folder.paths.shard(of: name) == shard:
          bodies.append((name, generation))
        case .temp:
          if let valid = try? UTF8Span(validating: name) {
            listing.temps.append(folder.paths.listed(String(copying: valid), in: shard))
          }
        default: break
        }
      }
      pace.step(fileSystem)
    }
    for (name, generation) in bodies {
      pace.step(fileSystem)
      guard let info = try? fileSystem.info(of: folder.paths.body(name, generation: generation), in: folder.root)
      else { continue }
      let body = ShardListing.Body(generation: generation, bytes: min(info.bytes, 1 << 44), modified: info.modified)
      listing.bodies[name, default: []].append(body)
    }
    heads.sort { $0.inode < $1.inode }
    listing.entries.reserveCapacity(heads.count)
    for (name, inode) in heads {
      pace.step(fileSystem)
      guard let info = try? fileSystem.info(of: folder.paths.head(name), in: folder.root) else { continue }
      listing.add(name, inode, info)
    }
    return listing
  }
}

extension ShardListing {
  fileprivate mutating func add(_ name: EntryName, _ inode: UInt64, _ info: FileInfo) {
    guard info.kind == .file else { return junk.append(name) }
    let bodyBytes = bodies.isEmpty ? 0 : bodies[name, default: []].reduce(0) { $0 + $1.bytes }
    if bodyBytes > 0 { names.insert(name) }
    entries.append(
      TrimRule.Item(
        name: name, inode: inode, charge: chargedBytes(info.bytes, bodyBytes), lastUse: info.modified,
        stored: info.born))
  }
}

/// Lets others run every two milliseconds of a long piece of work.
struct Pace {
  static let slice = Duration.milliseconds(2)
  private let time: any TimeSource
  private var steps = 0
  private var start: ContinuousClock.Instant

  init(_ time: any TimeSource) {
    self.time = time
    start = time.now
  }

  mutating func step(_ fileSystem: any FileSystem) {
    steps += 1
    // A clock costs a hundredth of a system call, and a step is at least one.
    guard steps.isMultiple(of: 32), time.now - start > Self.slice else { return }
    fileSystem.yield()
    start = time.now
  }
}
