/// What a cache folder holds, counted file by file: unlike the counters, which are only hints.
package struct StoreSurvey: Hashable, Sendable {
  package var entries = 0
  /// Lengths of the bodies.
  package var bodyBytes = 0
  /// What counts against the limit.
  package var chargedBytes = 0
  /// Among the entries: bodies that are not whole yet, and stored failures.
  package var partials = 0
  package var errors = 0
  /// Heads that cannot be read; `verify` tells why.
  package var unreadable = 0
  /// Files that are being written or lent, or that somebody left who died at it. Those go after the grace.
  package var temporaryFiles = 0
  package var temporaryBytes = 0
  /// Of the last uses of all entries; nil: there is none.
  package var oldestUse: WallTime?
  package var newestUse: WallTime?
  /// nil: the folder cannot be used.
  package var history: StoreHistory?

  package init() {}
}

extension FileStore {
  /// - Parameter progress: called after each entry.
  func survey(_ progress: (StoreSurvey) -> Void) throws(ObjectError) -> StoreSurvey {
    var survey = StoreSurvey()
    guard let folder = openFolder() else { return survey }
    survey.history = folder.counters.history
    for path in [EntryPaths.temp, EntryPaths.lent] {
      for file in temporaries(path, EntryPaths.listed, in: folder) { count(file, in: &survey, folder) }
    }
    for file in temporaries(EntryPaths.itself, { name, _ in FilePath(name) }, in: folder) {
      count(file, in: &survey, folder)
    }
    for shard in 0..<folder.paths.shards {
      var pace = Pace(time)
      let listing = list(shard..<(shard + 1), in: folder, &pace)
      if let fault = listing.unlisted[shard] { throw unlisted(fault) }
      for file in listing.temps { count(file, in: &survey, folder) }
      for name in listing.orphans {
        for body in listing.bodies[name, default: []] { survey.addTemporary(body.bytes) }
      }
      for item in listing.entries {
        survey.add(item, summary(item.name, in: folder))
        progress(survey)
        pace.step(fileSystem)
      }
    }
    return survey
  }

  private func count(_ file: FilePath, in survey: inout StoreSurvey, _ folder: StoreFolder) {
    guard let info = try? fileSystem.info(of: file, in: folder.root), info.kind == .file else { return }
    survey.addTemporary(info.bytes)
  }
}

extension StoreSurvey {
  fileprivate mutating func addTemporary(_ bytes: Int) {
    temporaryFiles += 1
    temporaryBytes += max(0, bytes)
  }

  fileprivate mutating func add(_ item: TrimRule.Item, _ summary: EntrySummary?) {
    entries += 1
    chargedBytes += item.charge
    let lastUse = WallTime(milliseconds: item.lastUse / 1_000_000)
    oldestUse = min(oldestUse ?? lastUse, lastUse)
    newestUse = max(newestUse ?? lastUse, lastUse)
    guard let summary else {
      unreadable += 1
      return
    }
    bodyBytes += min(summary.count, 1 << 44)
    switch summary.key.kind {
    case .good: break
    case .error: errors += 1
    case .partial: partials += 1
    }
  }
}
