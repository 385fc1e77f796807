public import Foundation
public import ManagedObjects

/// What a program does that takes part in the checks with several processes: its `main` is
///
///     try ConformanceWorker.run(CommandLine.arguments.dropFirst()) { folder, limits in try MyBackend(folder, limits) }
///
/// The arguments come from `ConformanceProcesses.command`, followed by what is to be done:
///
///     write FOLDER NAME LIMIT             puts without end, and prints the number of each entry once it is committed
///     trim FOLDER LIMIT                   trims without end, and prints a dot for each step
///     work FOLDER NAME LIMIT SECONDS      puts, gets, removes and trims, checks each body, and prints what it did
///
/// Those without end are killed; or end by a signal, when whoever started them has gone.
public enum ConformanceWorker {
  /// - Throws: where the backend breaks its contract, or the arguments are none of the above.
  public static func run(_ arguments: some Collection<String>, open: BackendConformance.Opening) throws {
    let words = Array(arguments)
    guard words.count >= 3 else { throw Breach("nothing to do: \(words)") }
    let folder = URL(filePath: words[1])
    switch words[0] {
    case "write" where words.count == 4: try write(words[2], on: open(folder, limits(words[3])))
    case "trim": try trim(try open(folder, limits(words[2])))
    case "work" where words.count == 5:
      try work(words[2], Int(words[3]) ?? 0, seconds: Double(words[4]) ?? 1, on: open(folder, limits(words[3])))
    default: throw Breach("nothing to do: \(words)")
    }
  }

  /// Leftovers go after a second, so that sweepers meet the files of the living.
  private static func limits(_ entries: String) -> CacheLimits {
    var limits = Room.limits(entries: Int(entries).flatMap { $0 > 0 ? $0 : nil }, bytes: nil)
    limits.graceForLeftovers = .seconds(1)
    return limits
  }

  static func size(of number: Int) -> Int { [1000, 5000, 100_000, 300, 20_000][number % 5] }

  private static func write(_ name: String, on cache: any CacheBackend) throws {
    var number = 0
    while true {
      try cache.put("\(name)-\(number)", count: size(of: number))
      say("\(number)\n")
      number += 1
    }
  }

  private static func trim(_ cache: any CacheBackend) throws {
    while true {
      _ = try cache.trim(budget: .milliseconds(5))
      say(".\n")
    }
  }

  private static func say(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(1, bytes, bytes.count)
  }

  // MARK: Work on what others work on too

  private static func work(_ worker: String, _ limit: Int, seconds: Double, on cache: any CacheBackend) throws {
    let end = ContinuousClock.now + .seconds(seconds)
    var (number, found) = (0, 0)
    while ContinuousClock.now < end {
      // Open for longer than the grace, while others sweep.
      var slow = try cache.begin(key("slow \(worker)"), expectedBytes: nil)
      let body = Content.body(of: "slow \(worker)", version: UInt64(number), count: 200_000)
      try slow.append(body.bytes)
      let pause = min(end, ContinuousClock.now + .milliseconds(1200))
      repeat {
        found += try step(number, limit, cache)
        number += 1
      } while ContinuousClock.now < pause
      let lease = try slow.commit(facts())
      try expect(try lease.data() == body, "what was just committed has other bytes")
    }
    cache.settle(atMost: .seconds(10))
    print("\(number) steps, \(found) found")
  }

  /// 1 where a body was found.
  private static func step(_ number: Int, _ limit: Int, _ cache: any CacheBackend) throws -> Int {
    let name = "shared \(Int.random(in: 0..<2 * max(1, limit)))"
    switch number % 50 {
    case 49: _ = try cache.trim(budget: .milliseconds(2))
    case 48: try cache.remove(key(name))
    case 0..<20: try cache.put(name, version: .random(in: 0...99), count: size(of: number))
    default:
      guard let lease = try cache.lookUp(key(name)) else { return 0 }
      try expect(Content.isRight(try lease.data(), of: name), "\(name) has other bytes")
      return 1
    }
    return 0
  }
}
