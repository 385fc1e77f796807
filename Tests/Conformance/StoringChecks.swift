import Foundation
import ManagedObjects

extension Check {
  /// Around the sizes at which stores change their ways.
  private static let sizes = [0, 1, 4096, 65_535, 65_536, 65_537, 200_000, (3 << 20) + 1]

  static let storing = [
    Check("what is put is found, bytes and facts") { room in
      let cache = try room.open()
      for size in sizes {
        let name = "size \(size)"
        let body = Content.body(of: name, version: 1, count: size)
        let facts = facts()
        try expectSame(try cache.put(key(name), body, facts), body, facts, "the lease of the commit, \(size) bytes")
        guard let found = try cache.lookUp(key(name)) else { throw Breach("a body of \(size) bytes is missing") }
        try expectSame(found, body, facts, "\(size) bytes")
        try expect(try cache.contains(key(name)), "contains is false for what is there")
      }
      try expect(try cache.lookUp(key("never")) == nil, "something was found that was never put")
      try expect(try !cache.contains(key("never")), "contains is true for what was never put")
    },
    Check("keys that differ in one part are different entries") { room in
      let cache = try room.open()
      let long = String(repeating: "x", count: 3000)
      let keys = [
        key("a"), EntryKey(ObjectID("a", namespace: "n")), EntryKey(ObjectID("a", kind: .url)),
        EntryKey(ObjectID("a"), scope: "s"), EntryKey(ObjectID("a"), kind: .error),
        EntryKey(ObjectID("a"), variant: "v"), key("n"), key("/a"), key("_a"), key(""), key("."), key(".."), key("a/b"),
        key("a_b"), key("A"), key("caf\u{E9}"), key("cafe\u{301}"), key(long + "a"), key(long + "b"), key("a\0b"),
      ]
      for (number, key) in keys.enumerated() { try cache.put(key, Data("\(number)".utf8)) }
      for (number, key) in keys.enumerated() {
        try expect(try cache.get(key) == Data("\(number)".utf8), "\(key.id) has another's bytes, or none")
      }
      try expect(try cache.statistics().entries == keys.count, "\(try cache.statistics().entries) of \(keys.count)")
    },
    Check("that errors may be held is said before the first of them is found") { room in
      let cache = try room.open()
      let key = EntryKey(ObjectID("a"), kind: .error)
      try expect(cache.mayHold(.good), "says that there are no good entries")
      let isSure = !cache.mayHold(.error)
      if isSure { try expect(try cache.lookUp(key) == nil, "holds an error and denies it") }
      try cache.put(key, Data("gone".utf8))
      try expect(cache.mayHold(.error), "denies the error that was put")
    },
    Check("that errors may be held is known to another instance", needs: .persists) { room in
      let other = try room.open()
      try room.open().put(EntryKey(ObjectID("a"), kind: .error), Data("gone".utf8))
      try expect(other.mayHold(.error), "denies the error that another instance put")
      try expect(try room.open().mayHold(.error), "denies the error that was put before it was opened")
    },
    Check("a body is read in parts as it is in whole") { room in
      let cache = try room.open()
      for size in [1000, 3 << 20] {
        try cache.put("k", count: size)
        guard let lease = try cache.lookUp(key("k")) else { throw Breach("missing") }
        let whole = Content.body(of: "k", version: 0, count: size)
        var joined = Data()
        while true {
          let part = try lease.read(at: joined.count, atMost: 300_000)
          if part.isEmpty { break }
          joined += part
          try expect(joined.count <= size, "more bytes than there are")
        }
        try expect(joined == whole, "the parts are not the whole of \(size) bytes")
        try expect(try lease.read(at: size + 5, atMost: 10).isEmpty, "bytes behind the end")
      }
    },
    Check("a lent file has just the body, and cannot be written") { room in
      let cache = try room.open()
      for size in [1000, 3 << 20] {
        try cache.put("k", count: size)
        let lease = try cache.lookUp(key("k"))
        guard let path = try lease?.lendPath() else { return }
        try cache.remove(key("k"))
        let body = FileManager.default.contents(atPath: path)
        try expect(body == Content.body(of: "k", version: 0, count: size), "the file has other bytes")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0
        try expect(mode & 0o222 == 0, "the file can be written: \(String(mode, radix: 8))")
        withExtendedLifetime(lease) {}
      }
    },
    Check("another instance finds what was put", needs: .persists) { room in
      for size in sizes { try room.open().put("k\(size)", count: size) }
      for size in sizes { try room.open().expect("k\(size)", count: size) }
      let secret = try room.open().secret()
      try expect(secret.count == 32, "the secret has \(secret.count) bytes")
      try expect(try room.open().secret() == secret, "the secret is another one")
    },
    Check("the secret is 32 bytes, and stays") { room in
      let cache = try room.open()
      try expect(try cache.secret().count == 32 && cache.secret() == cache.secret(), "it does not")
    },
  ]

  private static func expectSame(
    _ lease: any EntryLease, _ body: Data, _ facts: EntryFacts, _ what: String
  ) throws {
    try expect(lease.count == body.count, "\(what): a length of \(lease.count)")
    try expect(try lease.data() == body, "\(what): other bytes")
    var found = lease.facts
    found.checksum = nil
    try expect(found == facts, "\(what): other facts: \(found)")
  }
}
