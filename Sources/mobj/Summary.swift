internal import ManagedObjects

/// Counts how objects ended, and says so in a line.
///
///     mobj: 1,234 objects, 45.6 MB, 3.2 s (1,200 from the network, 34 from the cache)
///     mobj: 1 object, 1.3 kB, 45 ms (revalidated)
///     mobj: 0 objects, 0 B, 3 ms; 1 failed
struct Summary {
  private(set) var failed = 0
  private(set) var givenUp = 0
  private var good = 0
  private var bytes = 0
  private var sources: [ObjectSource: Int] = [:]

  mutating func add(_ outcome: Outcome) {
    if outcome.isGivenUp {
      givenUp += 1
    } else if outcome.error != nil {
      failed += 1
    } else {
      good += 1
      bytes += max(0, outcome.bytes)
      if let source = outcome.source { sources[source, default: 0] += 1 }
    }
  }

  func text(took duration: Duration) -> String {
    var text = "mobj: \(Figures.objects(good)), \(Figures.bytes(bytes)), \(Figures.timeTaken(duration))"
    if !origins.isEmpty { text += " (\(origins.joined(separator: ", ")))" }
    if failed > 0 { text += "; \(Figures.count(failed)) failed" }
    if givenUp > 0 { text += "; \(Figures.count(givenUp)) given up" }
    return text
  }

  private var origins: [String] {
    let names: [(ObjectSource, String)] = [
      (.network, "from the network"), (.revalidated, "revalidated"), (.file, "from the cache"),
      (.memory, "from memory"), (.stale, "stale"),
    ]
    return names.compactMap { source, name in
      guard let count = sources[source] else { return nil }
      return good == 1 ? name : "\(Figures.count(count)) \(name)"
    }
  }
}
