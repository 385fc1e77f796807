import Foundation
import ManagedObjects
import TestSupport

/// Put, get, miss and contains at several lengths of bodies.
struct SizesPart {
  private let options: CacheBenchmarkOptions
  private let arena: Arena

  init(_ options: CacheBenchmarkOptions, _ arena: Arena) { (self.options, self.arena) = (options, arena) }

  func measure() throws -> [CacheFigure] {
    try options.bytes.enumerated().flatMap { place, bytes in
      let entries = count(of: bytes)
      arena.tell("sizes: \(entries) bodies of \(bytes) bytes")
      defer { arena.clear("sizes-\(place)-") }
      let candidates = try arena.candidates("sizes-\(place)-")
      return try operations(candidates, 0..<entries, bytes, "sizes", arena)
    }
  }

  /// Fewer of the large ones, which a disk has to take.
  private func count(of bytes: Int) -> Int {
    let most = bytes == 4096 ? 10_000 : 2000
    return max(200, min(most, (50 << 20) / bytes)) / (options.isQuick ? 4 : 1)
  }
}

/// All of them put, then some got, missed and asked for, each of these twice, the second time counts.
private func operations(
  _ candidates: [any Candidate], _ keys: Range<Int>, _ bytes: Int, _ part: String, _ arena: Arena, most: Int = .max
) throws -> [CacheFigure] {
  var random = SeededRandom(seed: 7)
  let some = Array(keys.shuffled(using: &random).prefix(most))
  let jobs = [
    Job(operation: .put, keys: Array(keys), bytes: bytes), Job(operation: .get, keys: some, bytes: bytes),
    Job(operation: .miss, keys: some.map { $0 + 1 << 30 }, bytes: bytes),
    Job(operation: .contains, keys: some, bytes: bytes),
  ]
  return try jobs.flatMap { job in
    if job.operation == .get { _ = try arena.run(job, by: candidates) }
    return figures(try arena.run(job, by: candidates), candidates, job, part, keys.count)
  }
}

private func figures(
  _ samples: [Samples], _ candidates: [any Candidate], _ job: Job, _ part: String, _ entries: Int
) -> [CacheFigure] {
  let floor = samples[0].median
  return candidates.indices.map { at in
    CacheFigure(
      part: part, operation: job.operation.rawValue, candidate: candidates[at].name, bytes: job.bytes,
      entries: entries, median: samples[at].median, p99: samples[at].p99,
      ratio: floor > 0 ? samples[at].median / floor : 0)
  }
}

/// The same at growing numbers of entries, with start-up and trim.
struct NumbersPart {
  private static let bytes = 1024
  private let options: CacheBenchmarkOptions
  private let arena: Arena

  init(_ options: CacheBenchmarkOptions, _ arena: Arena) { (self.options, self.arena) = (options, arena) }

  func measure() throws -> [CacheFigure] {
    try options.entries.flatMap { entries in
      arena.tell("numbers: \(entries) entries")
      defer { arena.clear("numbers-\(entries)-") }
      let candidates = try arena.candidates("numbers-\(entries)-")
      let most = options.isQuick ? 1000 : 4000
      return try operations(candidates, 0..<entries, Self.bytes, "numbers", arena, most: most)
        + opening(candidates, entries) + openingAfterKill(candidates, entries) + trimming(candidates, entries)
    }
  }

  private func opening(_ candidates: [any Candidate], _ entries: Int) throws -> [CacheFigure] {
    var samples = candidates.map { _ in Samples() }
    for round in 0..<11 {
      for at in candidates.indices {
        samples[at].add(
          try candidates[at].run(Job(operation: .open, keys: [round * entries / 11], bytes: Self.bytes)))
      }
    }
    return figures(samples, candidates, Job(operation: .open, bytes: Self.bytes), "numbers", entries)
  }

  /// What a process that was killed while it put leaves to the next one.
  private func openingAfterKill(_ candidates: [any Candidate], _ entries: Int) throws -> [CacheFigure] {
    let backends = candidates.compactMap { $0 as? BackendCandidate }
    let job = Job(operation: .open, keys: [entries / 2], bytes: Self.bytes)
    var samples = backends.map { _ in Samples() }
    for _ in 0..<(options.isQuick ? 1 : 5) {
      for at in backends.indices {
        try DoomedWriter.die(in: backends[at])
        samples[at].add(try backends[at].run(job))
      }
    }
    return zip(backends, samples).map { backend, samples in
      CacheFigure(
        part: "numbers", operation: "open, after a kill", candidate: backend.name, bytes: Self.bytes, entries: entries,
        median: samples.median, p99: samples.p99)
    }
  }

