extension FileStore {
  func begin(_ key: EntryKey, expectedBytes: Int?) throws(ObjectError) -> EntryWriter {
    if let expectedBytes { try checkSize(expectedBytes) }
    let folder = try folderForWriting()
    if key.kind == .error { folder.counters.noteError() }
    return EntryWriter(FileEntryWriter(key, store: self, folder: folder))
  }

  func checkSize(_ bytes: Int) throws(ObjectError) {
    guard let limit = limits.limitBytes, bytes > limit else { return }
    throw ObjectError(.tooLarge, "A body of \(bytes) bytes is larger than the whole cache may be, \(limit) bytes.")
  }

  // MARK: Making an entry visible

  /// Writes the head, with a small body behind it, and puts it in place of what is there.
  func publish(_ name: EntryName, _ bytes: [UInt8], _ bodyBytes: Int, in folder: StoreFolder) throws(FileFault) {
    try write(bytes, of: name, in: folder) { (temp) throws(FileFault) in
      try putInPlace(temp, name, charge: chargedBytes(bytes.count, bodyBytes), in: folder)
    }
  }

  /// Writes a head under a name of its own, and has it put in place.
  private func write<Result>(
    _ bytes: [UInt8], of name: EntryName, in folder: StoreFolder, thenPut put: (FilePath) throws(FileFault) -> Result
  ) throws(FileFault) -> Result {
    let shard = folder.paths.shard(of: name)
    let result: Result
    let temp = folder.paths.temp(folder.uniqueName(), in: shard)
    let file = try create(temp, in: shard, folder)
    do throws(FileFault) {
      // Held until the name is the entry's, so that no sweeper takes it for a leftover.
      _ = try fileSystem.lock(file, isShared: false)
      try fileSystem.writeAll(bytes, to: file)
      if durability == .data { try fileSystem.sync(file) }
      result = try put(temp)
    } catch {
      try? fileSystem.remove(temp, in: folder.root)
      throw error
    }
    if durability == .data { try syncShard(shard, folder) }
    return result
  }

  private func create(_ path: FilePath, in shard: Int, _ folder: StoreFolder) throws(FileFault) -> OpenFile {
    do throws(FileFault) {
      try folder.makeShard(shard)
      return try fileSystem.open(path, in: folder.root, .create(permissions: 0o600))
    } catch {
      guard error.isMissing else { throw error }
    }
    // Somebody emptied the folder, or deleted it.
    noticeEmptied(folder)
    try folder.makeShard(shard)
    return try fileSystem.open(path, in: folder.root, .create(permissions: 0o600))
  }

  /// A shard went away, and so may all else that makes the folder a cache: the next call opens it anew, which makes what
  /// is missing.
  func noticeEmptied(_ folder: StoreFolder) {
    folder.forgetShards()
    reopen(folder)
  }

  private func putInPlace(
    _ temp: FilePath, _ name: EntryName, charge: Int, in folder: StoreFolder
  ) throws(FileFault) {
    let head = folder.paths.head(name)
    let shard = folder.paths.shard(of: name)
    do throws(FileFault) {
      try fileSystem.moveNew(temp, to: head, in: folder.root)
      return folder.counters.add(entries: 1, bytes: charge, to: shard)
    } catch {
      guard error.isTaken else { throw error }
    }
    let old = describe(name, in: folder)
    if old == nil { try? fileSystem.removeAny(head, in: folder.root) }
    try fileSystem.rename(temp, to: head, in: folder.root)
    folder.counters.add(entries: old == nil ? 1 : 0, bytes: charge - (old?.charge ?? 0), to: shard)
    removeReplacedBody(of: old, name, in: folder)
  }

  /// The body of the entry that was replaced, unless the new head names it too, as after a 304.
  private func removeReplacedBody(of old: Described?, _ name: EntryName, in folder: StoreFolder) {
    guard let generation = old?.ownFile else { return }
    do throws(EntryTrouble) {
      let entry = try fileSystem.readEntry(name, in: folder, isWhole: false)
      if entry.format.place == .ownFile, entry.format.generation == generation { return }
    } catch {
      // It may name it: if not, the body is swept as a leftover.
      if case .fault = error { return }
    }
    try? fileSystem.remove(folder.paths.body(name, generation: generation), in: folder.root)
  }

  private func syncShard(_ shard: Int, _ folder: StoreFolder) throws(FileFault) {
    try fileSystem.sync(try fileSystem.open(folder.paths.shard(shard), in: folder.root, .read))
  }

  // MARK: What is there

  struct Described {
    var charge: Int
    /// The generation of a body in a file of its own.
    var ownFile: UInt64?
  }

  /// nil: nothing, or no good entry.
  func describe(_ name: EntryName, in folder: StoreFolder) -> Described? {
    guard folder.hasShard(folder.paths.shard(of: name)) else { return nil }
    return describe(folder.paths.head(name), in: folder)
  }

