internal import CFiles

/// How full each shard is, in memory that the processes which use the folder share. As 64-bit numbers of the machine:
///
///     0  "MOcount3"                            4  shard that the next step of a trim begins with
///     1  number of shards                      5  age of the entry evicted last, ms; 0: none was yet
///     2  boot the counts are from              6  date of the oldest entry known, ms; 0: unknown
///     3  shards still to be counted again      7  when leftovers were last swept, ms
///     8  look-ups that hit                    10  entries evicted for the limits' sake
///     9  look-ups that missed                 11  entries found damaged and removed
///    12  since when 8 to 11 are counted, ms   13  1: an error may be stored    14, 15  zero
///    16  entries of shard 0   17  its charged bytes    18  entries of shard 1 …
///
/// What every look-up adds to, 8 and 9, stands in a cache line of its own, apart from what every look-up reads.
///
/// Every number is only a hint: a process that dies between rename and addition leaves it wrong by one entry, and each
/// visit to a shard sets it right. The file's room is allocated before it is mapped, since a write to a mapping that
/// the disk has no room for is a signal, not an error. Where it cannot be mapped the counts are this instance's own.
///
/// Sound although it has a pointer into `memory`: all access is by atomic instructions and inside its bounds.
@safe final class SharedCounters: Sendable {
  private enum Field: Int {
    case magic, shards, boot, uncounted, position, evictedAge, oldest, swept
    case hits, misses, evicted, healed, since, errors
  }
  private static let magic: Int64 = 0x3374_6E75_6F63_4F4D
  private static let fields = 16

  let shards: Int
  /// False: counted for this instance alone.
  let isShared: Bool
  private let memory: HeldBytes

  /// - Parameters:
  ///   - isNew: the folder was made just now, so nothing is in it that the counts do not know.
  ///   - makesFile: false: where there is none, the counts are this instance's own.
  init(
    in folder: borrowing OpenFile, shards: Int, fileSystem: any FileSystem, isNew: Bool, makesFile: Bool = true,
    now: WallTime
  ) {
    self.shards = shards
    let count = 8 * (Self.fields + 2 * shards)
    let mayMap = makesFile || (try? fileSystem.info(of: EntryPaths.counters, in: folder)) != nil
    if mayMap, let mapped = try? Self.map(folder, count, fileSystem) {
      memory = mapped
      isShared = true
    } else {
      memory = (try? Self.copy(folder, count, fileSystem)) ?? HeldBytes.zeros(count)
      isShared = false
    }
    let boot = fileSystem.bootID
    let isKnown = self[.magic] == Self.magic && self[.shards] == Int64(shards)
    if !isKnown {
      for at in 0..<(Self.fields + 2 * shards) { set(at, 0) }
      self[.oldest] = isNew ? now.milliseconds : 0
      self[.since] = now.milliseconds
      self[.errors] = isNew ? 0 : 1
    }
    if !isKnown && !isNew || isKnown && self[.boot] != boot { self[.uncounted] = Int64(shards) }
    self[.boot] = boot
    self[.shards] = Int64(shards)
    self[.magic] = Self.magic
  }

  private static func map(
    _ folder: borrowing OpenFile, _ count: Int, _ fileSystem: any FileSystem
  ) throws(FileFault) -> HeldBytes {
    let file = try fileSystem.open(EntryPaths.counters, in: folder, .update)
    guard try fileSystem.info(of: file).kind == .file else { throw FileFault.badPath }
    try fileSystem.allocate(count, for: file)
    return try fileSystem.map(file, count: count, isWritable: true)
  }

  /// What stands in a file that may only be read.
  private static func copy(
    _ folder: borrowing OpenFile, _ count: Int, _ fileSystem: any FileSystem
  ) throws(FileFault) -> HeldBytes? {
    let bytes = try fileSystem.read(fileSystem.open(EntryPaths.counters, in: folder, .read), at: 0, count: count)
    return bytes.count == count ? bytes : nil
  }

  // MARK: Shards

  struct Count: Hashable, Sendable {
    var entries = 0
    var bytes = 0

    /// Whatever a damaged file says, no trap.
    static func - (left: Self, right: Self) -> Self {
      Count(entries: left.entries &- right.entries, bytes: left.bytes &- right.bytes)
    }
  }

  func count(of shards: Range<Int>) -> Count {
    var sum = Count()
    for shard in shards.clamped(to: 0..<self.shards) {
      // Whatever stands in the file, sums and products of these do not overflow.
      sum.entries += min(max(0, rawCount(of: shard).entries), 1 << 36)
      sum.bytes += min(max(0, rawCount(of: shard).bytes), 1 << 50)
    }
    return sum
  }

