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
      figure("sizes", "get, hit", "FileCache", median: 2.6, ratio: 1.3001),
      figure("sizes", "get, hit", "floor with heads", median: 2.1, ratio: 1.05),
      figure("sizes", "put", "FileCache", ratio: 1.41),
      figure("mixed", "hit ratio", "BigFileCache", value: 0.7),
      figure("mixed", "hit ratio", "exact LRU, simulated", value: 0.702),
      figure("numbers", "trim, per entry", "FileCache", entries: 1000, median: 10, ratio: 1),
      figure("numbers", "trim, per entry", "FileCache", entries: 10_000, median: 13, ratio: 1),
      figure("numbers", "trim, a piece", "BigFileCache", entries: 1000, p99: 12_000),
      figure("numbers", "trim, a piece", "BigFileCache", entries: 10_000, median: 9000, p99: 12_000),
      figure("numbers", "trim, a piece", "FileCache", entries: 10_000, p99: 90_000),
    ]
    let goals = CacheGoals(figures).all
    func isMet(_ name: String) -> Bool? { goals.first { $0.name.hasPrefix(name) }?.isMet }
    #expect(isMet("get, hit") == true)
    #expect(isMet("put") == false)
    #expect(isMet("hit ratio") == true)
    #expect(isMet("an entry in a trim, 10,000 beside 1,000") == false)
    // In milliseconds, at the most entries, and of the one that promises it.
    let pieces = goals.filter { $0.name.hasPrefix("the longest piece") }
    #expect(pieces.map(\.value) == [9, 12] && pieces.map(\.isMet) == [true, false])
    #expect(isMet("open") == nil, "what was not measured is not judged")
    let beside = goals.filter { $0.name.hasSuffix("beside the floor with heads") }
    #expect(beside.map(\.name) == ["get, hit, median, beside the floor with heads"])
    #expect(abs((beside.first?.value ?? 0) - 2.6 / 2.1) < 1e-9)
  }

  @Test func `the floor with heads gives what it was given, and finds what was changed`() throws {
    let folder = try TemporaryFolder("floor")
    let floor = PosixFloor(folder: folder.path)
    let name = FloorName(digest: [UInt8](repeating: 0xA7, count: 32))
    let body = Job(operation: .put, bytes: 100).body(of: 5)
    #expect(floor.put(name, body, behind: 30))
    #expect(floor.get(name, behind: 30) == FloorBody(count: 100, number: 5))
    let file = "a7/" + String(repeating: "a7", count: 16)
    var bytes = try folder.read(file)
    bytes[40] ^= 1
    try folder.write(file, bytes)
    #expect(floor.get(name, behind: 30) == nil)
    #expect(floor.get(FloorName(digest: [UInt8](repeating: 0, count: 32)), behind: 30) == nil)
  }

  @Test func `a bare trim removes the oldest down to its limit`() throws {
    let folder = try TemporaryFolder("floor")
    let floor = PosixFloor(folder: folder.path)
    let names = (0..<5).map { FloorName(digest: [UInt8](repeating: UInt8($0), count: 32)) }
    for (age, name) in names.enumerated() {
      #expect(floor.put(name, [1, 2, 3]))
      let file = folder.path(String(decoding: name.path.dropLast(), as: UTF8.self))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: Double(age))], ofItemAtPath: file)
    }
    floor.trim(to: 9)
    #expect(names.filter(floor.contains).count == 5)
    floor.trim(to: 3)
    #expect(names.map(floor.contains) == [false, false, true, true, true])
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
