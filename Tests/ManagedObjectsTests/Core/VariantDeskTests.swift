import TestSupport
import Testing

@testable import ManagedObjects

@Suite struct VariantDeskTests {
  private let desk = VariantDesk()
  private let base = EntryKey(ObjectID("a"))

  @Test func `those who write at once file under one generation, later ones under another`() {
    var seats = [desk.enter(base), desk.enter(base)]
    let generations = Set(seats.map { $0.generation(stored: nil) })
    #expect(generations.count == 1)
    #expect(desk.enter(EntryKey(ObjectID("b"))).generation(stored: nil) != generations.first)
    seats = []
    #expect(desk.enter(base).generation(stored: nil) != generations.first)
  }

  @Test func `an index is made once, and never where there was one`() {
    let (first, second) = (desk.enter(base), desk.enter(base))
    let generation = first.generation(stored: nil)
    #expect(second.generation(stored: nil) == generation)
    #expect(first.mayMakeIndex(of: generation) && !second.mayMakeIndex(of: generation))
    let other = desk.enter(EntryKey(ObjectID("b")))
    #expect(other.generation(stored: 7) == 7 && !other.mayMakeIndex(of: 7))
  }

  @Test func `what comes while one is at work is done after it`() {
    let (first, second) = (desk.enter(base), desk.enter(base))
    let done = Collector<Int>()
    first.inTurn {
      second.inTurn { done.append(2) }
      done.append(1)
    }
    second.inTurn { done.append(3) }
    #expect(done.elements == [1, 2, 3])
  }
}
