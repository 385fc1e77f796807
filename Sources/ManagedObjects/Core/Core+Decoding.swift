/// The part of the core that turns bytes into objects.
extension Core {
  func decode(_ job: DecodeJob) {
    let key = MemoryKey(id: job.key.id, scope: job.key.scope, representation: job.representation)
    // The same body has been decoded before: a revalidated object is the same object.
    if job.body.loaded.source != .network, let ready = memory.find(key),
      ready.facts.generation == job.body.facts.generation
    {
      if job.body.mayKeep {
        memory.replaceFacts(
          job.body.facts, for: key, ifNoRecallSince: job.body.recallCount, bodyFrom: job.body.bodyTime)
      }
      return decoded(job, .success(DecodedObject(box: ready.box, cost: nil)))
    }
    guard job.body.hasBytes else { return decoded(job, .failure(Self.gone)) }
    if job.seats.first?.decodesInline == true, job.body.loaded.isAtHand(for: job.representation) {
      return run(job, key)
    }
    if decodePool.isExhausted { return decoded(job, .failure(Self.exhausted)) }
    let number = decodeWatch.withLock { $0.enter(job) }
    decodePool.run { [self] in runWatched(number, key) }
  }

  private func runWatched(_ number: UInt64, _ key: MemoryKey) {
    guard let job = decodeWatch.withLock({ $0.begin(number, at: time.now) }) else { return }
    run(job, key)
    if !decodeWatch.withLock({ $0.end(number) }) { decodePool.regainThread() }
  }

  /// Decodes that have run too long end without their result, and their threads are written off.
  func giveUpDecodes() {
    let hung = decodeWatch.withLock { $0.giveUp(startedBefore: time.now - policy.decodeTimeout) }
    for job in hung {
      decodePool.writeOffThread()
      decoded(job, .failure(Self.timedOut(policy.decodeTimeout)))
    }
    guard decodePool.isExhausted else { return }
    for job in decodeWatch.withLock({ $0.giveUpWaiting() }) { decoded(job, .failure(Self.exhausted)) }
  }

  private func run(_ job: DecodeJob, _ key: MemoryKey) {
    do {
      for seat in job.seats {
        guard let object = try seat.decode(job.body.loaded) else { continue }
        keep(object, job, key)
        return decoded(job, .success(object), decodes: 1)
      }
      abandon(job)
    } catch {
      decoded(job, .failure(Self.undecodable(error)), decodes: 1)
    }
  }

  /// All of them are gone. Whoever has joined since wants it all the same.
  private func abandon(_ job: DecodeJob) {
    for seat in job.seats { leave(seat.id, .left) }
    step { $0.decodeAbandoned(job.handler, job.representation, now: self.time.now) }
  }

  /// In memory before anybody is told: whoever asks between finds it there or joins.
  private func keep(_ object: DecodedObject, _ job: DecodeJob, _ key: MemoryKey) {
    guard job.body.mayKeep, let cost = object.cost else { return }
    let ready = ReadyObject(
      box: object.box, facts: job.body.facts, count: job.body.loaded.count, freshUntil: job.body.freshUntil)
    memory.insert(
      ready, for: key, cost: cost, ifNoRecallSince: job.body.recallCount, bodyFrom: job.body.bodyTime)
  }

  private func decoded(_ job: DecodeJob, _ result: Result<DecodedObject, ObjectError>, decodes: Int = 0) {
    step { $0.decoded(job.handler, job.representation, result, decodes: decodes, now: self.time.now) }
  }

  private static func undecodable(_ error: any Error) -> ObjectError {
    error as? ObjectError
      ?? ObjectError(.undecodable, "The bytes could not be decoded: \(error).", underlying: error)
  }

  private static func timedOut(_ limit: Duration) -> ObjectError {
    ObjectError(.decodeTimedOut, "The decoder did not return within \(limit); it goes on running on a lost thread.")
  }

  private static var exhausted: ObjectError {
    ObjectError(.decodeTimedOut, "Every decoding thread hangs in a decoder that does not return.")
  }

  private static var gone: ObjectError {
    ObjectError(.transport, "The bytes are gone from memory; ask again.")
  }
}

/// The decodes that wait for a thread, and those that run, and since when. A value: the time is passed in.
struct DecodeWatch: Sendable {
  private var waiting: [UInt64: DecodeJob] = [:]
  private var running: [UInt64: (job: DecodeJob, since: Moment)] = [:]
  private var last: UInt64 = 0

  var isEmpty: Bool { waiting.isEmpty && running.isEmpty }

  mutating func enter(_ job: DecodeJob) -> UInt64 {
    last += 1
    waiting[last] = job
    return last
  }

  /// nil: it was given up before its turn came.
  mutating func begin(_ number: UInt64, at now: Moment) -> DecodeJob? {
    guard let job = waiting.removeValue(forKey: number) else { return nil }
    running[number] = (job, now)
    return job
  }

  /// False: it was given up before.
  mutating func end(_ number: UInt64) -> Bool { running.removeValue(forKey: number) != nil }

  mutating func giveUp(startedBefore limit: Moment) -> [DecodeJob] {
    let hung = running.filter { $0.value.since <= limit }
    for number in hung.keys { running[number] = nil }
    return hung.sorted { $0.key < $1.key }.map(\.value.job)
  }

  /// No thread will come for those that wait.
  mutating func giveUpWaiting() -> [DecodeJob] {
    let hopeless = waiting.sorted { $0.key < $1.key }.map(\.value)
    waiting = [:]
    return hopeless
  }
}
