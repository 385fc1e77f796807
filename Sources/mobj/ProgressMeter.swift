internal import ManagedObjects

/// Makes the numbers of a progress bar from what jobs report. A value: no clock, no output.
///
/// Whatever is reported (lengths unknown, negative or wrong, counts that fall), no number it gives is negative, over-full
/// or not a number, the bytes and the fraction never fall, and a fraction is 1 only when all is done.
struct ProgressMeter {
  struct Reading: Equatable {
    var finished = 0
    /// Among the finished ones.
    var failed = 0
    /// nil: the list of URLs has not ended yet.
    var total: Int?
    var bytes = 0
    /// Over the last seconds; nil while too little is known.
    var bytesPerSecond: Double?
    /// 0...1; nil where there is nothing to measure it by.
    var fraction: Double?
    var left: Duration?
  }

  /// Rates are taken over this long, so that they follow the network without trembling.
  static let window = Duration.seconds(8)
  static let sampleDistance = Duration.milliseconds(200)

  private struct Job {
    let weight: Int
    var received = 0
    var fraction = 0.0
  }

  private struct Sample {
    let time: ContinuousClock.Instant
    let bytes: Int
    let fraction: Double
  }

  private var running: [Int: Job] = [:]
  private var begun = 0
  private var finished = 0
  private var failed = 0
  private var bytesOfFinished = 0
  private var weightBegun = 0
  private var weightFinished = 0
  /// What the weights of all jobs will come to; nil: nobody knows.
  private var weightExpected: Int?
  private var hasListEnded = false
  private var fractionShown = 0.0
  private var samples: [Sample] = []

  /// - Parameter expectedWeight: what the weights of all jobs will come to: bytes of the list, say; nil: unknown.
  init(expectedWeight: Int? = nil, startedAt start: ContinuousClock.Instant) {
    weightExpected = expectedWeight
    samples = [Sample(time: start, bytes: 0, fraction: 0)]
  }

  // MARK: What happens

  /// - Parameter weight: the job's share of the whole work.
  mutating func began(_ job: Int, weight: Int = 1) {
    let weight = max(0, weight)
    running[job] = Job(weight: weight)
    begun += 1
    weightBegun = sum(weightBegun, weight)
  }

  mutating func progressed(_ job: Int, to progress: LoadProgress) {
    guard var state = running[job] else { return }
    state.received = max(state.received, progress.receivedBytes)
    state.fraction = max(state.fraction, progress.fraction ?? 0)
    running[job] = state
  }

  /// - Parameter bytes: length of the body, which stands for the job where it needed no transfer.
  mutating func finished(_ job: Int, bytes: Int = 0, failed hasFailed: Bool = false) {
    guard let state = running.removeValue(forKey: job) else { return }
    finished += 1
    failed += hasFailed ? 1 : 0
    bytesOfFinished = sum(bytesOfFinished, state.received > 0 ? state.received : max(0, bytes))
    weightFinished = sum(weightFinished, state.weight)
  }

  /// No further job will begin.
  mutating func listEnded() {
    hasListEnded = true
    weightExpected = weightBegun
  }

  // MARK: What is shown

  mutating func read(at now: ContinuousClock.Instant) -> Reading {
    var reading = Reading(finished: finished, failed: failed, total: hasListEnded ? begun : nil)
    reading.bytes = running.values.reduce(bytesOfFinished) { sum($0, $1.received) }
    reading.fraction = fraction()
    let oldest = note(Sample(time: now, bytes: reading.bytes, fraction: reading.fraction ?? 0))
    let seconds = (now - oldest.time).inSeconds
    guard seconds >= 0.1 else { return reading }
    reading.bytesPerSecond = max(0, Double(reading.bytes - oldest.bytes)) / seconds
    if let fraction = reading.fraction { reading.left = left(from: oldest, to: fraction, seconds: seconds) }
    return reading
  }

  private mutating func fraction() -> Double? {
    guard let weightExpected else { return nil }
    if hasListEnded, running.isEmpty {
      fractionShown = 1
    } else if weightExpected > 0 {
      let partly = running.values.reduce(0.0) { $0 + Double($1.weight) * $1.fraction }
      let fraction = (Double(weightFinished) + partly) / Double(weightExpected)
      // A list that grew while it was read would come to more than all.
      fractionShown = max(fractionShown, min(fraction, 0.999))
    }
    return fractionShown
  }

  /// Keeps the sample, lets go of those that are too old, and gives the oldest that is kept.
  private mutating func note(_ sample: Sample) -> Sample {
    if let last = samples.last, sample.time - last.time >= Self.sampleDistance { samples.append(sample) }
    let start = sample.time - Self.window
    while samples.count > 1, samples[1].time <= start { samples.removeFirst() }
    return samples.first ?? sample
  }

  private func left(from oldest: Sample, to fraction: Double, seconds: Double) -> Duration? {
    if fraction >= 1 { return .zero }
    let perSecond = (fraction - oldest.fraction) / seconds
    guard perSecond > 0 else { return nil }
    let left = (1 - fraction) / perSecond
    // A year and more is no answer.
    return left < 3e7 ? .seconds(left) : nil
  }

  /// A sum that stops at the largest number instead of trapping.
  private func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
  }
}
