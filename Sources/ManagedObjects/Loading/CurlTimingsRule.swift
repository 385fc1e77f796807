internal import CurlTransfer

/// libcurl's clock readings, each counted from the start of its transfer, as the stages of a load.
enum CurlTimingsRule {
  /// - Parameter earlier: of the hops before this one; nil: there was none.
  static func timings(_ facts: TransferFacts, after earlier: LoadTimings?) -> LoadTimings {
    var timings = LoadTimings()
    if !facts.reusedConnection {
      timings.resolve = stage(facts.nameLookup, since: .zero)
      timings.connect = stage(facts.connect, since: facts.nameLookup)
      timings.tls = stage(facts.tls, since: facts.connect)
    }
    // Not libcurl's PRETRANSFER: by then it has sent the request already.
    timings.firstByte = stage(facts.firstByte, since: max(facts.connect, facts.tls))
    timings.total = facts.total
    if let earlier { timings.add(earlier) }
    timings.httpVersion = facts.version == .unknown ? nil : facts.version.rawValue
    timings.reusedConnection = facts.reusedConnection
    timings.remoteAddress = facts.address.isEmpty ? nil : facts.address
    return timings
  }

  /// A reading of zero says that the stage was not needed.
  private static func stage(_ reading: Duration, since before: Duration) -> Duration? {
    reading > .zero ? max(.zero, reading - before) : nil
  }
}

extension LoadTimings {
  fileprivate mutating func add(_ other: LoadTimings) {
    let stages: [WritableKeyPath<LoadTimings, Duration?>] = [\.resolve, \.connect, \.tls, \.firstByte, \.total]
    for stage in stages {
      guard let more = other[keyPath: stage] else { continue }
      self[keyPath: stage] = (self[keyPath: stage] ?? .zero) + more
    }
  }
}
