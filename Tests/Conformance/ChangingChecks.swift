import Foundation
import ManagedObjects

extension Check {
  private static let sizes = [1000, 200_000, 3 << 20]

  static let changing = [
    Check("a new body takes the place of the old") { room in
      let cache = try room.open()
      for (version, size) in (sizes + sizes.reversed()).enumerated() {
        try cache.put("k", version: UInt64(version), count: size)
        try cache.expect("k", version: UInt64(version), count: size)
        try expect(try cache.statistics().entries == 1, "it counts \(try cache.statistics().entries) entries")
      }
    },
    Check("a lease stays as it was when its entry is replaced, removed or cleared") { room in
      for size in sizes {
        let cache = try room.open()
        for change in 0..<3 {
          try cache.put("k", version: 7, count: size)
          guard let lease = try cache.lookUp(key("k")) else { throw Breach("missing") }
          switch change {
          case 0: try cache.put("k", version: 8, count: size)
          case 1: try cache.remove(key("k"))
          default: try cache.clear()
          }
          let body = Content.body(of: "k", version: 7, count: size)
          try expect(try lease.data() == body, "change \(change), \(size) bytes: it has other bytes")
        }
      }
    },
    Check("what is not committed is never seen, and leaves nothing") { room in
      let cache = try room.open()
      try cache.put("kept")
      let before = try cache.statistics()
      for name in ["new", "kept"] {
        for size in sizes {
          var writer = try cache.begin(key(name), expectedBytes: nil)
          try writer.append(Content.body(of: name, version: 9, count: size).bytes)
          try expect(try name == "kept" || cache.lookUp(key(name)) == nil, "it is seen before it is committed")
        }
      }
      try expect(try cache.lookUp(key("new")) == nil, "it is there although nobody committed it")
      try cache.expect("kept")
      let after = try cache.statistics()
      try expect(after.entries == before.entries && after.bytes == before.bytes, "the counts have changed")
    },
    Check("two writers of one key: the last to commit is found, whole") { room in
      let cache = try room.open()
      for size in sizes {
        let bodies = (0..<2).map { Content.body(of: "k", version: UInt64($0), count: size) }
        var first = try cache.begin(key("k"), expectedBytes: size)
        var second = try cache.begin(key("k"), expectedBytes: size)
        for start in stride(from: 0, to: size, by: 40_000) {
          try first.append(bodies[0][start..<min(size, start + 40_000)].bytes)
          try second.append(bodies[1][start..<min(size, start + 40_000)].bytes)
        }
        _ = try second.commit(facts())
        try cache.expect("k", version: 1, count: size)
        _ = try first.commit(facts())
        try cache.expect("k", version: 0, count: size)
        try expect(try cache.statistics().entries == 1, "it counts \(try cache.statistics().entries) entries")
      }
    },
    Check("a writer gives back what it was given, or says that it does not") { room in
      let cache = try room.open()
      for size in sizes {
        let body = Content.body(of: "k", version: 1, count: size)
        var writer = try cache.begin(key("k"), expectedBytes: size)
        try writer.append(body.bytes)
        guard let salvaged = try? writer.salvage() else { continue }
        try expect(salvaged == body, "it gave back other bytes")
      }
    },
    Check("a 304 changes the facts and keeps the bytes") { room in
      let cache = try room.open()
      for size in sizes {
        try cache.put("k", count: size)
        guard var facts = try cache.lookUp(key("k"))?.facts else { throw Breach("missing") }
        facts.head.reason = "Renewed"
        facts.responseTime = WallTime(seconds: 5000)
        try cache.update(key("k"), facts: facts)
        guard let found = try cache.lookUp(key("k")) else { throw Breach("it is gone") }
        try expect(found.facts.head.reason == "Renewed", "the facts are the old ones")
        try expect(found.facts.responseTime == WallTime(seconds: 5000), "the times are the old ones")
        try cache.expect("k", count: size)
      }
    },
    Check("a 304 for a body that is not there changes nothing") { room in
      let cache = try room.open()
      try cache.put("k")
      try cache.update(key("k"), facts: facts("Other"))
      try expect(try cache.lookUp(key("k"))?.facts.head.reason == "OK", "another body's facts were taken")
      try cache.update(key("none"), facts: facts())
      try expect(try cache.lookUp(key("none")) == nil, "an entry was made of facts alone")
    },
    Check("what is removed is gone, and removing it again is no error") { room in
      let cache = try room.open()
      try cache.put("a")
      try cache.put("b", count: 200_000)
      for name in ["a", "b", "a", "never"] { try cache.remove(key(name)) }
      try expect(try cache.lookUp(key("a")) == nil && cache.lookUp(key("b")) == nil, "it is found still")
      try expect(try cache.statistics().entries == 0, "it counts \(try cache.statistics().entries) entries")
    },
    Check("clearing leaves nothing, and the cache goes on") { room in
      let cache = try room.open()
      for number in 0..<20 { try cache.put("\(number)", count: number * 10_000) }
      try cache.clear()
      for number in 0..<20 { try expect(try cache.lookUp(key("\(number)")) == nil, "\(number) is there still") }
      let statistics = try cache.statistics()
      try expect(statistics.entries == 0 && statistics.bytes == 0, "it counts \(statistics)")
      try cache.put("new")
      try cache.expect("new")
    },
    Check("hits and misses are counted, or none are") { room in
      let cache = try room.open()
      try cache.put("k")
      for _ in 0..<3 { _ = try cache.lookUp(key("k")) }
      for _ in 0..<2 { _ = try cache.lookUp(key("none")) }
      let counted = try cache.statistics()
      try expect(
        (counted.hits, counted.misses) == (0, 0) || (counted.hits, counted.misses) == (3, 2),
        "\(counted.hits) hits and \(counted.misses) misses, not 3 and 2")
    },
    Check("every entry is shown once, and a visitor may remove and stop", needs: .lists) { room in
      let cache = try room.open()
      for number in 0..<50 { try cache.put("\(number)", count: number) }
      var seen: [String: Int] = [:]
      try cache.forEach({ entry in
        seen[entry.key.id.name, default: 0] += 1
        return entry.count.isMultiple(of: 2) ? .keep : .remove
      })
      try expect(seen.count == 50 && seen.values.allSatisfy { $0 == 1 }, "seen: \(seen)")
      try expect(try cache.statistics().entries == 25, "\(try cache.statistics().entries) are left of 25")
      var visits = 0
      try cache.forEach({ _ in
        visits += 1
        return .stop
      })
      try expect(visits == 1, "it went on for \(visits) visits")
      let verified = try cache.verify(repairs: false) { _ in }
      try expect(verified.goodEntries == 25 && verified.badEntries == 0, "\(verified)")
    },
  ]
}
