import Glibc

/// A store of bodies under names.
protocol Peer: AnyObject {
  /// "name|version|abilities".
  var introduction: String { get }

  /// Opens it anew, as a process that starts does.
  func reopen(limitEntries: Int) throws
  func put(_ key: String, _ body: [UInt8]) throws
  /// - Parameter touches: whether this is a use that counts for what is removed last.
  func get(_ key: String, touches: Bool) throws -> [UInt8]?
  func contains(_ key: String) throws -> Bool
  func count() throws -> Int
  /// Goes down to the limit; the time of each step, in nanoseconds.
  func trim() throws -> [Int]
}

struct PeerFault: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// One line of work.
struct PeerJob {
  private let operation: Substring
  /// The length of the bodies.
  private let number: Int
  /// Of `open` first the limit.
  private let keys: [Int]

  init(_ line: String) throws {
    let words = line.split(separator: " ")
    guard words.count >= 2, let number = Int(words[1]) else { throw PeerFault("no job: \(line.prefix(80))") }
    operation = words[0]
    self.number = number
    keys = words.dropFirst(2).compactMap { Int($0) }
  }

  func run(on peer: any Peer) throws -> [Int] {
    switch operation {
    case "open": return [try open(peer)]
    case "trim": return try peer.trim()
    case "count": return [try peer.count()]
    default: return try keys.map { try measure($0, peer) }
    }
  }

  private func open(_ peer: any Peer) throws -> Int {
    let start = now()
    try peer.reopen(limitEntries: keys.first ?? 0)
    for key in keys.dropFirst() { _ = try peer.get(name(key), touches: false) }
    return now() - start
  }

  private func measure(_ key: Int, _ peer: any Peer) throws -> Int {
    let name = name(key)
    let body = body(key)
    let start = now()
    var isHit = true
    switch operation {
    case "put": try peer.put(name, body)
    case "get": try check(try peer.get(name, touches: false), key)
    case "miss": if try peer.get(name, touches: false) != nil { throw PeerFault("found what was never stored") }
    case "contains": if try !peer.contains(name) { throw PeerFault("\(name) is missing") }
    case "mixed":
      if let found = try peer.get(name, touches: true) {
        try check(found, key)
      } else {
        isHit = false
        try peer.put(name, body)
      }
    default: throw PeerFault("\(operation) is no operation")
    }
    let time = now() - start
    return isHit ? time : -time
  }

  private func check(_ found: [UInt8]?, _ key: Int) throws {
    guard let found else { throw PeerFault("\(name(key)) is missing") }
    guard found.count == number, found.starts(with: stamp(key)) else { throw PeerFault("\(name(key)) has other bytes") }
  }

  private func name(_ key: Int) -> String { "https://cdn.example.org/assets/2024/08/\(key / 1000)/item-\(key).jpg" }

  private func stamp(_ key: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: key >> (8 * $0)) } }

  private func body(_ key: Int) -> [UInt8] {
    guard operation == "put" || operation == "mixed" else { return [] }
    return stamp(key) + (8..<max(8, number)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
  }
}

func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