  /// What the counters of one shard say, be it less than nothing.
  func rawCount(of shard: Int) -> Count {
    Count(entries: Int(get(Self.fields + 2 * shard)), bytes: Int(get(Self.fields + 2 * shard + 1)))
  }

  var total: Count { count(of: 0..<shards) }

  func add(entries: Int, bytes: Int, to shard: Int) {
    guard (0..<shards).contains(shard) else { return }
    add(Self.fields + 2 * shard, Int64(entries))
    add(Self.fields + 2 * shard + 1, Int64(bytes))
  }

  /// Of the runs of `run` shards the one with the most entries; nil: those that are passed over are all.
  /// - Parameter passed: by their first shards.
  func fullestRun(of run: Int, passingOver passed: Set<Int> = []) -> Range<Int>? {
    stride(from: 0, to: shards, by: run).filter { !passed.contains($0) }.map { $0..<min($0 + run, shards) }
      .max { count(of: $0).entries < count(of: $1).entries }
  }

  // MARK: What trimming remembers

  /// The first shard that was not counted since the counts may have gone wrong; nil: all were.
  func nextUncounted() -> Int? {
    let left = self[.uncounted]
    return (1...Int64(shards)).contains(left) ? shards - Int(left) : nil
  }

  func setCounted(upTo shard: Int) { self[.uncounted] = Int64(max(0, shards - shard)) }

  var position: Int {
    get { (0..<Int64(shards)).contains(self[.position]) ? Int(self[.position]) : 0 }
    set { self[.position] = Int64(newValue) }
  }

  var swept: WallTime {
    get { WallTime(milliseconds: self[.swept]) }
    set { self[.swept] = newValue.milliseconds }
  }

  /// How long the entry evicted last had been unused, in milliseconds; nil: none was yet.
  var evictedAge: Int64? { self[.evictedAge] > 0 ? self[.evictedAge] : nil }

  /// Since when the oldest entry known is here, in milliseconds; nil: unknown.
  func oldestAge(now: WallTime) -> Int64? {
    self[.oldest] > 0 ? max(0, now.milliseconds.clampedAdd(0 - self[.oldest])) : nil
  }

  func noteEviction(age: Duration) { self[.evictedAge] = max(1, age.wholeMilliseconds) }
  func noteOldest(_ time: WallTime) { self[.oldest] = time.milliseconds }

  // MARK: Errors

  /// False: no error was ever stored here. Errors are rare, and each request that loads would look for one.
  var mayHoldErrors: Bool { !isShared || self[.errors] != 0 }

  /// Before one is stored.
  func noteError() { self[.errors] = 1 }

  // MARK: What became of look-ups

  func noteHit() { add(Field.hits.rawValue, 1) }
  func noteMiss() { add(Field.misses.rawValue, 1) }
  func noteEvicted() { add(Field.evicted.rawValue, 1) }
  func noteHealed() { add(Field.healed.rawValue, 1) }

  var history: StoreHistory {
    // What a damaged file says is shown, but never less than nothing.
    func count(_ field: Field) -> Int { max(0, Int(self[field])) }
    return StoreHistory(
      hits: count(.hits), misses: count(.misses), evictedEntries: count(.evicted), healedEntries: count(.healed),
      since: WallTime(milliseconds: self[.since]))
  }

  // MARK: Memory

  private subscript(field: Field) -> Int64 {
    get { get(field.rawValue) }
    set { set(field.rawValue, newValue) }
  }

  // Sound: the callers stay below fields + 2 * shards, which is what `memory` has room for.
  private func get(_ at: Int) -> Int64 { unsafe mo_load(memory.words + at) }
  private func set(_ at: Int, _ value: Int64) { unsafe mo_store(memory.words + at, value) }
  private func add(_ at: Int, _ value: Int64) { _ = unsafe mo_add(memory.words + at, value) }
}

/// What all processes did with a cache folder since its counters were made.
package struct StoreHistory: Hashable, Sendable {
  package var hits = 0
  package var misses = 0
  package var evictedEntries = 0
  package var healedEntries = 0
  package var since = WallTime(milliseconds: 0)

  package init(hits: Int = 0, misses: Int = 0, evictedEntries: Int = 0, healedEntries: Int = 0, since: WallTime) {
    (self.hits, self.misses) = (hits, misses)
    (self.evictedEntries, self.healedEntries) = (evictedEntries, healedEntries)
    self.since = since
  }
}
