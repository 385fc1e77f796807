public import FoundationEssentials

extension CacheBackend {
  public func contains(_ key: EntryKey) throws -> Bool { try lookUp(key) != nil }

  public func mayHold(_ kind: EntryKey.Kind) -> Bool { true }

  public func update(_ key: EntryKey, facts: EntryFacts) throws {
    guard let old = try lookUp(key), old.facts.generation == facts.generation else { return }
    let body = try old.data()
    var writer = try begin(key, expectedBytes: body.count)
    try writer.append(body.bytes)
    _ = try writer.commit(facts)
  }

  public func touch(_ key: EntryKey) throws {}

  public func forEach(_ visit: (EntrySummary) throws -> EntryVerdict) throws {
    throw ObjectError(.cacheBroken, "This cache cannot list its entries.")
  }

  public func trim(budget: Duration) throws -> TrimResult { TrimResult() }

  public func settle(atMost time: Duration) {}

  public func verify(repairs: Bool, progress: (VerifyResult) -> Void) throws -> VerifyResult {
    var result = VerifyResult()
    try forEach { entry in
      // A look-up removes what it finds damaged, and large bodies are read by `data`.
      if let lease = try lookUp(entry.key), (try? lease.data()) != nil {
        result.goodEntries += 1
        result.bytes += lease.count
      } else {
        result.badEntries += 1
      }
      progress(result)
      return .keep
    }
    return result
  }

  public func secret() throws -> [UInt8] { secretOfThisProcess }

  public var appendsQuickly: Bool { false }
}

extension EntryLease {
  public func lendPath() throws -> String? { nil }

  public func read(at offset: Int, atMost count: Int) throws -> Data {
    try data().dropFirst(max(0, offset)).prefix(max(0, count))
  }
}

extension EntryWriting {
  public func salvage() throws -> Data {
    throw ObjectError(.cacheBroken, "The cache does not give back what it was given.")
  }
}

/// Random bytes, new for each process.
private let secretOfThisProcess: [UInt8] = randomBytes(32)

func randomBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }
