/// Makes the progress of several attempts one story: neither bytes nor fraction ever fall.
///
/// An attempt that begins again from zero is silent until it has caught up with the last one. Where it is complete
/// before that, because the new body is shorter, the bytes told so far are told as the whole. A value that says nothing
/// new is swallowed.
package struct ProgressRule: Sendable {
  private var last: LoadProgress?
  /// The greatest told: stays while the total is unknown for a time.
  private var fraction = 0.0

  package init() {}

  /// What to tell; nil: nothing.
  package mutating func pass(_ progress: LoadProgress) -> LoadProgress? {
    let received = max(progress.receivedBytes, last?.receivedBytes ?? 0)
    guard progress.fraction ?? 1 >= fraction else { return nil }
    let told = LoadProgress(receivedBytes: received, expectedBytes: expected(progress, received))
    guard told != last, told.fraction ?? 1 >= fraction else { return nil }
    last = told
    fraction = told.fraction ?? fraction
    return told
  }

  /// The total that keeps the fraction where `received` is more than this attempt has.
  private func expected(_ progress: LoadProgress, _ received: Int) -> Int? {
    guard received > progress.receivedBytes, let fraction = progress.fraction else { return progress.expectedBytes }
    guard fraction > 0 else { return progress.expectedBytes }
    return max(received, Int(exactly: (Double(received) / fraction).rounded(.down)) ?? .max)
  }
}
