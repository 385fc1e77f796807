internal import FoundationEssentials
internal import Glibc
internal import ManagedObjects

/// The run of `mobj cache`: works through a folder on the calling thread, an entry at a time, and shows how far it is.
///
/// Results go to standard output in pieces, so that a list of millions takes neither memory nor a call for each line.
/// An interrupt ends the process at the next entry, in a trim at the next step: whatever is removed is removed whole.
struct CacheRun {
  private static let pieceBytes = 32_768
  private static let showEvery = Duration.milliseconds(50)
  /// Of a trim, until it is known how long a look at all takes.
  private static let firstBudget = Duration.seconds(1)
  /// Files that dead writers left go at once when all is cleared; living ones hold a lock.
  private static let graceWhenCleared = Duration.seconds(10)

  private let options: CacheOptions
  private let cache: any StoredCache
  private let interrupt: Interrupt
  private let now = SystemTime().wallNow
  private let showsProgress: Bool
  private var console: Console
  private var meter: ProgressMeter
  private var shown = ContinuousClock.now
  private var visited = 0
  private var bytes = 0
  private var pending: [UInt8] = []

  /// - Returns: the exit status.
  static func status(of options: CacheOptions, environment: [String: String], until interrupt: Interrupt) -> Int32 {
    do throws(ObjectError) {
      var run = try CacheRun(options, environment: environment, interrupt: interrupt)
      return run.run()
    } catch {
      var console = Console(showsProgress: false, environment: environment, startedAt: .now)
      console.note("mobj: \(error.message)")
      return 1
    }
  }

  private init(_ options: CacheOptions, environment: [String: String], interrupt: Interrupt) throws(ObjectError) {
    self.options = options
    self.interrupt = interrupt
    let folder = URL(filePath: options.folder, directoryHint: .isDirectory)
    cache = try Self.open(folder, options, interrupt)
    let isListShown = options.verb == .list && Descriptor.standardOutput.isTerminal
    let isForPrograms = options.json && !Descriptor.standardError.isTerminal
    showsProgress = !options.quiet && !isListShown && !isForPrograms
    let start = ContinuousClock.now
    console = Console(showsProgress: showsProgress, environment: environment, startedAt: start)
    // How many a trim removes is known only at its end.
    let expected = options.verb == .trim ? 0 : (try? cache.statistics())?.entries ?? 0
    meter = ProgressMeter(expectedWeight: expected > 0 ? expected : nil, startedAt: start)
  }

  /// A part of what is there can be told only from what is there, file by file: the counters are hints.
  private static func open(
    _ folder: URL, _ options: CacheOptions, _ interrupt: Interrupt
  ) throws(ObjectError) -> any StoredCache {
    var limits = limits(options)
    let cache = try ExistingCache.open(folder, limits: limits)
    guard let percent = options.limitPercent else { return cache }
    let survey = try cache.survey { _ in if interrupt.hasArrived { exit(Interrupt.exitStatus) } }
    limits.limitBytes = Int(Double(survey.chargedBytes) * Double(percent) / 100)
    return try ExistingCache.open(folder, limits: limits)
  }

  /// Those that were asked for, and no others: nothing is kept free, and nothing goes beyond what is due.
  private static func limits(_ options: CacheOptions) -> CacheLimits {
    var limits = CacheLimits(bytes: options.limitBytes, entries: options.limitEntries, age: options.limitAge)
    limits.keepFreeBytes = 0
    limits.lowWater = 1
    if options.verb == .clear { limits.graceForLeftovers = graceWhenCleared }
    return limits
  }

  private mutating func run() -> Int32 {
    var status: Int32
    do {
      switch options.verb {
      case .stat: status = try stat()
      case .list: status = try list()
      case .verify: status = verify()
      case .trim: status = try trim()
      case .clear: status = try clear()
      case .remove: status = try remove()
      }
    } catch {
      console.note("mobj: \((error as? ObjectError)?.message ?? "\(error)")")
      status = 1
    }
    flush()
    console.clearBar()
    if let fault = console.outputFault {
      if fault != .brokenPipe { console.note("mobj: standard output cannot be written: \(fault.text)") }
      return 1
    }
    return status
  }

  // MARK: Verbs

  private mutating func stat() throws -> Int32 {
    let survey = try cache.survey { step(bytes: $0.bodyBytes - bytes) }
    let facts = CacheFacts(
      folder: options.folder, backend: cache.backendName, version: cache.formatVersion, shards: cache.shards)
    print(options.json ? CacheReport.statJSON(facts, survey) : CacheReport.stat(facts, survey, now: now))
    return 0
  }

  private mutating func list() throws -> Int32 {
    func show(_ entry: EntrySummary) -> EntryVerdict {
      print(options.json ? CacheReport.entryJSON(entry, now: now) : CacheReport.entry(entry, now: now))
      step(bytes: entry.count)
      return console.outputFault == nil ? .keep : .stop
    }
    try cache.forEach(show)
    return 0
  }

