internal import FoundationEssentials

/// Where no stored variant answers a request for the HTTP answer, the server is asked whether one of the others does
/// (RFC 9111 section 4.1).
extension Core {
  /// Where no stored variant answers the request: the server may say that one of the others does (RFC 9111 section 4.1).
  /// nil: there are none, or the one it meant is gone.
  nonisolated(nonsending) func askAboutOthers(_ job: ResponseJob) async -> Result<LoadResponse, ObjectError>? {
    guard let backend, job.method == "GET", job.key.mode == .standard || job.key.mode == .noCache,
      !(ConditionRule.names + ["Range"]).contains(where: job.key.fields.contains),
      !CacheControl(job.key.fields).noStore
    else { return nil }
    let others = await onFilePool { [self] in tagged(job, in: backend) }
    guard !others.isEmpty else { return nil }
    let result = await send(job, ["If-None-Match": others.map(\.tag).joined(separator: ", ")])
    guard case .notModified(let head) = result.outcome else {
      return await onFilePool { [self] in take(result, job, nil) }
    }
    return await onFilePool { [self] in takeOther(head, others, job, result.times, backend).map { .success($0) } }
  }

  private func tagged(_ job: ResponseJob, in backend: any CacheBackend) -> [(EntryKey, tag: String)] {
    do { return try others(than: job.key, in: backend) } catch {
      cacheFailed(job.key.id, ObjectError(cacheFault: error))
      return []
    }
  }

  /// The variant that the 304 names, which from now on answers such requests too.
  private func takeOther(
    _ head: LoadHead, _ others: [(EntryKey, tag: String)], _ job: ResponseJob, _ times: LoadTimes,
    _ backend: any CacheBackend
  ) -> LoadResponse? {
    let named = others.first { other in
      head.fields["ETag"].map { ConditionRule.matches(other.tag, $0) } ?? (others.count == 1)
    }
    // One tag may stand for several codings of the same, if it is weak.
    guard let named, let lease = try? backend.lookUp(named.0),
      VaryRule.isCoded(lease.facts.head, lease.facts.varying, asFor: job.key.fields)
    else { return nil }
    var facts = UpdateRule.updated(
      lease.facts, by: head, requestTime: times.request, responseTime: times.response)
    facts.varying = VaryRule.varying(of: facts.head, to: job.key.fields, secrets: secrets)
    if lease.count <= policy.limitBodyInMemoryBytes, mayStore(facts.head, job.key), let data = try? lease.data() {
      put(data, facts, job.key, in: backend)
      invalidate(job.key, ifRecalledSince: job.recallNumber)
    }
    return answer(job, StoredAnswer(key: named.0, lease: lease), facts, .revalidated)
  }
}
