import Foundation

@testable import ManagedObjects

/// Random numbers that are the same in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Requests for keys 0 ..< keys, of which key k is asked for with a weight of 1 / (k + 1) ^ exponent.
func zipfTrace(keys: Int, exponent: Double, requests: Int, seed: UInt64) -> [Int] {
  var sums: [Double] = []
  var sum = 0.0
  for key in 0..<keys {
    sum += pow(Double(key + 1), -exponent)
    sums.append(sum)
  }
  var generator = SeededGenerator(seed: seed)
  return (0..<requests).map { _ in
    let wanted = Double.random(in: 0..<sum, using: &generator)
    var low = 0
    var high = keys - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

func memoryKey(_ name: String, scope: String = "", variant: String = "") -> MemoryKey {
  MemoryKey(id: ObjectID(name), scope: scope, representation: Representation(of: Int.self, variant: variant))
}

func memoryKey(_ number: Int) -> MemoryKey { memoryKey("key \(number)") }

func ready<Object: Sendable>(_ object: Object, etag: String = "", count: Int = 1) -> ReadyObject {
  let fields: HeaderFields = etag.isEmpty ? [:] : ["ETag": etag]
  return ReadyObject(box: ObjectBox(object), facts: EntryFacts(head: LoadHead(fields: fields)), count: count)
}

extension ReadyObject {
  func object<Object: Sendable>(as type: Object.Type = Object.self) -> Object? { (box as? ObjectBox<Object>)?.object }

  var picture: Picture? { object() }
}

/// An object that can be in use.
final class Picture: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}
