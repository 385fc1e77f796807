/// Holding the limits: who notices, and who does it.
///
/// A commit only adds to the counters and, every so many commits, sums them up. When the sum is over a limit, the
/// cache's worker is woken, which alone removes entries: the whole of a `FileCache` down to its low water; of a
/// `BigFileCache` the fullest run of shards, at most a fifth of it, then the next. Those who commit faster than it
/// can remove wait for it, at most 50 ms a commit, once the cache is over by more than a hundredth and one object.
///
/// Of all processes one trims at a time; who holds `trim.lock` does, and the kernel lets go of it when it dies.
extension FileStore {
  private static let limitWait = Duration.milliseconds(50)
  private static let workSlice = Duration.milliseconds(20)
  /// A run of shards is looked at together until it should hold so many entries, or fewer than a fifth could not be
  /// told by last use.
  private static let leastEntriesOfRun = 64

  private var isWhole: Bool { format.backend == .fileCache }
  var slices: Int { isWhole ? 1 : 10 }

  // MARK: Noticing

  func noticeCommit(bytes: Int, in folder: StoreFolder) {
    let interval = LimitRule.checkInterval(limits, shards: folder.paths.shards)
    let intervalBytes = min(8 << 20, (limits.limitBytes ?? .max) / 500)
    guard tally.commit(bytes: chargedBytes(bytes, 0), interval: interval, intervalBytes: intervalBytes) else { return }
    let total = folder.counters.total
    let rule = LimitRule(limits, total: total, space: tally.isSpaceDue() ? space(folder) : nil)
    tally.fill = rule.fill(total)
    guard rule.isOver(total) || isSweepDue(folder) || folder.counters.nextUncounted() != nil else { return }
    wakeTrimmer()
    if rule.isFarOver(total, object: chargedBytes(bytes, 0)) { worker.wait(atMost: Self.limitWait) }
  }

  private func space(_ folder: StoreFolder) -> FileSpace? { try? fileSystem.space(around: folder.root) }

  private func isSweepDue(_ folder: StoreFolder) -> Bool {
    let age = time.wallNow - folder.counters.swept
    return age < .zero || age > limits.graceForLeftovers / 2
  }

  private func wakeTrimmer() {
    worker.wake(.slice) { [weak self] in self?.trimSlice() ?? false }
  }

  func settle(atMost time: Duration) {
    guard let folder = openFolder() else { return }
    if limitRule(folder).isOver(folder.counters.total) || isSweepDue(folder) { wakeTrimmer() }
    worker.wait(atMost: time)
  }

  private func limitRule(_ folder: StoreFolder) -> LimitRule {
    LimitRule(limits, total: folder.counters.total, space: space(folder))
  }

  // MARK: Working

  /// Trims for some milliseconds; true: there is more to do.
  private func trimSlice() -> Bool {
    guard let folder = openFolder(), let lock = trimLock(folder) else { return false }
    defer { withExtendedLifetime(lock) {} }
    if isSweepDue(folder) { sweepFolders(in: folder) }
    let end = time.now + Self.workSlice
    while limitRule(folder).isOver(folder.counters.total) {
      let before = folder.counters.total
      let result = trimFullest(folder)
      // Neither removed nor counted anew: read-only, or nothing left to remove.
      if result.removedEntries == 0, folder.counters.total == before { return false }
      if time.now > end { return true }
    }
    while let shard = folder.counters.nextUncounted() {
      _ = visit(shard..<(shard + 1), goal: nil, in: folder)
      folder.counters.setCounted(upTo: shard + 1)
      if time.now > end { return true }
    }
    return false
  }

  private func trimFullest(_ folder: StoreFolder) -> TrimResult {
    let total = folder.counters.total
    let rule = limitRule(folder)
    let run = runLength(total, folder)
    let shards = folder.counters.fullestRun(of: run, byBytes: rule.isBytesOver(total))
    return visit(shards, goal: goal(shards, rule, folder), in: folder)
  }

