import TestSupport
import Testing

@testable import ManagedObjects

@Suite struct WaiterSeatTests {
  @Test func `a call that was cancelled is told of no progress any more`() {
    let told = Collector<Int>()
    let seat = WaiterSeat(SeatID(number: 1), ObjectDecoder<String>.text, wantsDelivered: true) { progress in
      told.append(progress.receivedBytes)
    }
    seat.progressed(LoadProgress(receivedBytes: 1, expectedBytes: nil))
    seat.end(.cancelled(.left), from: .library)
    seat.progressed(LoadProgress(receivedBytes: 2, expectedBytes: nil))
    #expect(told.elements == [1])
  }
}
