/// Answers that failed, so that a missing object is not asked for a hundred times a second. Applies only where the
/// server says nothing itself about how long its answer holds; ends by itself, and at once for `.reload`.
///
///     404, 410                  FailureMemoryPolicy.missing
///     other 4xx but 408, 429    FailureMemoryPolicy.refused
///     all else                  not remembered: it may be over at any moment
///
/// Bounded: when full, the failure remembered first goes first. A value; time comes in with each call.
package struct FailureMemory<Key: Hashable & Sendable>: Sendable {
  package typealias Instant = Moment

  private struct Entry: Sendable {
    let error: ObjectError
    let until: Instant
  }

  private let policy: FailureMemoryPolicy
  private var entries: BoundedMemory<Key, Entry>

  package init(policy: FailureMemoryPolicy) {
    self.policy = policy
    entries = BoundedMemory(limit: policy.limitEntries)
  }

  package var count: Int { entries.count }

  package mutating func remember(_ error: ObjectError, for key: Key, at now: Instant) {
    guard let head = error.head, error.code == .httpStatus, let time = time(for: head.status), time > .zero,
      !FreshnessRule.isExplicit(head.fields)
    else { return }
    entries.set(key, to: Entry(error: error, until: now + time))
  }

  /// The error again, saying that it is remembered; nil where there is none or its time is over.
  package func recall(_ key: Key, at now: Instant) -> ObjectError? {
    guard let entry = entries[key], now < entry.until else { return nil }
    // Rounded up: "0 s" would read as over.
    let seconds = max(1, (entry.until - now + .milliseconds(999)).wholeMilliseconds / 1000)
    let error = entry.error
    return ObjectError(
      error.code,
      "\(error.message) This is remembered from an earlier request for \(seconds) s more; CacheMode.reload asks again.",
      head: error.head, bodyStart: error.bodyStart, underlying: error.underlying)
  }

  package mutating func forget(_ key: Key) { entries.remove(key) }

  package mutating func forget(where fits: (Key) -> Bool) { entries.removeAll(where: fits) }

  private func time(for status: Int) -> Duration? {
    switch status {
    case 404, 410: policy.missing
    case 408, 429: nil
    case 400..<500: policy.refused
    default: nil
    }
  }
}

/// Stored bytes that no representation could decode. They are asked about again although fresh, after a wait that
/// doubles each time they prove undecodable again: a 304 repeats the failure, new bytes end it.
package struct SuspectMemory<Key: Hashable & Sendable>: Sendable {
  package typealias Instant = Moment

  private struct Entry: Sendable {
    var wait: Duration
    var due: Instant
  }

  private let policy: FailureMemoryPolicy
  private var entries: BoundedMemory<Key, Entry>

  package init(policy: FailureMemoryPolicy) {
    self.policy = policy
    entries = BoundedMemory(limit: policy.limitEntries)
  }

  package var count: Int { entries.count }

  /// The bytes could not be decoded. Further failures while the wait lasts are the same one.
  package mutating func note(_ key: Key, at now: Instant) {
    var wait = policy.undecodable
    if let entry = entries[key] {
      guard now >= entry.due else { return }
      wait = entry.wait * 2
    }
    wait = max(.zero, min(wait, policy.limitUndecodable))
    entries.set(key, to: Entry(wait: wait, due: now + wait))
  }

  /// Whether it is time to ask the server.
  package func isSuspect(_ key: Key, at now: Instant) -> Bool { entries[key].map { now >= $0.due } ?? false }

  /// The bytes were decoded, or are gone.
  package mutating func clear(_ key: Key) { entries.remove(key) }

  package mutating func clear(where fits: (Key) -> Bool) { entries.removeAll(where: fits) }
}

/// A dictionary that, when full, forgets what was set first.
struct BoundedMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    var value: Value
    var number: UInt64
  }

  private let limit: Int
  private var entries: [Key: Entry] = [:]
  /// Keys in the order in which they were set; those removed or set again since are passed over by their number.
  private var order: [(key: Key, number: UInt64)] = []
  private var first = 0
  private var nextNumber: UInt64 = 0

  init(limit: Int) { self.limit = max(0, limit) }

  var count: Int { entries.count }

  subscript(key: Key) -> Value? { entries.isEmpty ? nil : entries[key]?.value }

  mutating func set(_ key: Key, to value: Value) {
    guard limit > 0 else { return }
    entries[key] = Entry(value: value, number: nextNumber)
    order.append((key, nextNumber))
    nextNumber += 1
    while entries.count > limit, first < order.count { forgetFirst() }
    if order.count > 2 * entries.count + 64 { compact() }
  }

  mutating func remove(_ key: Key) {
    if !entries.isEmpty { entries[key] = nil }
  }

  mutating func removeAll(where fits: (Key) -> Bool) {
    if !entries.isEmpty { entries = entries.filter { !fits($0.key) } }
  }

  private mutating func forgetFirst() {
    let (key, number) = order[first]
    first += 1
    if entries[key]?.number == number { entries[key] = nil }
  }

  private mutating func compact() {
    order = order[first...].filter { entries[$0.key]?.number == $0.number }
    first = 0
  }
}
