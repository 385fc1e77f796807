import TestSupport
import Testing

@testable import ManagedObjects

extension Int: Numbered {
  var number: UInt64 { UInt64(truncatingIfNeeded: self) }
}

struct NumberMapTests {
  private var map = NumberMap<Int, String>()

  @Test mutating func `what was put in is found, replaced and removed`() {
    let nothing = map.removeValue(forKey: 1)
    #expect(map.isEmpty && map[1] == nil && nothing == nil)
    map[1] = "a"
    map[2] = "b"
    map[1] = "c"
    #expect(map.count == 2 && map[1] == "c" && map[2] == "b" && map[3] == nil)
    let removed = map.removeValue(forKey: 1)
    #expect(removed == "c")
    map[2] = nil
    map[7] = nil
    #expect(map.isEmpty && map[1] == nil && map[2] == nil && Array(map.values).isEmpty)
  }

  @Test mutating func `a copy does not change with its original`() {
    map[1] = "a"
    let copy = map
    map[1] = nil
    map[2] = "b"
    #expect(copy[1] == "a" && copy[2] == nil && copy.count == 1)
  }

  @Test(arguments: 0..<6) func `whatever comes and goes, it is as a dictionary`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var map = NumberMap<Int, Int>()
    var dictionary: [Int: Int] = [:]
    var next = 0
    // Few or many at once, old ones that stay, and numbers far apart that share a home.
    let most = [3, 40, 1000][seed % 3]
    for _ in 0..<20_000 {
      if dictionary.count < most, Bool.random(using: &random) {
        next += seed < 3 ? 1 : Int.random(in: 1..<1 << 40, using: &random)
        (map[next], dictionary[next]) = (next * 2, next * 2)
      } else if let key = dictionary.keys.randomElement(using: &random) {
        let (removed, expected) = (map.removeValue(forKey: key), dictionary.removeValue(forKey: key))
        #expect(removed == expected)
      }
      #expect(map.count == dictionary.count)
    }
    for key in dictionary.keys { #expect(map[key] == dictionary[key]) }
    #expect(Set(map.values) == Set(dictionary.values))
  }

  @Test mutating func `old ones are found wherever they stand while others come and go`() {
    for key in 0..<5000 { map[key] = "old" }
    for key in 5000..<200_000 {
      map[key] = "new"
      let removed = map.removeValue(forKey: key)
      #expect(removed == "new")
    }
    #expect(map.count == 5000 && map.values.allSatisfy { $0 == "old" })
  }
}