  /// Shards that are looked at together, a power of two.
  private func runLength(_ total: SharedCounters.Count, _ folder: StoreFolder) -> Int {
    let shards = folder.paths.shards
    if isWhole { return shards }
    var run = 1
    while run < shards, total.entries * run < Self.leastEntriesOfRun * shards { run *= 2 }
    return run
  }

  private func goal(_ shards: Range<Int>, _ rule: LimitRule, _ folder: StoreFolder) -> Goal {
    let share = Double(shards.count) / Double(folder.paths.shards)
    return Goal(
      bytes: rule.goal(rule.limitBytes, lowWater: limits.lowWater, share: share),
      entries: rule.goal(rule.limitEntries, lowWater: limits.lowWater, share: share), part: isWhole ? 1 : 0.2)
  }

  /// nil: another process, or another instance in this one, is trimming.
  private func trimLock(_ folder: StoreFolder) -> HeldFile? {
    guard let file = try? fileSystem.open(EntryPaths.trimLock, in: folder.root, .update),
      (try? fileSystem.lock(file, isShared: false)) == true
    else { return nil }
    return HeldFile(file)
  }

  /// Who asks for a step gets it also when the background worker, woken by a commit just now, is at it.
  private func lockAfterWorker(_ folder: StoreFolder, _ budget: Duration) -> HeldFile? {
    worker.wait(atMost: budget)
    return trimLock(folder)
  }

  // MARK: Steps

  /// The next slice: all of a `FileCache`, a tenth of a `BigFileCache`, where the last step of any process ended.
  func trim(budget: Duration) -> TrimResult {
    let deadline = time.now + budget
    var result = TrimResult()
    guard let folder = openFolder() else { return result }
    guard let lock = trimLock(folder) ?? lockAfterWorker(folder, budget) else {
      result.isDone = !limitRule(folder).isOver(folder.counters.total)
      return result
    }
    defer { withExtendedLifetime(lock) {} }
    sweepFolders(in: folder)
    let (start, count) = (folder.counters.position, folder.paths.shards)
    let end = start + sliceLength(from: start, count)
    let run = runLength(folder.counters.total, folder)
    var at = start
    while at < end, at == start || time.now < deadline {
      // Behind the last shard the first one follows.
      let first = at % count
      let shards = first..<min(first + min(run, end - at), count)
      let rule = limitRule(folder)
      let isOver = rule.isOver(folder.counters.total)
      result.add(visit(shards, goal: isOver ? goal(shards, rule, folder) : nil, in: folder, until: deadline))
      at += shards.count
    }
    folder.counters.position = at % count
    result.isDone = result.isDone && at == end && !limitRule(folder).isOver(folder.counters.total)
    return result
  }

  /// How many shards a step looks at, such that any ten see all: from a border between tenths to the next, which makes it
  /// once each; from where a step without time has ended, a tenth.
  private func sliceLength(from shard: Int, _ shards: Int) -> Int {
    let borders = (0...slices).map { $0 * shards / slices }
    guard let border = borders.dropLast().lastIndex(of: shard) else { return (shards + slices - 1) / slices }
    return borders[border + 1] - shard
  }

  // MARK: The timer

  /// Without commits too entries grow old, writers die, and others fill the disk: a step every so often, such that all
  /// is seen ten times in the shortest of the times that count.
  func startTimer() {
    let shortest = [limits.limitAge, limits.limitUnused, limits.graceForLeftovers].compactMap { $0 }.min()
    let interval = min(.seconds(3600), max(.seconds(1), (shortest ?? .seconds(3600)) / (10 * slices)))
    let next = time.schedule(after: interval) { [weak self] in
      self?.worker.wake(.step) { [weak self] in
        _ = self?.trim(budget: .milliseconds(500))
        return false
      }
      self?.startTimer()
    }
    timer.withLock { $0 = next }
  }
}

extension TrimResult {
  mutating func add(_ other: TrimResult) {
    lookedAtEntries += other.lookedAtEntries
    removedEntries += other.removedEntries
    removedBytes += other.removedBytes
    isDone = isDone && other.isDone
    longestPiece = max(longestPiece, other.longestPiece)
  }
}