  private func describe(_ path: FilePath, in folder: StoreFolder) -> Described? {
    do throws(EntryTrouble) {
      let entry = try fileSystem.readEntry(at: path, in: folder, isWhole: false)
      return Described(charge: entry.charge, ownFile: entry.format.place == .ownFile ? entry.format.generation : nil)
    } catch {
      return nil
    }
  }

  // MARK: Changing and removing

  /// Others may renew the same entry at the same time, but not so often while one does.
  private static let limitUpdates = 16

  func update(_ key: EntryKey, _ facts: EntryFacts) throws(ObjectError) {
    let folder = try folderForWriting()
    do throws(EntryTrouble) {
      for _ in 0..<Self.limitUpdates { if try updateOnce(key, facts, in: folder) { return } }
      throw .fault(.taken)
    } catch {
      guard case .fault(let fault) = error else { return }
      throw ObjectError(fault, "An entry in the cache folder \(path) could not be renewed")
    }
  }

  /// - Returns: false: it is not the entry any more that was read; it may be the same body's still.
  private func updateOnce(
    _ key: EntryKey, _ facts: EntryFacts, in folder: StoreFolder
  ) throws(EntryTrouble) -> Bool {
    let name = EntryName(key)
    let entry = try fileSystem.readEntry(name, in: folder, isWhole: true)
    let format = entry.format
    guard entry.belongs(to: key), format.generation == facts.generation else { return true }
    let body = EntryFormat.Body(
      count: format.bodyCount, checksum: format.bodyChecksum, storedTime: format.storedTime, place: format.place)
    guard var bytes = EntryFormat.encode(key, facts, body, reserving: format.bodyCount) else {
      throw .fault(.badPath)
    }
    if format.place == .inside { entry.bytes.withBytes { bytes.append($0.extracting(entry.insideRange)) } }
    let charge = chargedBytes(bytes.count, format.place == .ownFile ? format.bodyCount : 0)
    do throws(FileFault) {
      // The entry stays open meanwhile, or its inode could be that of a new file.
      return try write(bytes, of: name, in: folder) { (temp) throws(FileFault) in
        try exchange(temp, name, for: entry.info.inode, charge: charge, in: folder)
      }
    } catch { throw .fault(error) }
  }

  /// Puts a renewed head in the place of the one that was read, and nothing in the place of another.
  ///
  /// Nothing can be replaced on a condition. So the two are exchanged, and what came out tells whether in the last moment
  /// another was committed: that goes back at once, and it is looked what comes out for it, since somebody may have been
  /// quicker once more. So what was committed last stays, and what was removed stays away.
  /// - Returns: whether it was put there.
  private func exchange(
    _ temp: FilePath, _ name: EntryName, for read: UInt64, charge: Int, in folder: StoreFolder
  ) throws(FileFault) -> Bool {
    let head = folder.paths.head(name)
    var expected: UInt64? = read
    var isPut = false
    var isOver = inode(of: head, in: folder) != expected
    while !isOver {
      let new = inode(of: temp, in: folder)
      do throws(FileFault) {
        try fileSystem.exchangeOrReplace(temp, head, in: folder.root)
      } catch {
        guard error.isMissing else { throw error }
        break
      }
      let old = inode(of: temp, in: folder)
      isOver = old == nil || old == expected
      isPut = isOver && expected == read
      expected = new
    }
    discard(temp, name, chargedInstead: charge, in: folder)
    return isPut
  }

  private func inode(of path: FilePath, in folder: StoreFolder) -> UInt64? {
    (try? fileSystem.info(of: path, in: folder.root))?.inode
  }

  /// Removes what came out of an exchange, with its body unless the entry has the same.
  private func discard(_ temp: FilePath, _ name: EntryName, chargedInstead charge: Int, in folder: StoreFolder) {
    let old = describe(temp, in: folder)
    try? fileSystem.remove(temp, in: folder.root)
    folder.counters.add(entries: 0, bytes: charge - (old?.charge ?? charge), to: folder.paths.shard(of: name))
    removeReplacedBody(of: old, name, in: folder)
  }

  func remove(_ key: EntryKey) throws(ObjectError) {
    guard let folder = openFolder() else { return }
    if let fault = take(EntryName(key), in: folder) {
      throw ObjectError(fault, "An entry in the cache folder \(path) could not be removed")
    }
  }

  /// Removes an entry, its head first, so that it is a miss from then on; nil: it is gone.
  @discardableResult
  func take(_ name: EntryName, in folder: StoreFolder) -> FileFault? {
    let shard = folder.paths.shard(of: name)
    guard folder.hasShard(shard) else { return nil }
    let old = describe(name, in: folder)
    do throws(FileFault) { try fileSystem.removeAny(folder.paths.head(name), in: folder.root) } catch {
      return error.isMissing ? nil : error
    }
    if let generation = old?.ownFile {
      try? fileSystem.remove(folder.paths.body(name, generation: generation), in: folder.root)
    }
    // Of what was no good entry it is not known what it was counted as; the next visit sets that right.
    folder.counters.add(entries: -1, bytes: -(old?.charge ?? 4096), to: shard)
    return nil
  }
}
