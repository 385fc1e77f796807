/// How often what is known of an id was taken back, so that what was under way then can be told from what began later.
///
/// Whoever begins notes the id's number; another number later means that it was taken back since. Numbers never come
/// again. Few ids are remembered apart: where there were too many, all count as taken back once more.
struct RecallNumbers<ID: Hashable & Sendable>: Sendable {
  static var limitIDs: Int { 4096 }

  private var last: UInt64 = 0
  private var numbers: [ID: UInt64] = [:]
  /// Of all others.
  private var common: UInt64 = 0

  subscript(id: ID) -> UInt64 { numbers.isEmpty ? common : numbers[id] ?? common }

  mutating func note(_ id: ID) {
    if numbers.count >= Self.limitIDs { noteAll() }
    last += 1
    numbers[id] = last
  }

  mutating func noteAll() {
    last += 1
    numbers = [:]
    common = last
  }
}
