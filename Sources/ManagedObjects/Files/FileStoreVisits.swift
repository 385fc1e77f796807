/// What walks over shards: each sees some shards at a time and holds nobody up.
extension FileStore {
  /// What a visit may remove for the sake of the limits.
  struct Goal {
    var bytes: Int?
    var entries: Int?
    /// At most this part of the entries at once.
    var part = 1.0
  }

  /// Looks at the shards, removes what is past its time, the least recently used until the goal is met, and leftovers,
  /// and sets the shards' counters to what it saw.
  func visit(
    _ shards: Range<Int>, goal: Goal?, in folder: StoreFolder, until deadline: ContinuousClock.Instant? = nil
  ) -> TrimResult {
    var pace = Pace(time)
    let before = shards.map { folder.counters.rawCount(of: $0) }
    var listing = list(shards, in: folder, &pace)
    let limitVictims = goal.map { max(1, Int(Double(listing.entries.count) * $0.part)) } ?? 0
    let rule = TrimRule(
      goalBytes: goal?.bytes, goalEntries: goal?.entries, limitVictims: limitVictims, limitAge: limits.limitAge,
      limitUnused: limits.limitUnused, now: time.wallNow)
    let count = rule.select(&listing.entries)

    var result = TrimResult()
    result.lookedAtEntries = listing.entries.count
    var removed = 0
    for item in listing.entries[..<count] {
      if let deadline, time.now > deadline { break }
      evict(item, listing, in: folder)
      removed += 1
      result.removedEntries += 1
      result.removedBytes += item.charge
      pace.step(fileSystem)
    }
    result.isDone = removed == count
    noteEvictions(listing.entries[..<removed], rule, folder)
    sweep(listing, in: folder)
    setCounters(shards, before: before, listing.entries[removed...], in: folder)
    if shards.count == folder.paths.shards { noteOldest(listing.entries[removed...], folder) }
    return result
  }

  /// The head first: from then on it is a miss, and its body an orphan that the sweeper finds if we end here.
  private func evict(_ item: TrimRule.Item, _ listing: ShardListing, in folder: StoreFolder) {
    let named = listing.bodies[item.name] == nil ? nil : describe(item.name, in: folder)?.ownFile
    guard (try? fileSystem.remove(folder.paths.head(item.name), in: folder.root)) != nil else { return }
    if let named { try? fileSystem.remove(folder.paths.body(item.name, generation: named), in: folder.root) }
    tally.evict()
  }

  private func noteEvictions(_ victims: ArraySlice<TrimRule.Item>, _ rule: TrimRule, _ folder: StoreFolder) {
    let forRoom = victims.filter { !rule.isExpired($0) }
    guard let newest = forRoom.map(\.lastUse).max() else { return }
    folder.counters.noteEviction(age: rule.now - WallTime(milliseconds: newest / 1_000_000))
  }

  private func noteOldest(_ left: ArraySlice<TrimRule.Item>, _ folder: StoreFolder) {
    guard let oldest = left.map(\.lastUse).min() else { return }
    folder.counters.noteOldest(WallTime(milliseconds: oldest / 1_000_000))
  }

  /// Adds the difference to what was counted before, so that commits made meanwhile stay counted.
  private func setCounters(
    _ shards: Range<Int>, before: [SharedCounters.Count], _ left: ArraySlice<TrimRule.Item>, in folder: StoreFolder
  ) {
    var seen = [SharedCounters.Count](repeating: SharedCounters.Count(), count: shards.count)
    for item in left {
      let at = folder.paths.shard(of: item.name) - shards.lowerBound
      seen[at].entries += 1
      seen[at].bytes += item.charge
    }
    for (at, shard) in shards.enumerated() {
      let entries = seen[at].entries &- before[at].entries
      let bytes = seen[at].bytes &- before[at].bytes
      if entries != 0 || bytes != 0 { folder.counters.add(entries: entries, bytes: bytes, to: shard) }
    }
  }

  // MARK: Leftovers

  /// Removes what dead writers left in these shards: unfinished entries, bodies that no head names, and what is no
  /// file where an entry should be.
  private func sweep(_ listing: ShardListing, in folder: StoreFolder) {
    for path in listing.temps { removeLeftover(path, in: folder) }
    for name in listing.junk { try? fileSystem.removeAny(folder.paths.head(name), in: folder.root) }
    for name in listing.orphans { removeBodies(listing.bodies[name, default: []], of: name, but: nil, in: folder) }
    for (name, bodies) in listing.bodies where bodies.count > 1 {
      guard let entry = describe(name, in: folder) else { continue }
      removeBodies(bodies, of: name, but: entry.ownFile, in: folder)
    }
  }

  private func removeBodies(
    _ bodies: [ShardListing.Body], of name: EntryName, but named: UInt64?, in folder: StoreFolder
  ) {
    for body in bodies where body.generation != named {
      removeLeftover(folder.paths.body(name, generation: body.generation), in: folder)
    }
  }