  /// A fifth out. Median: of an entry that was there, of all steps together; the row of steps: the longest. The row of
  /// pieces: for how long at most a step of ours went on without letting others run, and of all steps the longest.
  private func trimming(_ candidates: [any Candidate], _ entries: Int) throws -> [CacheFigure] {
    let trimmers = candidates.filter { $0.abilities.contains(.trim) }
    var rows: [CacheFigure] = []
    for candidate in trimmers {
      // With what writers put that were killed.
      let stored = try candidate.count()
      arena.tell("numbers: \(candidate.name) trims \(stored) entries by a fifth")
      arena.settleDisk()
      let limit = stored * 8 / 10
      _ = try candidate.run(Job(operation: .open, bytes: Self.bytes, limitEntries: limit, lowWater: 1))
      let steps = Samples(try candidate.run(Job(operation: .trim, bytes: Self.bytes)))
      try candidate.expectLeft(limit...limit)
      let each = Double(steps.sum) / 1000 / Double(stored)
      let floor = rows.first?.median ?? each
      rows.append(row("trim, per entry", candidate, entries, each, each, ratio: each / floor))
      rows.append(row("trim, a step", candidate, entries, steps.median, steps.quantile(1), ratio: 0))
      let pieces = Samples((candidate as? BackendCandidate)?.longestPieces ?? [])
      if !pieces.all.isEmpty {
        rows.append(row("trim, a piece", candidate, entries, pieces.median, pieces.quantile(1), ratio: 0))
      }
    }
    return rows
  }

  private func row(
    _ operation: String, _ candidate: any Candidate, _ entries: Int, _ median: Double, _ most: Double, ratio: Double
  ) -> CacheFigure {
    CacheFigure(
      part: "numbers", operation: operation, candidate: candidate.name, bytes: Self.bytes, entries: entries,
      median: median, p99: most, ratio: ratio)
  }
}

/// Gets by Zipf's law at a limit of a third of the keys, a put after each miss.
struct MixedPart {
  private static let bytes = 4096
  private let options: CacheBenchmarkOptions
  private let arena: Arena

  init(_ options: CacheBenchmarkOptions, _ arena: Arena) { (self.options, self.arena) = (options, arena) }

  func measure() throws -> [CacheFigure] {
    let limit = options.isQuick ? 1000 : 3000
    let trace = ZipfTrace(keys: limit * 10 / 3, exponent: 1, seed: 11).requests(limit * (options.isQuick ? 8 : 15))
    arena.tell("mixed: \(trace.count) requests by Zipf's law, a limit of \(limit) entries")
    defer { arena.clear("mixed-") }
    let candidates = try arena.candidates("mixed-").filter { $0.abilities.contains(.limit) }
    for candidate in candidates {
      _ = try candidate.run(Job(operation: .open, bytes: Self.bytes, limitEntries: limit))
    }
    let samples = try arena.run(Job(operation: .mixed, keys: trace, bytes: Self.bytes), by: candidates)
    let exact = LeastRecentlyUsed.hitRatio(of: trace, limit: limit)
    var rows = [row("hit ratio", "exact LRU, simulated", limit, 0, 0, exact)]
    for (candidate, samples) in zip(candidates, samples) {
      rows.append(row("hit ratio", candidate.name, limit, 0, 0, samples.hitRatio))
      rows.append(row("hit", candidate.name, limit, samples.median, samples.p99, nil))
      rows.append(
        row("miss and put", candidate.name, limit, samples.quantileOfMisses(0.5), samples.quantileOfMisses(0.99), nil))
    }
    return rows
  }

  private func row(
    _ operation: String, _ candidate: String, _ limit: Int, _ median: Double, _ p99: Double, _ value: Double?
  ) -> CacheFigure {
    CacheFigure(
      part: "mixed", operation: operation, candidate: candidate, bytes: Self.bytes, entries: limit, median: median,
      p99: p99, value: value)
  }
}

/// Gets and puts while another thread, or process, trims a fifth away, beside the same load alone.
///
/// In rounds, a part of the fifth each, alone and trimming in turn: what the machine does meanwhile, as a commit of the
/// journal, falls into one round and not upon one of the two. The p99 is the median of the rounds'.
struct TrimmingPart {
  private static let bytes = 1024
  private static let rounds = 3
  private let options: CacheBenchmarkOptions
  private let arena: Arena

