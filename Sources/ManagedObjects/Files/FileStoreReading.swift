extension FileStore {
  /// Bodies up to here are read and verified at every look-up and handed out from memory.
  static let limitHeldBytes = 1 << 20

  func lookUp(_ key: EntryKey) throws(ObjectError) -> FileLease? {
    guard let folder = openFolder() else {
      tally.miss()
      return nil
    }
    let name = EntryName(key)
    do throws(EntryTrouble) {
      let lease = try read(key, name, in: folder)
      tally.hit()
      folder.counters.noteHit()
      return lease
    } catch {
      tally.miss()
      folder.counters.noteMiss()
      switch error {
      case .missing: break
      case .bad(let info): heal(name, seen: info, in: folder)
      case .fault(let fault):
        throw ObjectError(fault, "An entry in the cache folder \(path) could not be read")
      }
      return nil
    }
  }

  private func read(_ key: EntryKey, _ name: EntryName, in folder: StoreFolder) throws(EntryTrouble) -> FileLease {
    do throws(EntryTrouble) { return try readOnce(key, name, in: folder) } catch {
      // Its body was missing or another: the entry may have been replaced between the two.
      guard case .bad = error else { throw error }
      return try readOnce(key, name, in: folder)
    }
  }

  private func readOnce(_ key: EntryKey, _ name: EntryName, in folder: StoreFolder) throws(EntryTrouble) -> FileLease {
    let entry = try fileSystem.readEntry(name, in: folder, isWhole: true)
    guard entry.belongs(to: key) else { throw .bad(entry.info) }
    let now = time.wallNow
    if isExpired(entry, now: now) {
      if fileSystem.isUnchanged(folder.paths.head(name), since: entry.info, in: folder.root) { take(name, in: folder) }
      throw .missing
    }
    let body: FileLease.Body
    switch entry.format.place {
    case .inside:
      guard entry.isInsideGood else { throw .bad(entry.info) }
      body = .held(entry.bytes, entry.insideRange)
    case .ownFile:
      body = try self.body(of: entry, name, in: folder)
    }
    touch(entry, now: now, folder)
    return FileLease(head: .stored(entry.format, entry.bytes), body: body, folder: folder, fileSystem: fileSystem)
  }

  // MARK: Large bodies

  private func body(
    of entry: borrowing EntryReading, _ name: EntryName, in folder: StoreFolder
  ) throws(EntryTrouble) -> FileLease.Body {
    let format = entry.format
    let file: OpenFile
    do throws(EntryTrouble) {
      file = try fileSystem.openEntry(folder.paths.body(name, generation: format.generation), in: folder)
    } catch {
      if case .fault = error { throw error }
      throw .bad(entry.info)
    }
    do throws(FileFault) {
      let info = try fileSystem.info(of: file)
      guard info.kind == .file, info.bytes == format.bodyCount else { throw FileFault.badPath }
      if format.bodyCount <= Self.limitHeldBytes {
        let bytes = try fileSystem.read(file, at: 0, count: format.bodyCount)
        guard bytes.count == format.bodyCount,
          bytes.withBytes({ StreamingChecksum.of($0) }) == format.bodyChecksum
        else { throw FileFault.badPath }
        return .held(bytes, 0..<format.bodyCount)
      }
      if verification == .always || !verified.contains(info, checksum: format.bodyChecksum) {
        guard try fileSystem.checksum(of: file, count: format.bodyCount) == format.bodyChecksum else {
          throw FileFault.badPath
        }
        verified.insert(info, checksum: format.bodyChecksum)
      }
    } catch {
      throw error == FileFault.badPath ? .bad(entry.info) : .fault(error)
    }
    return .file(HeldFile(file), count: format.bodyCount)
  }

  // MARK: Use and age

  func isExpired(_ entry: borrowing EntryReading, now: WallTime) -> Bool {
    if let limit = limits.limitAge, now - entry.format.storedTime > limit { return true }
    return isUnused(since: entry.info.modified, now: now)
  }

  private func isUnused(since modified: Int64, now: WallTime) -> Bool {
    limits.limitUnused.map { now - WallTime(milliseconds: modified / 1_000_000) > $0 } ?? false
  }

  private func touch(_ entry: borrowing EntryReading, now: WallTime, _ folder: StoreFolder) {
    let age = now.milliseconds.clampedAdd(0 - entry.info.modified / 1_000_000)
    guard TouchRule.isDue(age: age, turnover: turnover(folder, now: now), limitUnused: limitUnusedMilliseconds) else {
      return
    }
    // A folder that is read-only keeps its dates.
    try? fileSystem.setModified(now, of: entry.file)
  }

  /// How long an entry stays unused before it is evicted, in milliseconds; nil: unknown.
  private func turnover(_ folder: StoreFolder, now: WallTime) -> Int64? {
    if let known = folder.counters.evictedAge { return known }
    return folder.counters.oldestAge(now: now).map { TouchRule.turnover(oldestAge: $0, fill: fill(of: folder)) }
  }

  /// The part of the limits that is in use, as of the last commit that looked at them.
  private func fill(of folder: StoreFolder) -> Double {
    if let known = tally.fill { return known }
    let fill = LimitRule(limits, total: folder.counters.total, space: nil).fill(folder.counters.total)
    tally.fill = fill
    return fill
  }

  func touch(_ key: EntryKey) {
    guard let folder = openFolder() else { return }
    let name = EntryName(key)
    guard folder.hasShard(folder.paths.shard(of: name)),
      let file = try? fileSystem.openEntry(folder.paths.head(name), in: folder)
    else { return }
    try? fileSystem.setModified(time.wallNow, of: file)
  }

  /// One fstatat; only an age limit, which stands in the head, needs more.
  func contains(_ key: EntryKey) -> Bool {
    guard let folder = openFolder() else { return false }
    let name = EntryName(key)
    guard folder.hasShard(folder.paths.shard(of: name)),
      let info = try? fileSystem.info(of: folder.paths.head(name), in: folder.root),
      info.kind == .file, info.bytes >= EntryFormat.fixedBytes
    else { return false }
    guard limits.limitAge != nil || limits.limitUnused != nil else { return true }
    do throws(EntryTrouble) {
      return !isExpired(try fileSystem.readEntry(name, in: folder, isWhole: false), now: time.wallNow)
    } catch {
      return false
    }
  }

  func mayHold(_ kind: EntryKey.Kind) -> Bool { kind != .error || openFolder()?.counters.mayHoldErrors ?? true }

  // MARK: Healing

  /// Removes what is no good entry, unless it has been replaced since it was looked at.
  /// - Returns: whether it was removed.
  @discardableResult
  func heal(_ name: EntryName, seen: FileInfo?, in folder: StoreFolder) -> Bool {
    guard let seen, fileSystem.isUnchanged(folder.paths.head(name), since: seen, in: folder.root),
      take(name, in: folder) == nil
    else { return false }
    tally.heal()
    folder.counters.noteHealed()
    return true
  }
}
