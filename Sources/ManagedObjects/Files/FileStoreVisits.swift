/// What walks over shards: each sees some shards at a time and holds nobody up.
extension FileStore {
  /// So many go at a visit although its time is over, or a short one would look at all and remove nothing for ever.
  private static let leastVictims = 16

  /// Looks at the shards, sets their counters to what it sees, and removes what is past its time, the least recently used
  /// until the goal is met, and leftovers.
  /// - Parameter goal: of what it sees; nil: only what is past its time goes.
  func visit(
    _ shards: Range<Int>, goal: ((SharedCounters.Count) -> TrimGoal)?, in folder: StoreFolder,
    until deadline: Moment? = nil
  ) -> TrimResult {
    var pace = Pace(time)
    let before = shards.map { folder.counters.rawCount(of: $0) }
    var listing = list(shards, in: folder, &pace)
    setCounters(shards, before: before, listing, in: folder)
    let seen = SharedCounters.Count(
      entries: listing.entries.count, bytes: listing.entries.reduce(0) { $0 + $1.charge })
    let goal = goal?(seen) ?? TrimGoal(limitVictims: 0)
    let rule = TrimRule(
      goalBytes: goal.bytes, goalEntries: goal.entries, limitVictims: goal.limitVictims, limitAge: limits.limitAge,
      limitUnused: limits.limitUnused, now: time.wallNow)
    let count = rule.select(&listing.entries)

    var result = TrimResult()
    result.lookedAtEntries = listing.entries.count
    let tried = evict(count, of: listing, in: folder, until: deadline, &pace, &result)
    result.isDone = tried == count && listing.unlisted.isEmpty
    noteEvictions(listing.entries[..<tried], rule, folder)
    sweep(listing, in: folder)
    if shards.count == folder.paths.shards { noteOldest(listing.entries[tried...], folder) }
    // Visits are short, and one follows on another.
    pace.rest(fileSystem)
    result.longestPiece = pace.longest
    return result
  }

  /// Adds what was counted wrong before. Where others commit while a shard is listed nobody can tell what of theirs was
  /// seen, and its counters stay as they are until the next visit; so do those of a shard that could not be listed.
  private func setCounters(
    _ shards: Range<Int>, before: [SharedCounters.Count], _ seen: ShardListing, in folder: StoreFolder
  ) {
    let after = shards.map { folder.counters.rawCount(of: $0) }
    let counts = counts(of: seen.entries, shards, folder)
    for (at, shard) in shards.enumerated()
    where before[at] == after[at] && counts[at] != before[at] && seen.unlisted[shard] == nil {
      let wrong = counts[at] - before[at]
      folder.counters.add(entries: wrong.entries, bytes: wrong.bytes, to: shard)
    }
  }

  /// What these items count, shard by shard.
  private func counts(
    of items: [TrimRule.Item], _ shards: Range<Int>, _ folder: StoreFolder
  ) -> [SharedCounters.Count] {
    var counts = [SharedCounters.Count](repeating: SharedCounters.Count(), count: shards.count)
    for item in items {
      let at = folder.paths.shard(of: item.name) - shards.lowerBound
      counts[at].entries += 1
      counts[at].bytes += item.charge
    }
    return counts
  }

  // MARK: Removing

  /// Removes the first `count` entries, or as many as there is time for.
  /// - Returns: how many it got to.
  private func evict(
    _ count: Int, of listing: ShardListing, in folder: StoreFolder, until deadline: Moment?,
    _ pace: inout Pace, _ result: inout TrimResult
  ) -> Int {
    for (at, item) in listing.entries[..<count].enumerated() {
      if let deadline, at >= Self.leastVictims, time.now > deadline { return at }
      switch evict(item, listing, in: folder) {
      case .removed:
        result.removedEntries += 1
        result.removedBytes += item.charge
      case .spared: break
      case .refused: return at
      }
      pace.step(fileSystem)
    }
    return count
  }

  private enum Eviction {
    case removed
    /// Somebody else removed it, and counted that; or it is not the one that was chosen: used since, or replaced.
    case spared
    /// It cannot be removed, and nor can the others then.
    case refused
  }

  /// The head first: from then on it is a miss, and its body an orphan that the sweeper finds if we end here.
  private func evict(_ item: TrimRule.Item, _ listing: ShardListing, in folder: StoreFolder) -> Eviction {
    let named = listing.bodies[item.name] == nil ? nil : describe(item.name, in: folder)?.ownFile
    let head = folder.paths.head(item.name)
    guard fileSystem.isUnchanged(head, inode: item.inode, modified: item.lastUse, in: folder.root) else {
      return .spared
    }
    do throws(FileFault) { try fileSystem.remove(head, in: folder.root) } catch {
      return error.isMissing ? .spared : .refused
    }
    folder.counters.add(entries: -1, bytes: -item.charge, to: folder.paths.shard(of: item.name))
    if let named { try? fileSystem.remove(folder.paths.body(item.name, generation: named), in: folder.root) }
    tally.evict()
    folder.counters.noteEvicted()
    return .removed
  }

