import Testing

@testable import ManagedObjects

@Suite struct RecallNumbersTests {
  @Test func `only what was taken back has another number, and each time another`() {
    var recalls = RecallNumbers<String>()
    let (a, b) = (recalls["a"], recalls["b"])
    recalls.note("a")
    let second = recalls["a"]
    #expect(second != a && recalls["b"] == b)
    recalls.note("a")
    #expect(![a, second].contains(recalls["a"]) && recalls["b"] == b)
  }

  @Test func `when all are taken back each has another number`() {
    var recalls = RecallNumbers<String>()
    recalls.note("a")
    let (a, b) = (recalls["a"], recalls["b"])
    recalls.noteAll()
    #expect(![a, b].contains(recalls["a"]) && ![a, b].contains(recalls["b"]))
  }

  @Test func `what is forgotten counts as taken back, never as left alone`() {
    var recalls = RecallNumbers<Int>()
    var seen: [UInt64] = []
    for round in 0..<3 {
      seen.append(recalls[-1])
      for id in 0...RecallNumbers<Int>.limitIDs { recalls.note(id + round * 100_000) }
    }
    seen.append(recalls[-1])
    #expect(Set(seen).count == seen.count)
  }
}
