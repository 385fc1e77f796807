import Foundation
import ManagedObjects

/// Bodies that say themselves whose they are, so that whoever finds one can tell whether it is right: the number of the
/// version, then blocks of bytes that follow from name and version, each with its place in front.
enum Content {
  private static let wordsOfBlock = 128

  static func body(of name: String, version: UInt64, count: Int) -> Data {
    var block = [UInt64](repeating: 0, count: wordsOfBlock)
    var state = seed(name, version)
    for at in block.indices {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      block[at] = (state ^ state >> 33).littleEndian
    }
    var body = withUnsafeBytes(of: version.littleEndian) { Data($0) }
    body.reserveCapacity(count + 8 * wordsOfBlock)
    while body.count < count {
      block[0] = UInt64(body.count).littleEndian
      block.withUnsafeBytes { body.append(contentsOf: $0) }
    }
    return Data(body.prefix(count))
  }

  /// Whether this is some version's body of that name, whole.
  static func isRight(_ body: Data, of name: String) -> Bool {
    guard body.count >= 8 else { return body == Self.body(of: name, version: 0, count: body.count) }
    let version = body.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    return body == Self.body(of: name, version: version, count: body.count)
  }

  /// FNV-1a, which needs no table.
  private static func seed(_ name: String, _ version: UInt64) -> UInt64 {
    name.utf8.reduce(0xCBF2_9CE4_8422_2325 ^ version) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

func key(_ name: String) -> EntryKey { EntryKey(ObjectID(name)) }

/// Facts as a response has them, the body's name new each time.
func facts(_ reason: String = "OK") -> EntryFacts {
  EntryFacts(
    head: LoadHead(
      status: 200, reason: reason, fields: ["Content-Type": "text/plain", "ETag": "\"v1\"", "Set-Cookie": "a=1"]),
    requestTime: WallTime(seconds: 1000), responseTime: WallTime(seconds: 1001), varying: ["Accept": "text/*"])
}

extension CacheBackend {
  @discardableResult
  func put(_ key: EntryKey, _ body: Data, _ facts: EntryFacts = facts()) throws -> any EntryLease {
    var writer = try begin(key, expectedBytes: body.count)
    // In pieces, as they come from a network.
    for start in stride(from: 0, to: body.count, by: 50_000) {
      try writer.append(body[start..<min(body.count, start + 50_000)].bytes)
    }
    return try writer.commit(facts)
  }

  func get(_ key: EntryKey) throws -> Data? { try lookUp(key)?.data() }

  /// A body of that name, of some version.
  @discardableResult
  func put(_ name: String, version: UInt64 = 0, count: Int = 1000) throws -> any EntryLease {
    try put(key(name), Content.body(of: name, version: version, count: count))
  }

  func expect(_ name: String, version: UInt64 = 0, count: Int = 1000) throws {
    let found = try get(key(name))
    guard found != Content.body(of: name, version: version, count: count) else { return }
    throw Breach("\(name) is \(found.map { "\($0.count) other bytes" } ?? "missing")")
  }
}
