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
    let shard = folder.paths.shard(of: name)
    let temp = folder.paths.temp(folder.uniqueName(), in: shard)
    let file = try create(temp, in: shard, folder)
    do throws(FileFault) {
      // Held until the name is the entry's, so that no sweeper takes it for a leftover.
      _ = try fileSystem.lock(file, isShared: false)
      try fileSystem.writeAll(bytes, to: file)
      if durability == .data { try fileSystem.sync(file) }
      try putInPlace(temp, name, charge: chargedBytes(bytes.count, bodyBytes), in: folder)
    } catch {
      try? fileSystem.remove(temp, in: folder.root)
      throw error
    }
    if durability == .data { try syncShard(shard, folder) }
  }

  private func create(_ path: FilePath, in shard: Int, _ folder: StoreFolder) throws(FileFault) -> OpenFile {
    do throws(FileFault) {
      try folder.makeShard(shard)
      return try fileSystem.open(path, in: folder.root, .create(permissions: 0o600))
    } catch {
      guard error.isMissing else { throw error }
    }
    // Somebody emptied the folder, or deleted it.
    folder.forgetShards()
    do throws(FileFault) {
      try folder.makeShard(shard)
      return try fileSystem.open(path, in: folder.root, .create(permissions: 0o600))
    } catch {
      if error.isMissing { reopen(folder) }
      throw error
    }
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
    if let now = describe(name, in: folder), now.ownFile == generation { return }
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
    do throws(EntryTrouble) {
      let entry = try fileSystem.readEntry(name, in: folder, isWhole: false)
      return Described(charge: entry.charge, ownFile: entry.format.place == .ownFile ? entry.format.generation : nil)
    } catch {
      return nil
    }
  }

  // MARK: Changing and removing

  func update(_ key: EntryKey, _ facts: EntryFacts) throws(ObjectError) {
    let folder = try folderForWriting()
    let name = EntryName(key)
    do throws(EntryTrouble) {
      let entry = try fileSystem.readEntry(name, in: folder, isWhole: true)
      guard entry.belongs(to: key), entry.format.generation == facts.generation else { return }
      let format = entry.format
      let body = EntryFormat.Body(
        count: format.bodyCount, checksum: format.bodyChecksum, storedTime: format.storedTime, place: format.place)
      guard var bytes = EntryFormat.encode(key, facts, body, reserving: format.bodyCount) else {
        throw .fault(.badPath)
      }
      if format.place == .inside {
        entry.bytes.withBytes { bytes.append($0.extracting(entry.insideRange)) }
      }
      do throws(FileFault) {
        try publish(name, bytes, format.place == .ownFile ? format.bodyCount : 0, in: folder)
      } catch { throw .fault(error) }
    } catch {
      guard case .fault(let fault) = error else { return }
      throw ObjectError(fault, "An entry in the cache folder \(path) could not be renewed")
    }
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
