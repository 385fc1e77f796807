internal import FoundationEssentials

/// Which entries of a backend answer a request, and where an answer is put. A backend knows nothing of Vary: see
/// `VariantIndex`. All of it runs on the I/O pool.
extension Core {
  struct FoundAnswers {
    var all: [(EntryKey, any EntryLease)] = []
    /// Why there are none, where there are none.
    var missing = AnswerReason.absent
  }

  /// Those that may answer it as far as Vary tells: its own, and public ones, which are everybody's.
  func answers(
    to key: HandlerKey, _ kind: EntryKey.Kind = .good, in backend: any CacheBackend
  ) throws -> FoundAnswers {
    let own = entryKey(key, in: backend, nil, kind)
    var answers = try variants(at: own, key, in: backend)
    guard !own.scope.isEmpty else { return answers }
    let shared = try variants(at: EntryKey(key.id, kind: kind), key, in: backend).all
    answers.all += shared.filter { key.mayUseAnonymous || StoreRule.isPublic($0.1.facts.head) }
    return answers
  }

  /// Where no variant answers the request, those that might all the same, if the server says so.
  func others(than key: HandlerKey, in backend: any CacheBackend) throws -> [(EntryKey, tag: String)] {
    let base = entryKey(key, in: backend)
    guard let index = try backend.lookUp(base).flatMap({ VariantIndex($0.facts) }) else { return [] }
    return index.tags.map { (EntryKey(base.id, scope: base.scope, kind: base.kind, variant: $0.variant), $0.tag) }
  }

  private func variants(
    at base: EntryKey, _ key: HandlerKey, in backend: any CacheBackend
  ) throws -> FoundAnswers {
    guard let lease = try backend.lookUp(base) else { return FoundAnswers() }
    guard let index = VariantIndex(lease.facts) else { return FoundAnswers(all: [(base, lease)]) }
    let variants = try index.sets.compactMap { names in
      let entry = self.entry(names, of: index, at: base, key)
      return try backend.lookUp(entry).map { (entry, $0) }
    }
    return FoundAnswers(all: variants, missing: .varies)
  }

  private func entry(_ names: [String], of index: VariantIndex, at base: EntryKey, _ key: HandlerKey) -> EntryKey {
    let text = index.text(names, request: key.fields, secrets: secrets)
    return EntryKey(base.id, scope: base.scope, kind: base.kind, variant: SHA256Digest(of: Array(text.utf8)).hex)
  }

  /// Starts the entry for an answer with this head.
  func begin(
    _ key: HandlerKey, _ head: LoadHead, _ kind: EntryKey.Kind = .good, expectedBytes: Int?,
    in backend: any CacheBackend
  ) throws -> EntryWriter {
    let base = entryKey(key, in: backend, head, kind)
    guard let names = VaryRule.names(of: head, to: key.fields), !names.isEmpty else {
      return try backend.begin(base, expectedBytes: expectedBytes)
    }
    let seat = variantDesk.enter(base)
    let known = try backend.lookUp(base).flatMap { VariantIndex($0.facts) }
    let index = VariantIndex(generation: seat.generation(stored: known?.generation))
    let entry = entry(names, of: index, at: base, key)
    let writer = try backend.begin(entry, expectedBytes: expectedBytes)
    return EntryWriter(
      VariantWriter(writer) { [self] facts in
        seat.inTurn { [self] in
          // The answer is stored and good, whatever becomes of the way to it.
          do {
            try note(names, entry, tag: facts.head.fields["ETag"], index.generation, seat, at: base, in: backend)
          } catch { cacheFailed(key.id, ObjectError(cacheFault: error)) }
        }
      })
  }

  /// In the index as it is by now. Where it is another one, or was removed, this answer is out of reach.
  private func note(
    _ names: [String], _ entry: EntryKey, tag: String?, _ generation: UInt64, _ seat: VariantSeat, at base: EntryKey,
    in backend: any CacheBackend
  ) throws {
    if let known = try backend.lookUp(base).flatMap({ VariantIndex($0.facts) }) {
      guard known.generation == generation else { return }
      var new = known
      new.note(names, entry.variant, tag: tag)
      if new != known { try backend.update(base, facts: new.facts) }
    } else if seat.mayMakeIndex(of: generation) {
      var new = VariantIndex(generation: generation)
      new.note(names, entry.variant, tag: tag)
      var writer = try backend.begin(base, expectedBytes: 0)
      _ = try writer.commit(new.facts)
    }
  }

  /// Also where it is too damaged to be found.
  func remove(_ key: HandlerKey, in backend: any CacheBackend) throws {
    for base in try places(of: key, in: backend) { try backend.remove(base) }
  }

  /// Where its answers are: its own, and those public ones that would answer it.
  func places(of key: HandlerKey, in backend: any CacheBackend) throws -> [EntryKey] {
    try [EntryKey.Kind.good, .error].flatMap { kind -> [EntryKey] in
      let own = entryKey(key, in: backend, nil, kind)
      guard !own.scope.isEmpty, let shared = try answers(to: key, kind, in: backend).all.last?.0, shared.scope.isEmpty
      else {
        return [own]
      }
      return [own, EntryKey(key.id, kind: kind)]
    }
  }

  /// Whether what the server says to this request may be written down in that entry: one credential is told nothing that
  /// is for everybody, unless it is public.
  static func mayUpdate(_ entry: EntryKey, _ head: LoadHead, by key: HandlerKey) -> Bool {
    !entry.scope.isEmpty || key.scope.isEmpty || StoreRule.isPublic(head)
  }

  // MARK: Names

  /// The place of this request's answers, under the empty variant; a public answer's under everybody's name.
  func entryKey(
    _ key: HandlerKey, in backend: any CacheBackend, _ head: LoadHead? = nil, _ kind: EntryKey.Kind = .good
  ) -> EntryKey {
    if key.scope.isEmpty || head.map(StoreRule.isPublic) == true { return EntryKey(key.id, kind: kind) }
    guard key.scope.hasPrefix("secret:") else { return EntryKey(key.id, scope: key.scope, kind: kind) }
    let secret = secret(of: backend)
    let scope = scopes.scope(named: nil, fields: key.fields) { SHA256Digest(of: $0, key: secret).hex }
    return EntryKey(key.id, scope: scope, kind: kind)
  }

  /// The folder's own secret: with it the same credential finds its entries again in the next process.
  private func secret(of backend: any CacheBackend) -> [UInt8] {
    if let known = backendSecret.withLock({ $0 }) { return known }
    let secret: [UInt8]
    do { secret = try backend.secret() } catch {
      cacheFailed(nil, ObjectError(cacheFault: error))
      secret = processSecret
    }
    return backendSecret.withLock { known in
      known = known ?? secret
      return known ?? secret
    }
  }

  /// Values of secret fields that Vary names, as they may be stored.
  var secrets: VaryRule.Secrets {
    VaryRule.Secrets(names: policy.secretFields) { [self] value in
      SHA256Digest(of: Array(value.utf8), key: storedSecret).hex
    }
  }

  /// For digests that are stored.
  var storedSecret: [UInt8] { backend.map { secret(of: $0) } ?? processSecret }
}
