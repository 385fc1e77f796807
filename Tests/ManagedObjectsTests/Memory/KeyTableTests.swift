import TestSupport
import Testing

@testable import ManagedObjects

@Suite struct KeyTableTests {
  @Test(arguments: [Int.max, 255, 3, 0])
  func `finds what a dictionary finds, however the hashes collide`(mask: Int) {
    var generator = SeededRandom(seed: 11)
    var table = KeyTable()
    var model: [Int32: Int] = [:]
    for _ in 0..<2_000 {
      let slot = Int32.random(in: 0..<150, using: &generator)
      let hash = (Int(slot) &* 0x9E37_79B9) & mask
      if model[slot] == nil {
        table.insert(slot, hash: hash)
        model[slot] = hash
      } else {
        table.remove(slot, hash: hash)
        model[slot] = nil
      }
      #expect(table.count == model.count)
      for probe in 0..<Int32(150) where probe % 7 == slot % 7 {
        let found = table.find((Int(probe) &* 0x9E37_79B9) & mask) { $0 == probe }
        #expect(found == (model[probe] == nil ? nil : probe))
      }
    }
  }

  @Test func `removing what is not there changes nothing`() {
    var table = KeyTable()
    table.insert(1, hash: 5)
    table.remove(2, hash: 5)
    table.remove(1, hash: 6)
    #expect(table.count == 1)
    #expect(table.find(5) { $0 == 1 } == 1)
  }

  @Test func `runs that wrap around the end of the table stay whole`() {
    var table = KeyTable()
    for slot in 0..<Int32(7) { table.insert(slot, hash: 14) }
    table.remove(0, hash: 14)
    table.remove(3, hash: 14)
    for slot in [1, 2, 4, 5, 6] as [Int32] { #expect(table.find(14) { $0 == slot } == slot) }
    table.insert(9, hash: -1)
    #expect(table.find(-1) { $0 == 9 } == 9)
  }
}
