import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import CacheBenchmark

/// What the cache benchmark says of others has to be right before it is worth reading.
struct CacheBenchmarkTests {
  private func figure(
    _ part: String, _ operation: String, _ candidate: String, entries: Int = 1000, median: Double = 1, p99: Double = 1,
    ratio: Double = 0, value: Double? = nil
  ) -> CacheFigure {
    CacheFigure(
      part: part, operation: operation, candidate: candidate, bytes: 4096, entries: entries, median: median, p99: p99,
      ratio: ratio, value: value)
  }

  @Test func `options are read, and wrong ones refused`() throws {
    let options = try #require(
      CacheBenchmarkOptions([
        "--quick", "--entries", "5000,1000", "--only", "FileCache,LMDB", "--peer", "a b", "--peer", "c", "--parts",
        "mixed",
      ]))
    #expect(options.isQuick && options.entries == [1000, 5000] && options.parts == ["mixed"])
    #expect(options.only == ["FileCache", "LMDB"] && options.peers == [["a", "b"], ["c"]])
    #expect(CacheBenchmarkOptions([])?.entries == [1000, 10_000, 100_000])
    for wrong in [
      ["--entries"], ["--entries", "1,x"], ["--entries", "2000000"], ["--parts", "all"], ["--fast"], ["x"],
    ] {
      #expect(CacheBenchmarkOptions(wrong) == nil, "\(wrong)")
    }
  }

  @Test func `exact LRU drops what was used longest ago`() {
    // 1 and 2 are kept, 3 drops 1, 1 drops 2, 3 is there.
    #expect(LeastRecentlyUsed.hitRatio(of: [1, 2, 3, 1, 3], limit: 2) == 1.0 / 5)
    #expect(LeastRecentlyUsed.hitRatio(of: [1, 1, 1, 1], limit: 1) == 3.0 / 4)
    #expect(LeastRecentlyUsed.hitRatio(of: [], limit: 1) == 0)
  }

  @Test func `the first of Zipf's keys is asked for most`() {
    let trace = ZipfTrace(keys: 100, exponent: 1, seed: 1).requests(20_000)
    let counts = (0..<100).map { key in trace.count { $0 == key } }
    #expect(counts.max() == counts[0])
    #expect(abs(Double(counts[0]) / Double(counts[9]) - 10) < 3)
    #expect(trace == ZipfTrace(keys: 100, exponent: 1, seed: 1).requests(20_000))
  }

  @Test func `a miss is told from a hit by its sign`() {
    let samples = Samples([1000, -9000, 3000, 2000])
    #expect(samples.median == 2 && samples.hitRatio == 0.75)
    #expect(samples.quantileOfMisses(0.5) == 9)
    #expect(Samples().median == 0)
  }

  @Test func `goals are judged by what is shown`() {
    let figures = [
      figure("sizes", "get, hit", "FileCache", ratio: 1.3001), figure("sizes", "put", "FileCache", ratio: 1.41),
      figure("mixed", "hit ratio", "BigFileCache", value: 0.7),
      figure("mixed", "hit ratio", "exact LRU, simulated", value: 0.702),
      figure("numbers", "trim, per entry", "FileCache", entries: 1000, median: 10, ratio: 1),
      figure("numbers", "trim, per entry", "FileCache", entries: 10_000, median: 13, ratio: 1),
    ]
    let goals = CacheGoals(figures).all
    func isMet(_ name: String) -> Bool? { goals.first { $0.name.hasPrefix(name) }?.isMet }
    #expect(isMet("get, hit") == true)
    #expect(isMet("put") == false)
    #expect(isMet("hit ratio") == true)
    #expect(isMet("an entry in a trim, 10,000 beside 1,000") == false)
    #expect(isMet("open") == nil, "what was not measured is not judged")
  }

  // MARK: A whole run

  private func run(_ contender: CacheContender, _ more: String...) throws -> [String: Any] {
    let folder = try TemporaryFolder("benchmark")
    try CacheBenchmark.main(
      adding: [contender],
      arguments: ["--quick", "--bytes", "64", "--dir", folder.path, "--json", folder.path("out")] + more)
    #expect(folder.names == ["out"], "it leaves nothing")
    return try #require(try JSONSerialization.jsonObject(with: Data(try folder.read("out"))) as? [String: Any])
  }

  @Test func `somebody's own backend is measured beside ours`() throws {
    let report = try run(CacheContender("Mine", version: "7") { _, _ in MemoryBackend() }, "--parts", "sizes")
    let figures = try #require(report["figures"] as? [[String: Any]])
    #expect(
      Set(figures.compactMap { $0["candidate"] as? String }).isSuperset(of: ["Mine", "FileCache", "POSIX floor"]))
    #expect(figures.allSatisfy { ($0["median"] as? Double ?? 0) > 0 })
    #expect((report["candidates"] as? [String])?.contains("Mine 7") == true)
  }

  @Test func `whoever gives other bytes is found out`() {
    #expect(throws: Breach.self) {
      _ = try run(CacheContender("Liar") { _, _ in Liar() }, "--parts", "sizes", "--only", "Liar")
    }
  }

  /// A program of a few lines joins by the protocol.
  @Test(.enabled(if: DebianPackage.areWanted(.python3)))
  func `a program in another language takes part, and one that cannot begin is left out`() throws {
    let folder = try TemporaryFolder("peer")
    let program = try folder.write(
      "peer.py",
      """
      import sys
      print("Fake|1|", flush=True)
      for line in sys.stdin:
          print(" ".join("5000" for _ in line.split()[2:]), flush=True)
      """)
    let report = try run(
      CacheContender("Mine") { _, _ in MemoryBackend() }, "--parts", "sizes", "--only", "Fake", "--peer",
      "python3 \(program)", "--peer", "/nowhere/at/all")
    #expect(report["candidates"] as? [String] == ["POSIX floor", "Fake 1"])
    let figures = try #require(report["figures"] as? [[String: Any]])
    #expect(figures.first { $0["candidate"] as? String == "Fake" }?["median"] as? Double == 5)
    #expect((report["warnings"] as? [String])?.contains { $0.hasPrefix("Left out: ") } == true)
  }
}

/// Gives the bytes of another entry.
private final class Liar: CacheBackend {
  private let memory = MemoryBackend()
  private let last = Lock<EntryKey?>(nil)

  func lookUp(_ key: EntryKey) -> (any EntryLease)? {
    memory.contains(key) ? last.withLock { $0 }.flatMap(memory.lookUp) : nil
  }
  func begin(_ key: EntryKey, expectedBytes: Int?) -> EntryWriter {
    last.withLock { $0 = key }
    return memory.begin(key, expectedBytes: expectedBytes)
  }
  func remove(_ key: EntryKey) { memory.remove(key) }
  func clear() { memory.clear() }
  func statistics() -> BackendStatistics { memory.statistics() }
}
