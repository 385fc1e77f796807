import Testing

@testable import ManagedObjects

@Suite struct HeldEndingsTests {
  private func seat(_ number: UInt64) -> PrefetchSeat { PrefetchSeat(SeatID(number: number)) { _ in } }

  @Test func `the first is due soon, those after it wait for it, and many are told at once`() {
    let endings = HeldEndings()
    let turns = (1...UInt64(HeldEndings.limit)).map { endings.add(seat($0), .cancelled(.left)) }
    #expect(turns.first == .makeDue && turns.last == .tell)
    #expect(turns.dropFirst().dropLast().allSatisfy { $0 == .wait })
    #expect(endings.take(isDue: false).map(\.seat.id.number) == Array(1...UInt64(HeldEndings.limit)))
  }

  @Test func `what comes while somebody is about to tell is told by them, and what comes after is due anew`() {
    let endings = HeldEndings()
    #expect(endings.add(seat(1), .cancelled(.left)) == .makeDue)
    _ = endings.take(isDue: false)
    #expect(endings.add(seat(2), .cancelled(.left)) == .wait)
    #expect(endings.take(isDue: true).count == 1)
    #expect(endings.take(isDue: true).isEmpty)
    #expect(endings.add(seat(3), .cancelled(.left)) == .makeDue)
  }
}