  init(_ options: CacheBenchmarkOptions, _ arena: Arena) { (self.options, self.arena) = (options, arena) }

  func measure() throws -> [CacheFigure] {
    let entries = min(options.isQuick ? 10_000 : 30_000, options.entries.last ?? 10_000)
    defer { arena.clear("trimming-") }
    let candidates = try arena.candidates("trimming-").filter { $0.abilities.contains(.trim) }
    arena.tell("trimming: \(entries) entries for each of \(candidates.count)")
    _ = try arena.run(Job(operation: .put, keys: Array(0..<entries), bytes: Self.bytes), by: candidates, pieces: 1000)
    return try candidates.flatMap { try measure($0, entries) }
  }

  private func measure(_ candidate: any Candidate, _ entries: Int) throws -> [CacheFigure] {
    arena.settleDisk()
    var load = TrimmingLoad(candidate: candidate, entries: entries, bytes: Self.bytes)
    var (alone, trimming): ([TrimmingLoad.Round], [TrimmingLoad.Round]) = ([], [])
    for _ in 0..<Self.rounds {
      let start = nanoseconds()
      // What the load puts meanwhile is trimmed as well, so more may be gone than a part of the fifth for each round.
      let limit = try candidate.count() - entries / (5 * Self.rounds)
      let trimmer = Trimmer(try candidate.sibling(), limit: limit, bytes: Self.bytes)
      let before = load.stored
      trimming.append(try load.run { trimmer.isOver })
      try trimmer.finish()
      try candidate.expectLeft(limit...(limit + load.stored - before))
      let end = 2 * nanoseconds() - start
      alone.append(try load.run { nanoseconds() >= end })
    }
    return rows("alone", candidate.name, entries, alone) + rows("while trimming", candidate.name, entries, trimming)
  }

  private func rows(
    _ when: String, _ candidate: String, _ entries: Int, _ rounds: [TrimmingLoad.Round]
  ) -> [CacheFigure] {
    [("get", rounds.map(\.gets)), ("put", rounds.map(\.puts))].map { operation, samples in
      CacheFigure(
        part: "trimming", operation: "\(operation), \(when)", candidate: candidate, bytes: Self.bytes, entries: entries,
        median: samples.map(\.median).sorted()[samples.count / 2],
        p99: samples.map(\.p99).sorted()[samples.count / 2])
    }
  }
}

/// Four gets of what is not removed, then a put of something new, and so on.
private struct TrimmingLoad {
  typealias Round = (gets: Samples, puts: Samples)

  let candidate: any Candidate
  let entries: Int
  let bytes: Int
  private var next = 1 << 20
  private var random = SeededRandom(seed: 5)

  init(candidate: any Candidate, entries: Int, bytes: Int) {
    (self.candidate, self.entries, self.bytes) = (candidate, entries, bytes)
  }

  /// How many were ever put.
  var stored: Int { entries + next - (1 << 20) }

  mutating func run(until isOver: () -> Bool) throws -> Round {
    var samples: Round = (Samples(), Samples())
    repeat {
      // The newest sixth: the fifth, and as many as come in while others go, are the oldest.
      let keys = (0..<8).map { _ in Int.random(in: entries * 5 / 6..<entries, using: &random) }
      samples.gets.add(try candidate.run(Job(operation: .get, keys: keys, bytes: bytes)))
      samples.puts.add(try candidate.run(Job(operation: .put, keys: [next, next + 1], bytes: bytes)))
      next += 2
    } while !isOver()
    return samples
  }
}

/// A thread that trims.
///
/// Sound although unchecked: the candidate is used by this thread alone, and the rest is locked.
private final class Trimmer: @unchecked Sendable {
  private let candidate: any Candidate
  private let ending = Lock<Result<Void, any Error>?>(nil)

  init(_ candidate: any Candidate, limit: Int, bytes: Int) {
    self.candidate = candidate
    Thread.detachNewThread { [self] in
      let result = Result { try trim(limit, bytes) }
      ending.withLock { $0 = result }
    }
  }

  private func trim(_ limit: Int, _ bytes: Int) throws {
    _ = try candidate.run(Job(operation: .open, bytes: bytes, limitEntries: limit, lowWater: 1))
    _ = try candidate.run(Job(operation: .trim, bytes: bytes))
  }

  var isOver: Bool { ending.withLock { $0 != nil } }
  func finish() throws { try ending.withLock { $0 }?.get() }
}