  private mutating func verify() -> Int32 {
    var damaged: [DamagedEntry] = []
    var removed = 0
    let result = cache.verify(
      repairs: options.repairs,
      found: {
        damaged.append($0)
        removed += $0.isRemoved ? 1 : 0
      },
      progress: { result in
        print(damaged)
        damaged = []
        step(bytes: result.bytes - bytes)
      })
    print(damaged)
    let counted = options.repairs ? removed : nil
    print(options.json ? CacheReport.verifiedJSON(result) : CacheReport.verified(result, removed: counted))
    return result.badEntries > 0 ? 1 : 0
  }

  private mutating func print(_ damaged: [DamagedEntry]) {
    for entry in damaged { print(options.json ? CacheReport.damagedJSON(entry) : CacheReport.damaged(entry)) }
  }

  /// Steps over all of the folder, and on until it is within the limits, or a whole round more brought nothing: the first
  /// may only have found out how much there is.
  ///
  /// An interrupt is heeded between two steps. Where one step sees all it may take no longer than twice the one before,
  /// and is taken up by the next, which lists the folder again; of others all are needed, each to its end.
  private mutating func trim() throws -> Int32 {
    var removal = Removal()
    var (steps, idle, looked) = (0, 0, 0)
    var isDone = false
    var (began, budget) = (ContinuousClock.now, Self.firstBudget)
    while steps < cache.stepsOfTrim || !isDone && idle < cache.stepsOfTrim {
      let result = try cache.trim(budget: cache.stepsOfTrim == 1 ? budget : .seconds(3600))
      let now = ContinuousClock.now
      (began, budget) = (now, max(Self.firstBudget, (now - began) * 2))
      steps += 1
      idle = result.removedEntries > 0 || steps <= cache.stepsOfTrim ? 0 : idle + 1
      looked += result.lookedAtEntries
      isDone = result.isDone
      removal.entries += result.removedEntries
      removal.bytes += result.removedBytes
      // One by one, as if they went so: what was only looked at is looked at again in the next round.
      for number in 0..<result.removedEntries { step(bytes: number == 0 ? result.removedBytes : 0) }
      if interrupt.hasArrived { endAtOnce() }
    }
    let left = try cache.statistics()
    removal.left = Removal.Left(entries: left.entries, bytes: left.bytes)
    print(options.json ? CacheReport.removedJSON(removal) : CacheReport.removed(removal))
    if isDone, looked > 0 || left.entries == 0 { return 0 }
    console.note("mobj: not all could be trimmed: another program is at it, or the folder cannot be written; try again")
    return 1
  }

  private mutating func clear() throws -> Int32 {
    var removal = Removal()
    // Also where it does not get to the end: what is gone is gone.
    defer { print(options.json ? CacheReport.removedJSON(removal) : CacheReport.removed(removal)) }
    _ = try cache.clear { result in
      removal = Removal(entries: result.removedEntries, bytes: result.removedBytes)
      step(bytes: result.removedBytes - bytes)
    }
    return 0
  }

  private mutating func remove() throws -> Int32 {
    var names = RemovalNames(options.names)
    var removal = Removal()
    func look(_ entry: EntrySummary) throws -> EntryVerdict {
      if names.take(entry.key) {
        // Not by the verdict, which does not tell of failures.
        try cache.remove(entry.key)
        removal.entries += 1
        removal.bytes += entry.count
      }
      step(bytes: entry.count)
      return .keep
    }
    try cache.forEach(look)
    removal.missing = names.missing
    print(options.json ? CacheReport.removedJSON(removal) : CacheReport.removed(removal))
    for name in names.missing { console.note("mobj: \(CacheReport.shown(name)) is not in the cache") }
    return names.missing.isEmpty ? 0 : 1
  }

  // MARK: Showing

  /// One more entry was looked at.
  private mutating func step(bytes more: Int) {
    bytes += max(0, more)
    meter.began(visited)
    meter.finished(visited, bytes: max(0, more))
    visited += 1
    if interrupt.hasArrived { endAtOnce() }
    guard showsProgress, visited.isMultiple(of: 16) || more > 1 << 20 else { return }
    let time = ContinuousClock.now
    guard time - shown >= Self.showEvery else { return }
    shown = time
    console.show(meter.read(at: time), at: time)
  }

  private mutating func endAtOnce() -> Never {
    flush()
    console.clearBar()
    console.note("mobj: interrupted after \(Figures.entries(visited))")
    exit(Interrupt.exitStatus)
  }

  private mutating func print(_ text: String) {
    pending += text.utf8
    if pending.count >= Self.pieceBytes || Descriptor.standardOutput.isTerminal { flush() }
  }

  private mutating func flush() {
    guard !pending.isEmpty else { return }
    console.output(pending)
    pending.removeAll(keepingCapacity: true)
  }
}
