internal import ManagedObjects

/// The meter of a run, where transfers on any thread may report to it.
final class Scoreboard: Sendable {
  private let meter: Lock<ProgressMeter>

  init(_ meter: ProgressMeter) { self.meter = Lock(meter) }

  func began(_ job: Int, weight: Int) { meter.withLock { $0.began(job, weight: weight) } }

  func progressed(_ job: Int, to progress: LoadProgress) { meter.withLock { $0.progressed(job, to: progress) } }

  func finished(_ job: Int, _ outcome: Outcome) {
    meter.withLock { $0.finished(job, bytes: outcome.bytes, failed: outcome.error != nil) }
  }

  func listEnded() { meter.withLock { $0.listEnded() } }

  func read(at now: ContinuousClock.Instant) -> ProgressMeter.Reading { meter.withLock { $0.read(at: now) } }
}
