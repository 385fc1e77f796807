/// Whether a load that failed is tried again, where, and when. One value for one load of GET or HEAD.
///
/// An object may have several locations (mirrors). A round tries, in order and without waiting, each that may still
/// help; after a round it waits, twice as long each time, and starts the next. A single location is the same with
/// rounds of one. What becomes of a location:
///
///     transport, timedOut, wrongLength, 502–504    the next one at once; this one again in the next round
///     408, 429                                     after a wait, the first that may be asked then
///     404, 410, other 5xx, invalidURL,             the next one at once; this one never again
///     unsupportedScheme, checksumMismatch, tls
///     all else                                     the end: no other try could help
///
/// Each location is tried `limitTries` times; an attempt that brought new bytes is not counted, and sets the other
/// counts, the wait and the time limit back. A wait is random between zero and its limit ("full jitter", Brooker, AWS
/// Architecture Blog 2015), so that many clients do not come back together, but at least what Retry-After says;
/// that part of it does not count against the time limit. When nothing is left, the error is the last attempt's.
package struct RetryRule: Sendable {
  package typealias Instant = Moment

  package enum Step: Sendable {
    /// Index into the locations, and how long to wait before.
    case again(location: Int, after: Duration)
    case giveUp(ObjectError)
  }

  private struct Location: Sendable {
    /// Attempts that brought nothing new.
    var tries = 0
    var isDead = false
    /// As its server asked.
    var notBefore: Instant?
  }

  /// Where the attempt that is under way, or is to be started, loads from.
  package private(set) var location = 0
  private let policy: RetryPolicy
  private let limitRetryAfter: Duration
  private var locations: [Location]
  private var startedAt: Instant
  /// Waits since there was progress.
  private var waits = 0

  package init(policy: RetryPolicy, limitRetryAfter: Duration, locations: Int, startedAt: Instant) {
    self.policy = policy
    self.limitRetryAfter = limitRetryAfter
    self.locations = Array(repeating: Location(), count: max(1, locations))
    self.startedAt = startedAt
  }

  /// There are so many by now: others may have come since it began.
  package mutating func know(locations count: Int) {
    while locations.count < count { locations.append(Location()) }
  }

  /// - Parameters:
  ///   - receivedNewBytes: the attempt brought bytes of the object that none before it had brought.
  ///   - retryAfter: what `RetryAfterRule` read in the response.
  ///   - random: 0..<1.
  package mutating func next(
    after error: ObjectError, receivedNewBytes: Bool, retryAfter: Duration?, now: Instant, random: Double
  ) -> Step {
    let remedy = Remedy(for: error)
    guard remedy != .none else { return .giveUp(error) }
    note(receivedNewBytes, now)
    // One try means one, though it brought bytes.
    let isSpent = policy.limitTries <= 1 || locations[location].tries >= policy.limitTries
    if remedy == .elsewhere || isSpent { locations[location].isDead = true }
    if remedy != .waiting, let other = nextInRound(now) { return go(to: other, after: .zero) }
    if let retryAfter, remedy != .elsewhere {
      guard retryAfter <= limitRetryAfter else { return overLimit(error, retryAfter, now) }
      locations[location].notBefore = now + retryAfter
    }
    return wait(error, now, random)
  }

  private mutating func note(_ receivedNewBytes: Bool, _ now: Instant) {
    guard receivedNewBytes else {
      locations[location].tries += 1
      return
    }
    for index in locations.indices { locations[index].tries = 0 }
    waits = 0
    startedAt = now
  }

  /// The next location of this round that may help.
  private func nextInRound(_ now: Instant) -> Int? {
    locations.indices.dropFirst(location + 1).first { !locations[$0].isDead && askedWait($0, now) == .zero }
  }

  private mutating func go(to next: Int, after delay: Duration) -> Step {
    location = next
    return .again(location: next, after: delay)
  }

  // MARK: Between rounds

  private mutating func wait(_ error: ObjectError, _ now: Instant, _ random: Double) -> Step {
    let alive = locations.indices.filter { !locations[$0].isDead }
    // The one that may be asked first; of equal ones the first.
    guard let next = alive.min(by: { askedWait($0, now) < askedWait($1, now) }) else { return .giveUp(error) }
    let asked = askedWait(next, now)
    let delay = max(jitter(random), asked)
    // The server's share of the wait is not ours to save.
    guard (now - startedAt) + delay - asked <= policy.limitTime else { return .giveUp(error) }
    startedAt += asked
    waits += 1
    return go(to: next, after: delay)
  }

  /// How long the location's server asked to wait, from now on.
  private func askedWait(_ index: Int, _ now: Instant) -> Duration {
    locations[index].notBefore.map { max(.zero, $0 - now) } ?? .zero
  }

  private func jitter(_ random: Double) -> Duration {
    var limit = max(.zero, policy.firstDelay)
    for _ in 0..<min(waits, 40) where limit < policy.limitDelay { limit = limit * 2 }
    return min(limit, max(.zero, policy.limitDelay)) * min(max(random, 0), 1)
  }

  /// The server asks for more patience than we have: another location, or an error that names the wait.
  private mutating func overLimit(_ error: ObjectError, _ retryAfter: Duration, _ now: Instant) -> Step {
    locations[location].isDead = true
    if let other = locations.indices.first(where: { !locations[$0].isDead }) { return go(to: other, after: .zero) }
    let message =
      "The server asks to wait \(retryAfter.wholeMilliseconds / 1000) s, longer than Policy.limitRetryAfter of "
      + "\(limitRetryAfter.wholeMilliseconds / 1000) s; ask again later."
    return .giveUp(
      ObjectError(.retryLater, message, head: error.head, bodyStart: error.bodyStart, underlying: error))
  }

  /// Whether an answer with this status is asked for again at the same location.
  package static func isRetried(status: Int) -> Bool { [.waiting, .either].contains(Remedy(forStatus: status)) }

  /// What may help after an error.
  private enum Remedy {
    case none, elsewhere
    /// The same location, after a wait.
    case waiting
    /// Another location at once, or the same after a wait.
    case either

    init(for error: ObjectError) {
      switch error.code {
      case .transport, .timedOut, .wrongLength: self = .either
      case .invalidURL, .unsupportedScheme, .checksumMismatch, .tls: self = .elsewhere
      case .httpStatus: self = Remedy(forStatus: error.head?.status ?? 0)
      default: self = .none
      }
    }

    init(forStatus status: Int) {
      switch status {
      case 408, 429: self = .waiting
      case 502...504: self = .either
      case 404, 410, 500...599: self = .elsewhere
      default: self = .none
      }
    }
  }
}