  private func noteEvictions(_ victims: ArraySlice<TrimRule.Item>, _ rule: TrimRule, _ folder: StoreFolder) {
    let forRoom = victims.filter { !rule.isExpired($0) && !rule.isInFuture($0) }
    guard let newest = forRoom.map(\.lastUse).max() else { return }
    folder.counters.noteEviction(age: rule.now - WallTime(milliseconds: newest / 1_000_000))
  }

  private func noteOldest(_ left: ArraySlice<TrimRule.Item>, _ folder: StoreFolder) {
    guard let oldest = left.map(\.lastUse).min() else { return }
    folder.counters.noteOldest(WallTime(milliseconds: oldest / 1_000_000))
  }

  // MARK: Leftovers

  /// Removes what dead writers left in these shards: unfinished entries, bodies that no head names, and what is no
  /// file where an entry should be.
  private func sweep(_ listing: ShardListing, in folder: StoreFolder) {
    // A body is no orphan because its head could not be seen.
    guard listing.unlisted.isEmpty else { return }
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
    // A date far in the future says nothing of its age: the lock alone decides. One a little ahead is that of a new file, by
    // another clock than ours, and its writer may not have come to lock it.
    guard age < .zero - TrimRule.tolerance || age >= limits.graceForLeftovers else { return }
    guard (try? fileSystem.lock(file, isShared: false)) == true else { return }
    try? fileSystem.remove(path, in: folder.root)
  }

  /// Removes leftovers from the folders outside the shards.
  func sweepFolders(in folder: StoreFolder) {
    for path in [EntryPaths.temp, EntryPaths.lent] { sweep(path, EntryPaths.listed, in: folder) }
    sweep(EntryPaths.itself, { name, _ in FilePath(name) }, in: folder)
    folder.counters.swept = time.wallNow
  }

  private func sweep(_ path: FilePath, _ spell: (String, FilePath) -> FilePath, in folder: StoreFolder) {
    for path in temporaries(path, spell, in: folder) { removeLeftover(path, in: folder) }
  }

  /// What is being written in a folder outside the shards, or was left there.
  func temporaries(
    _ path: FilePath, _ spell: (String, FilePath) -> FilePath, in folder: StoreFolder
  ) -> [FilePath] {
    var found: [FilePath] = []
    try? fileSystem.list(path, in: folder.root) { name, _ in
      guard ListedName(name) == .temp, let valid = try? UTF8Span(validating: name) else { return }
      found.append(spell(String(copying: valid), path))
    }
    return found
  }

  // MARK: Every entry

  /// Names of the heads in a shard.
  func names(in shard: Int, _ folder: StoreFolder) throws(FileFault) -> [EntryName] {
    var names: [EntryName] = []
    guard folder.hasShard(shard) else { return names }
    do throws(FileFault) {
      try fileSystem.list(folder.paths.shard(shard), in: folder.root) { name, _ in
        if case .head(let name) = ListedName(name), folder.paths.shard(of: name) == shard { names.append(name) }
      }
    } catch {
      if !error.isMissing { throw error }
    }
    return names
  }

  func forEach(_ visit: (EntrySummary) throws -> EntryVerdict) throws {
    guard let folder = openFolder() else { return }
    for shard in 0..<folder.paths.shards {
      for name in try listed(shard, folder) {
        guard let summary = summary(name, in: folder) else { continue }
        switch try visit(summary) {
        case .keep: continue
        case .remove: take(name, in: folder)
        case .stop: return
        }
      }
    }
  }

  private func listed(_ shard: Int, _ folder: StoreFolder) throws(ObjectError) -> [EntryName] {
    do throws(FileFault) { return try names(in: shard, folder) } catch { throw unlisted(error) }
  }

  func unlisted(_ fault: FileFault) -> ObjectError {
    ObjectError(fault, "A part of the cache folder \(path) cannot be read")
  }

  func summary(_ name: EntryName, in folder: StoreFolder) -> EntrySummary? {
    do throws(EntryTrouble) {
      let entry = try fileSystem.readEntry(name, in: folder, isWhole: false)
      let lastUse = WallTime(milliseconds: entry.info.modified / 1_000_000)
      return EntrySummary(key: entry.key(), facts: entry.facts(), count: entry.format.bodyCount, lastUse: lastUse)
    } catch {
      return nil
    }
  }

  /// Removes all entries. Writers that have not committed yet are left alone.
  /// - Parameter progress: called after each entry.
  @discardableResult
  func clear(_ progress: (TrimResult) -> Void = { _ in }) throws(ObjectError) -> TrimResult {
    var result = TrimResult()
    guard let folder = openFolder() else { return result }
    var fault: FileFault?
    sweepFolders(in: folder)
    for shard in 0..<folder.paths.shards {
      var pace = Pace(time)
      let listing = list(shard..<(shard + 1), in: folder, &pace)
      fault = listing.unlisted[shard] ?? fault
      for item in listing.entries {
        result.lookedAtEntries += 1
        if let new = take(item.name, in: folder) {
          fault = new
        } else {
          result.removedEntries += 1
          result.removedBytes += item.charge
        }
        progress(result)
      }
      _ = visit(shard..<(shard + 1), goal: nil, in: folder)
    }
    if let fault { throw ObjectError(fault, "The cache folder \(path) could not be emptied") }
    return result
  }
}
