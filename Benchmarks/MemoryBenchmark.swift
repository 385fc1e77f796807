import CacheBenchmark
import CurlFloor
import Foundation
import ManagedObjects
import TestSupport

/// `Benchmarks memory`: see the table in `main.swift`.
///
/// Ten thousand objects under URLs of some 60 bytes, all in memory, asked for in an order without order, by one thread.
struct MemoryBenchmark {
  private static let count = 10_000
  private let options: BenchmarkArguments
  private let rounds: Int
  /// Every object is asked for so many times in a round.
  private let repeats: Int
  private let urls: [String]
  /// Places in `urls`.
  private let order: [Int]

  init(_ options: BenchmarkArguments) {
    self.options = options
    rounds = options.isQuick ? 5 : 11
    repeats = options.isQuick ? 20 : 50
    urls = (0..<Self.count).map { "https://cdn.example.org/assets/2024/08/\($0 / 100)/item-\($0).jpg" }
    var random = SeededRandom(seed: 3)
    order = urls.indices.shuffled(using: &random)
  }

  func run() async throws {
    let manager = try await filledManager()
    let cache = filledCache()
    let dictionary = Dictionary(uniqueKeysWithValues: urls.map { ($0, ready()) })
    let contests = [
      gets(dictionary, cache), GetOrInsert(rounds: rounds, isQuick: options.isQuick).contest, manages(manager),
    ]
    var report = ScoreReport(
      title: "Hits in memory", machine: Machine(directory: FileManager.default.temporaryDirectory.path),
      conditions: [
        "\(Self.count) objects of one byte, \(repeats) hits on each in a round, by one thread; names are URLs of 60 bytes.",
        "Get or insert: \(GetOrInsert.keys) URLs by Zipf's law, room for a tenth of them; an insertion after each miss;"
          + " URLs and objects at hand, as with whoever has just made them.",
        "A get is that of the cache itself, its key made from the URL; a `manage` is all of it, for a user of a class of"
          + " its own: request, freshness, callback on this thread.",
      ], scores: [], candidates: [])
    for contest in contests where options.wants(contest) {
      let (scores, figures) = try contest.run { _ in }
      report.scores += scores
      report.candidates += figures
    }
    manager.shutdown()
    if options.wants("Fresh hit") { report.scores += try await HitCost(rounds: rounds).scores() }
    try options.write(report.table, report)
    if let chart = options.chart { try Chart(title: report.title, scores: report.scores).draw(to: chart) }
  }

  // MARK: What is asked

  private func gets(_ dictionary: [String: ReadyObject], _ cache: MemoryCache) -> Contest {
    let representation = ObjectDecoder<Data>.data.representation
    return contest(
      "get",
      [
        ("Dictionary, no lock", { dictionary[urls[$0]]?.count ?? 0 }),
        (
          "MemoryCache",
          {
            cache.find(MemoryKey(id: ObjectID(urls[$0], kind: .url), representation: representation))?.count ?? 0
          }
        ),
      ],
      [
        .init(
          name: "Memory cache, get", measure: .wall, candidate: 1, against: 0, must: 1.5, goal: 1.0)
      ])
  }

  private func manages(_ manager: ObjectManager) -> Contest {
    let users = urls.map { _ in CountingUser() }
    let requests = urls.map { ObjectRequest($0) }
    return contest(
      "manage",
      [
        ("peek", { manager.peek(requests[$0], decodedBy: .data)?.count ?? 0 }),
        // Answered on this thread, or it returns a handler.
        ("manage", { manager.manage(users[$0], for: requests[$0]) == nil ? users[$0].takeBytes() : 0 }),
      ],
      [
        .init(
          name: "manage, answered from memory", measure: .value, candidate: 1, must: 2, goal: 1, unit: "us",
          scale: 1)
      ])
  }

  private func contest(
    _ name: String, _ candidates: [(name: String, ask: (Int) -> Int)], _ bounds: [Contest.Bound]
  ) -> Contest {
    let operations = Self.count * repeats
    return Contest(
      name: name, rounds: rounds, bodies: operations,
      candidates: candidates.map { candidate in
        Contest.Candidate(name: candidate.name) {
          let (wall, cpu) = (floor_now(), floor_cpu())
          var bytes = 0
          for _ in 0..<repeats { for place in order { bytes += candidate.ask(place) } }
          let run = Contest.Run(wall: floor_now() - wall, cpu: floor_cpu() - cpu)
          guard bytes == operations else { throw Wrong("\(candidate.name): \(operations - bytes) misses") }
          return Contest.Run(wall: run.wall, cpu: run.cpu, value: run.wall * 1e6 / Double(operations))
        }
      }, bounds: bounds)
  }

  // MARK: What is there

  private func ready() -> ReadyObject {
    ReadyObject(box: ObjectBox(Data([1])), facts: EntryFacts(head: LoadHead()), count: 1)
  }

  private func filledCache() -> MemoryCache {
    let cache = MemoryCache(limitCost: 1 << 30, eviction: .s3FIFO)
    for url in urls {
      cache.insert(
        ready(), for: MemoryKey(id: ObjectID(url, kind: .url), representation: ObjectDecoder<Data>.data.representation),
        cost: 1)
    }
    return cache
  }

  /// Loaded from a loader that answers at once, for an hour.
  private func filledManager() async throws -> ObjectManager {
    let loader = HeldLoader(scheme: "https") { _, sink in
      sink.head(LoadHead(fields: ["Cache-Control": "max-age=3600", "Content-Length": "1"]))
      sink.append(Data([1]))
      sink.finish()
    }
    let manager = ObjectManager(loaders: [loader])
    for url in urls { _ = try await manager.data(for: ObjectRequest(url)) }
    return manager
  }
}

/// A user that keeps nothing but how many bytes it was given since it was asked last.
private final class CountingUser: ManagedUser {
  private let bytes = Lock(0)

  var representation: Representation { ObjectDecoder<Data>.data.representation }

  func readyFromLoaded(_ loaded: Loaded) throws -> Data { try loaded.data() }

  func ended(_ ending: Ending<Data>) {
    guard case .ready(let data, _) = ending.outcome else { return }
    bytes.withLock { $0 += data.count }
  }

  func takeBytes() -> Int {
    bytes.withLock { bytes in
      defer { bytes = 0 }
      return bytes
    }
  }
}
