import Dispatch
import Foundation
import ManagedObjects

extension Check {
  static let sharing = [
    Check("an entry that is overwritten while it is read is the old or the new, never a mixture") { room in
      let cache = try room.open()
      let sizes = [3000, 120_000, 5000]
      try cache.put("k", count: 3000)
      try atOnce(4) { thread in
        for round in 0..<80 {
          if thread < 2 {
            try cache.put("k", version: UInt64(round), count: sizes[(round + thread) % 3])
          } else if let found = try cache.get(key("k")) {
            try expect(Content.isRight(found, of: "k"), "a mixture of \(found.count) bytes")
          }
        }
      }
      guard let last = try cache.get(key("k")) else { throw Breach("in the end it is missing") }
      try expect(Content.isRight(last, of: "k"), "in the end it is a mixture")
    },
    Check("eight threads do each other no harm") { room in
      let cache = try room.open()
      try atOnce(8) { thread in
        for round in 0..<60 { try work(on: cache, round, thread) }
      }
      for number in 0..<20 {
        guard let found = try cache.get(key("\(number)")) else { continue }
        try expect(Content.isRight(found, of: "\(number)"), "\(number) has other bytes")
      }
    },
    Check("two instances on one folder see each other's work", needs: .persists) { room in
      let (first, second) = (try room.open(), try room.open())
      try first.put("a")
      try second.expect("a")
      try second.put("a", version: 1)
      try first.expect("a", version: 1)
      try second.remove(key("a"))
      try expect(try first.lookUp(key("a")) == nil, "what the other removed is found")
      try atOnce(4) { thread in
        for round in 0..<40 { try work(on: thread.isMultiple(of: 2) ? first : second, round, thread) }
      }
      try first.clear()
      try second.put("b")
      try first.expect("b")
    },
  ]

  /// Some of everything, on twenty names.
  private static func work(on cache: any CacheBackend, _ round: Int, _ thread: Int) throws {
    let name = "\((round * 7 + thread) % 20)"
    switch (round + thread) % 6 {
    case 0: try cache.remove(key(name))
    case 1, 2: try cache.put(name, version: UInt64(round), count: 2000 + 40_000 * (round % 3))
    case 3: _ = try cache.contains(key(name))
    default:
      guard let found = try cache.get(key(name)) else { return }
      try expect(Content.isRight(found, of: name), "\(name) has other bytes")
    }
  }

  /// Runs it on so many threads; what the first of them threw.
  static func atOnce(_ threads: Int, _ work: @Sendable (_ thread: Int) throws -> Void) throws {
    let fault = Lock<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      do { try work(thread) } catch { fault.withLock { $0 = $0 ?? error } }
    }
    if let fault = fault.withLock({ $0 }) { throw fault }
  }
}
