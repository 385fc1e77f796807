/// An entry that `verify` found damaged.
package struct DamagedEntry: Hashable, Sendable {
  /// Its head, or the folder that cannot be listed, below the cache's folder.
  package let file: String
  /// nil: the head does not say any more.
  package let id: ObjectID?
  package let problem: String
  /// It is gone. What could not be read for a passing reason stays, as does what cannot be removed.
  package let isRemoved: Bool

  package init(file: String, id: ObjectID?, problem: String, isRemoved: Bool = false) {
    self.file = file
    self.id = id
    self.problem = problem
    self.isRemoved = isRemoved
  }
}

extension FileStore {
  /// Reads every entry in full.
  func verify(
    repairs: Bool, found: (DamagedEntry) -> Void = { _ in }, _ progress: (VerifyResult) -> Void
  ) -> VerifyResult {
    var result = VerifyResult()
    guard let folder = openFolder() else { return result }
    for shard in 0..<folder.paths.shards {
      let names: [EntryName]
      do throws(FileFault) { names = try self.names(in: shard, folder) } catch {
        result.badEntries += 1
        let problem = "the folder cannot be read: \(error)"
        found(DamagedEntry(file: "\(folder.paths.shard(shard))", id: nil, problem: problem))
        continue
      }
      for name in names {
        switch verify(name, in: folder) {
        case .good(let count):
          result.goodEntries += 1
          result.bytes += count
        case .gone: continue
        case .bad(let problem, let seen):
          result.badEntries += 1
          let id = summary(name, in: folder)?.key.id
          let isRemoved = repairs && heal(name, seen: seen, in: folder)
          found(
            DamagedEntry(file: "\(folder.paths.head(name))", id: id, problem: problem, isRemoved: isRemoved))
        }
        progress(result)
      }
      // Counts, and leftovers where that is asked for.
      if repairs { _ = visit(shard..<(shard + 1), goal: nil, in: folder) }
    }
    return result
  }

  private enum Finding {
    case good(Int)
    /// - Parameter FileInfo: of the head; nil: it could not be read now, and whether it is good nobody knows.
    case bad(String, FileInfo?)
    /// Removed since it was listed.
    case gone
  }

  /// Looks once more where something is wrong: an entry may be replaced between its head and its body.
  private func verify(_ name: EntryName, in folder: StoreFolder) -> Finding {
    let first = verifyOnce(name, in: folder)
    guard case .bad = first else { return first }
    return verifyOnce(name, in: folder)
  }

  private func verifyOnce(_ name: EntryName, in folder: StoreFolder) -> Finding {
    do throws(EntryTrouble) {
      let entry = try fileSystem.readEntry(name, in: folder, isWhole: true)
      guard EntryName(entry.key()) == name else { return .bad("the head belongs to another entry", entry.info) }
      if let problem = try problem(of: entry, name, in: folder) { return .bad(problem, entry.info) }
      return .good(entry.format.bodyCount)
    } catch {
      switch error {
      case .missing: return .gone
      case .bad(let info): return .bad("the head is damaged", info)
      case .fault(let fault): return .bad("it cannot be read: \(fault)", nil)
      }
    }
  }

  /// What is wrong with its body; nil: nothing.
  private func problem(
    of entry: borrowing EntryReading, _ name: EntryName, in folder: StoreFolder
  ) throws(EntryTrouble) -> String? {
    let (count, checksum) = (entry.format.bodyCount, entry.format.bodyChecksum)
    if entry.format.place == .inside { return entry.isInsideGood ? nil : "the body has changed" }
    do throws(FileFault) {
      let path = folder.paths.body(name, generation: entry.format.generation)
      let file = try fileSystem.open(path, in: folder.root, .read)
      let info = try fileSystem.info(of: file)
      guard info.kind == .file else { return "the body is no file" }
      guard info.bytes == count else { return "the body has another length" }
      return try fileSystem.checksum(of: file, count: count) == checksum ? nil : "the body has changed"
    } catch {
      if error.isMissing { return "the body is missing" }
      if error.isWrongKind { return "the body is no file" }
      throw .fault(error)
    }
  }
}
