import Testing

@testable import ManagedObjects

struct UniqueNumbersTests {
  @Test func `no number is given twice, and two sources give none in common`() {
    let sources = [UniqueNumbers(), UniqueNumbers()]
    let numbers = sources.flatMap { source in (0..<50_000).map { _ in source.next() } }
    #expect(Set(numbers).count == numbers.count)
  }

  @Test func `numbers that follow one another share no pattern that a name would show`() {
    let source = UniqueNumbers()
    let ones = (0..<1000).reduce(0) { sum, _ in sum + (source.next() ^ source.next()).nonzeroBitCount }
    #expect((31_000...33_000).contains(ones))
  }
}
