import Foundation
import ManagedObjects

extension Check {
  static let limits = [
    Check("a limit of entries holds over many commits", needs: .holdsLimits) { room in
      let cache = try room.open(entries: 300)
      for number in 0..<1000 { try cache.put("\(number)", count: 100) }
      cache.settle(atMost: .seconds(20))
      let counted = try cache.statistics().entries
      let there = try (0..<1000).count { try cache.contains(key("\($0)")) }
      try expect(counted == there, "it counts \(counted), \(there) are there")
      try expect(there <= 303, "\(there) entries under a limit of 300")
      try expect(there >= 200, "only \(there) are left of 300")
      if room.promises.contains(.ordersByUse) { try cache.expect("999", count: 100) }
    },
    Check("a limit of bytes holds, whatever the sizes", needs: .holdsLimits) { room in
      let limit = 4 << 20
      let cache = try room.open(bytes: limit)
      for number in 0..<300 { try cache.put("\(number)", count: number.isMultiple(of: 7) ? 150_000 : 9000) }
      cache.settle(atMost: .seconds(20))
      let bytes = try (0..<300).reduce(0) { $0 + (try cache.lookUp(key("\($1)"))?.count ?? 0) }
      try expect(bytes <= limit + limit / 100 + 150_000, "\(bytes) bytes under a limit of \(limit)")
      try expect(bytes >= limit / 2, "only \(bytes) bytes are left of \(limit)")
    },
    Check("a body larger than the cache is refused, and costs nothing else", needs: .holdsLimits) { room in
      let cache = try room.open(bytes: 1 << 20)
      try cache.put("small")
      try expectError("a body of three times the limit was stored") { try cache.put("large", count: 3 << 20) }
      try cache.expect("small")
    },
    Check("what was used lately stays", needs: [.holdsLimits, .ordersByUse]) { room in
      let cache = try room.open(entries: 400)
      for number in 0..<400 { try cache.put("\(number)", count: 100) }
      waitForNextDate()
      for number in 0..<40 { try cache.expect("\(number)", count: 100) }
      for number in 0..<40 { try cache.touch(key("\(number)")) }
      waitForNextDate()
      for number in 400..<500 { try cache.put("\(number)", count: 100) }
      cache.settle(atMost: .seconds(20))
      let kept = try (0..<40).count { try cache.contains(key("\($0)")) }
      try expect(kept >= 38, "of forty that were just read only \(kept) are left")
      let new = try (400..<500).count { try cache.contains(key("\($0)")) }
      try expect(new >= 95, "of a hundred new ones only \(new) are left")
    },
    Check("trimming comes to an end, in bounded steps", needs: .holdsLimits) { room in
      let cache = try room.open(entries: 200)
      for number in 0..<400 { try cache.put("\(number)", count: 100) }
      try expectEnd(of: cache, limit: 200)
    },
    Check("what others put is counted and trimmed", needs: [.holdsLimits, .persists]) { room in
      for number in 0..<400 { try room.open().put("\(number)", count: 100) }
      let cache = try room.open(entries: 200)
      let counted = try cache.statistics().entries
      let there = try (0..<400).count { try cache.contains(key("\($0)")) }
      // It may have trimmed when it was opened.
      try expect(counted == there, "it counts \(counted), \(there) are there")
      try expectEnd(of: cache, limit: 200)
    },
  ]

  private static func expectEnd(of cache: any CacheBackend, limit: Int) throws {
    var (steps, isDone) = (0, false)
    while !isDone, steps < 2000 {
      let start = ContinuousClock.now
      let result = try cache.trim(budget: .milliseconds(1))
      try expect(ContinuousClock.now - start < .seconds(5), "a step of a millisecond took seconds")
      try expect(result.removedEntries <= result.lookedAtEntries, "it removed more than it looked at")
      (steps, isDone) = (steps + 1, result.isDone)
    }
    cache.settle(atMost: .seconds(20))
    try expect(isDone, "it is not done after \(steps) steps")
    let left = try cache.statistics().entries
    try expect(left <= limit + limit / 100 && left >= limit / 2, "\(left) are left of \(limit)")
  }
}
