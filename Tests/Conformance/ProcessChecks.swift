import Foundation
import ManagedObjects

extension Check {
  static func processes(_ processes: ConformanceProcesses) -> [Check] {
    [
      Check("four processes put, get, remove and trim at once", needs: [.persists, .holdsLimits]) { room in
        let limit = 400
        let workers = try (0..<4).map { number in
          try WorkerProcess(
            processes.command + ["work", room.cacheFolder.path, "\(number)", "\(limit)", "\(processes.seconds)"])
        }
        for (number, worker) in workers.enumerated() {
          let report = worker.line()
          try expect(worker.end() == 0 && report != nil, "process \(number) found a fault; it stands on standard error")
        }
        let cache = try room.open(entries: limit)
        cache.settle(atMost: .seconds(20))
        let there = try (0..<2 * limit).count { try cache.contains(key("shared \($0)")) }
        try expect(there <= limit + limit / 100 + 1, "\(there) entries under a limit of \(limit)")
        try expectSound(cache, (0..<2 * limit).map { "shared \($0)" })
      },
      Check("what a killed process had committed is there, and nothing is torn", needs: .persists) { room in
        for round in 0..<processes.rounds {
          let names = ["a\(round)", "b\(round)"]
          let workers = try names.map {
            try WorkerProcess(processes.command + ["write", room.cacheFolder.path, $0, "0"])
          }
          let committed = try committedUntilKilled(workers)
          let cache = try room.open()
          for (name, count) in zip(names, committed) {
            for number in 0..<count { try cache.expect("\(name)-\(number)", count: ConformanceWorker.size(of: number)) }
            // What was under way is there whole, or not at all.
            try expectSound(cache, ["\(name)-\(count)"])
          }
          if round % 10 == 9 { try cache.clear() }
        }
      },
      Check("a process killed at a trim costs nothing but its work", needs: [.persists, .holdsLimits]) { room in
        let limit = 300
        for round in 0..<processes.rounds {
          let writer = try WorkerProcess(
            processes.command + ["write", room.cacheFolder.path, "r\(round)", "\(limit)"])
          let trimmer = try WorkerProcess(processes.command + ["trim", room.cacheFolder.path, "\(limit)"])
          _ = trimmer.line()
          let count = try committedUntilKilled([writer])[0]
          trimmer.kill()
          let cache = try room.open(entries: limit)
          for number in max(0, count - 10)..<count where room.promises.contains(.ordersByUse) {
            try cache.expect("r\(round)-\(number)", count: ConformanceWorker.size(of: number))
          }
          try expectSound(cache, (0...count).map { "r\(round)-\($0)" })
        }
        let cache = try room.open(entries: limit)
        for _ in 0..<20 { _ = try cache.trim(budget: .seconds(10)) }
        try expect(try cache.statistics().entries <= limit + limit / 100 + 1, "in the end the limit does not hold")
      },
    ]
  }

  /// Kills them after some commits, at a point that nobody chose; how many entries each had said to be committed.
  private static func committedUntilKilled(_ workers: [WorkerProcess]) throws -> [Int] {
    var committed = workers.map { _ in 0 }
    for (place, worker) in workers.enumerated() {
      for _ in 0..<Int.random(in: 1...20) {
        guard let line = worker.line() else { throw Breach("a writer ended by itself") }
        try expect(line == "\(committed[place])", "a writer says \(line)")
        committed[place] += 1
      }
    }
    // Some microseconds more, somewhere in a commit.
    for _ in 0..<Int.random(in: 0..<20_000) { _ = ContinuousClock.now }
    for worker in workers { worker.kill() }
    for (place, worker) in workers.enumerated() { while worker.line() != nil { committed[place] += 1 } }
    return committed
  }

  /// Whatever is there is right.
  private static func expectSound(_ cache: any CacheBackend, _ names: [String]) throws {
    for name in names {
      guard let found = try cache.get(key(name)) else { continue }
      try expect(Content.isRight(found, of: name), "\(name) has other bytes")
    }
    let result = try? cache.verify(repairs: false) { _ in }
    try expect(result?.badEntries ?? 0 == 0, "\(result?.badEntries ?? 0) damaged entries")
  }
}
