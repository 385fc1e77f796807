import TestSupport
import Testing

@testable import ManagedObjects

struct MappedNumbersTests {
  private func found(_ bytes: [UInt8], from start: Int) -> [Int] {
    bytes.withRawSpan { [$0.firstControl(from: start), $0.endOfLine(from: start)] }
  }

  @Test func `the first control is found at every place, whatever stands around it`() {
    for count in 0...24 {
      for place in 0..<count {
        for (around, control) in [(UInt8(0xFF), UInt8(0x0A)), (0x0E, 0x0D), (0x80, 0), (0x7F, 0x09)] {
          var bytes = [UInt8](repeating: around, count: count)
          bytes[place] = control
          #expect(found(bytes, from: 0)[0] == place)
          #expect(found(bytes, from: place + 1)[0] == count)
        }
      }
    }
  }

  @Test func `the end of a line is the first line feed, behind other controls too`() {
    var random = SeededRandom(seed: 5)
    let alphabet: [UInt8] = [0x09, 0x0A, 0x0B, 0x0D, 0x20, 0x41, 0x8A, 0xFF]
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        alphabet.randomElement(using: &random) ?? 0
      }
      let start = Int.random(in: 0...bytes.count, using: &random)
      #expect(found(bytes, from: start)[1] == bytes[start...].firstIndex(of: 0x0A) ?? bytes.count)
    }
  }
}
