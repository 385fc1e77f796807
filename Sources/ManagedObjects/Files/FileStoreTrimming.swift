/// Holding the limits: who notices, and who does it.
///
/// A commit only adds to the counters and, every so many commits, sums them up. When the sum is over a limit, the
/// cache's worker is woken, which alone removes entries: the whole of a `FileCache` down to its low water; of a
/// `BigFileCache` the run of shards with the most entries, at most a fifth of it, then the next. By entries, whatever the
/// limit is one of: by bytes it would be that with the largest body, again and again, until all with it were gone. Those
/// who commit faster than it can remove wait for it, at most 50 ms a commit, once the cache is over by more than a
/// hundredth and one object.
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

  /// Others filled the disk since it was last asked for room: what is to be kept free is made free again.
  func noticeFullDisk() { wakeTrimmer() }

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
    var isOfUse = false
    // Where nothing is removed nor counted anew: cannot be listed, read-only, or nothing is left to remove.
    var idle: Set<Int> = []
    while limitRule(folder).isOver(folder.counters.total) {
      let before = folder.counters.total
      guard let shards = folder.counters.fullestRun(of: runLength(before, folder), passingOver: idle) else { break }
      let result = visit(shards, goal: goal(folder), in: folder)
      let isIdle = result.removedEntries == 0 && folder.counters.total == before
      if isIdle { idle.insert(shards.lowerBound) } else { isOfUse = true }
      if time.now > end { return isOfUse }
    }
    while let shard = folder.counters.nextUncounted() {
      _ = visit(shard..<(shard + 1), goal: nil, in: folder)
      folder.counters.setCounted(upTo: shard + 1)
      if time.now > end { return true }
    }
    return false
  }

  /// Shards that are looked at together, a power of two.
  private func runLength(_ total: SharedCounters.Count, _ folder: StoreFolder) -> Int {
    let shards = folder.paths.shards
    if isWhole { return shards }
    var run = 1
    while run < shards, total.entries * run < Self.leastEntriesOfRun * shards { run *= 2 }
    return run
  }

  /// Of what a visit sees; asked when its shards have been counted.
  private func goal(_ folder: StoreFolder) -> (SharedCounters.Count) -> TrimGoal {
    let (rule, lowWater) = (limitRule(folder), limits.lowWater)
    if isWhole { return { _ in rule.goalOfAll(lowWater: lowWater) } }
    return { rule.goal(of: $0, total: folder.counters.total, lowWater: lowWater) }
  }

  /// nil: another process, or another instance in this one, is trimming.
  private func trimLock(_ folder: StoreFolder) -> HeldFile? {
    guard let file = try? fileSystem.openOwn(EntryPaths.trimLock, in: folder.root),
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
      let isOver = limitRule(folder).isOver(folder.counters.total)
      result.add(visit(shards, goal: isOver ? goal(folder) : nil, in: folder, until: deadline))
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
