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
  /// Could not be listed, or not to the end: what is in them is not known.
  var unlisted: [Int: FileFault] = [:]
  /// Something that has an entry's name and is no file.
  var junk: [EntryName] = []
  /// Of all files of a name with body but without head.
  var orphans: [EntryName] { bodies.keys.filter { !names.contains($0) } }
  private var names: Set<EntryName> = []
}

extension FileStore {
  func list(_ shards: Range<Int>, in folder: StoreFolder, _ pace: inout Pace) -> ShardListing {
    var listing = ShardListing()
    for shard in shards where folder.hasShard(shard) {
      // Its files are named from inside: to go there once for each by way of the folder takes a fifth longer.
      do throws(FileFault) {
        let place = try fileSystem.open(folder.paths.shard(shard), in: folder.root, .read)
        try list(shard, at: place, in: folder, into: &listing, &pace)
      } catch {
        if !error.isMissing { listing.unlisted[shard] = error }
      }
      pace.step(fileSystem)
    }
    return listing
  }

  /// Lists a shard and asks for the date and size of each file, in the order of inodes: half the time when the file
  /// system has to read them from disk.
  private func list(
    _ shard: Int, at place: borrowing OpenFile, in folder: StoreFolder, into listing: inout ShardListing,
    _ pace: inout Pace
  ) throws(FileFault) {
    let paths = folder.paths
    var heads: [(name: EntryName, inode: UInt64)] = []
    var bodies: [(name: EntryName, generation: UInt64)] = []
    var temps: [FilePath] = []
    try fileSystem.list(EntryPaths.itself, in: place) { name, inode in
      switch ListedName(name) {
      case .head(let name) where paths.shard(of: name) == shard: heads.append((name, inode))
      case .body(let name, let generation) where paths.shard(of: name) == shard: bodies.append((name, generation))
      case .temp:
        if let valid = try? UTF8Span(validating: name) { temps.append(paths.listed(String(copying: valid), in: shard)) }
      default: break
      }
    }
    listing.temps += temps
    for (name, generation) in bodies {
      pace.step(fileSystem)
      guard let info = try existing(EntryPaths.bodyInShard(name, generation: generation), in: place) else { continue }
      listing.add(
        ShardListing.Body(generation: generation, bytes: min(info.bytes, 1 << 44), modified: info.modified), of: name)
    }
    heads.sort { $0.inode < $1.inode }
    for (name, _) in heads {
      pace.step(fileSystem)
      guard let info = try existing(EntryPaths.headInShard(name), in: place) else { continue }
      listing.add(name, info)
    }
  }

  /// nil: it has gone since it was listed.
  private func existing(_ path: FilePath, in place: borrowing OpenFile) throws(FileFault) -> FileInfo? {
    do throws(FileFault) { return try fileSystem.info(of: path, in: place) } catch {
      if error.isMissing { return nil }
      throw error
    }
  }
}

extension ShardListing {
  fileprivate mutating func add(_ body: Body, of name: EntryName) { bodies[name, default: []].append(body) }

  fileprivate mutating func add(_ name: EntryName, _ info: FileInfo) {
    guard info.kind == .file else { return junk.append(name) }
    let bodyBytes = bodies.isEmpty ? 0 : bodies[name, default: []].reduce(0) { $0 + $1.bytes }
    if bodyBytes > 0 { names.insert(name) }
    entries.append(
      TrimRule.Item(
        name: name, inode: info.inode, charge: chargedBytes(info.bytes, bodyBytes), lastUse: info.modified,
        stored: info.born))
  }
}

/// Lets others run every two milliseconds of a long piece of work.
struct Pace {
  static let slice = Duration.milliseconds(2)
  private let time: any TimeSource
  private var steps = 0
  private var start: Moment
  /// The longest time in which others were not let run.
  private(set) var longest = Duration.zero

  init(_ time: any TimeSource) {
    self.time = time
    start = time.now
  }

  mutating func step(_ fileSystem: any FileSystem) {
    steps += 1
    // A clock costs a hundredth of a system call, and a step is at least one.
    guard steps.isMultiple(of: 32), time.now - start > Self.slice else { return }
    rest(fileSystem)
  }

  mutating func rest(_ fileSystem: any FileSystem) {
    longest = max(longest, time.now - start)
    fileSystem.yield()
    start = time.now
  }
}
