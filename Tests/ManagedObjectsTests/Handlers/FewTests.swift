import TestSupport
import Testing

@testable import ManagedObjects

@Suite struct FewTests {
  @Test(arguments: 0..<6) func `a list of few gives what was appended, in order`(count: Int) {
    let few = Few(all: 0..<count)
    #expect(few.map { $0 } == Array(0..<count))
    let visited = Collector<Int>()
    few.each { visited.append($0) }
    #expect(visited.elements == Array(0..<count))
    #expect(few.count == count && few.isEmpty == (count == 0) && few.first == (count == 0 ? nil : 0))
  }

  @Test func `a map of few holds what a dictionary holds, whatever is set and removed`() {
    var random = SeededRandom(seed: 4)
    var few = FewMap<Int, Int>()
    var all: [Int: Int] = [:]
    for step in 0..<2000 {
      let key = Int.random(in: 0..<5, using: &random)
      if Bool.random(using: &random) {
        few[key] = step
        all[key] = step
      } else {
        #expect(few.removeValue(forKey: key) == all.removeValue(forKey: key))
      }
      #expect(few.count == all.count && few.isEmpty == all.isEmpty && few[key] == all[key])
      #expect(Dictionary(uniqueKeysWithValues: few.map { ($0.key, $0.value) }) == all)
      #expect(few.only?.key == (all.count == 1 ? all.first?.key : nil))
    }
  }
}