  /// Removes a file that is older than the grace and that nobody holds: a writer has its file locked, a lease too what
  /// it lent.
  func removeLeftover(_ path: FilePath, in folder: StoreFolder) {
    guard let file = try? fileSystem.open(path, in: folder.root, .read),
      let info = try? fileSystem.info(of: file), info.kind == .file
    else { return }
    let age = time.wallNow - WallTime(milliseconds: info.modified / 1_000_000)
    // A date in the future says nothing of its age: the lock alone decides.
    guard age < .zero || age >= limits.graceForLeftovers else { return }
    guard (try? fileSystem.lock(file, isShared: false)) == true else { return }
    try? fileSystem.remove(path, in: folder.root)
  }

  /// Removes leftovers from the folders outside the shards.
  func sweepFolders(in folder: StoreFolder) {
    for path in [EntryPaths.temp, EntryPaths.lent] { sweep(path, EntryPaths.listed, in: folder) }
    sweep(FilePath("."), { name, _ in FilePath(name) }, in: folder)
    folder.counters.swept = time.wallNow
  }

  private func sweep(_ path: FilePath, _ spell: (String, FilePath) -> FilePath, in folder: StoreFolder) {
    var leftovers: [FilePath] = []
    try? fileSystem.list(path, in: folder.root) { name, _ in
      guard ListedName(name) == .temp, let valid = try? UTF8Span(validating: name) else { return }
      leftovers.append(spell(String(copying: valid), path))
    }
    for path in leftovers { removeLeftover(path, in: folder) }
  }

  // MARK: Every entry

  /// Names of the heads in a shard.
  private func names(in shard: Int, _ folder: StoreFolder) -> [EntryName] {
    var names: [EntryName] = []
    guard folder.hasShard(shard) else { return names }
    try? fileSystem.list(folder.paths.shard(shard), in: folder.root) { name, _ in
      if case .head(let name) = ListedName(name), folder.paths.shard(of: name) == shard { names.append(name) }
    }
    return names
  }

  func forEach(_ visit: (EntrySummary) throws -> EntryVerdict) throws {
    guard let folder = openFolder() else { return }
    for shard in 0..<folder.paths.shards {
      for name in names(in: shard, folder) {
        guard let summary = summary(name, in: folder) else { continue }
        switch try visit(summary) {
        case .keep: continue
        case .remove: take(name, in: folder)
        case .stop: return
        }
      }
    }
  }

  private func summary(_ name: EntryName, in folder: StoreFolder) -> EntrySummary? {
    do throws(EntryTrouble) {
      let entry = try fileSystem.readEntry(name, in: folder, isWhole: false)
      let lastUse = WallTime(milliseconds: entry.info.modified / 1_000_000)
      return EntrySummary(key: entry.key(), facts: entry.facts(), count: entry.format.bodyCount, lastUse: lastUse)
    } catch {
      return nil
    }
  }

  func verify(repairs: Bool, _ progress: (VerifyResult) -> Void) -> VerifyResult {
    var result = VerifyResult()
    guard let folder = openFolder() else { return result }
    for shard in 0..<folder.paths.shards {
      for name in names(in: shard, folder) {
        if let count = verify(name, in: folder) {
          result.goodEntries += 1
          result.bytes += count
        } else {
          result.badEntries += 1
          if repairs {
            take(name, in: folder)
            tally.heal()
          }
        }
        progress(result)
      }
      // Counts, and leftovers where that is asked for.
      if repairs { _ = visit(shard..<(shard + 1), goal: nil, in: folder) }
    }
    return result
  }

  /// The length of the body where all of the entry is good.
  private func verify(_ name: EntryName, in folder: StoreFolder) -> Int? {
    do throws(EntryTrouble) {
      let entry = try fileSystem.readEntry(name, in: folder, isWhole: true)
      let format = entry.format
      guard EntryName(entry.key()) == name else { return nil }
      if format.place == .inside { return entry.isInsideGood ? format.bodyCount : nil }
      let body = try fileSystem.openEntry(folder.paths.body(name, generation: format.generation), in: folder)
      do throws(FileFault) {
        guard try fileSystem.info(of: body).bytes == format.bodyCount,
          try fileSystem.checksum(of: body, count: format.bodyCount) == format.bodyChecksum
        else { return nil }
        return format.bodyCount
      } catch { return nil }
    } catch {
      return nil
    }
  }

  /// Removes all entries. Writers that have not committed yet are left alone.
  func clear() throws(ObjectError) {
    guard let folder = openFolder() else { return }
    var fault: FileFault?
    for shard in 0..<folder.paths.shards {
      for name in names(in: shard, folder) { fault = take(name, in: folder) ?? fault }
      _ = visit(shard..<(shard + 1), goal: nil, in: folder)
    }
    if let fault { throw ObjectError(fault, "The cache folder \(path) could not be emptied") }
  }
}
