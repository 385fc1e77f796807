import ManagedObjects
import Testing

@testable import mobj

struct ProgressMeterTests {
  /// The meter in a class, since expectations cannot call what mutates.
  private final class Meter {
    private var meter: ProgressMeter
    init(_ meter: ProgressMeter) { self.meter = meter }
    func began(_ job: Int, weight: Int = 1) { meter.began(job, weight: weight) }
    func progressed(_ job: Int, to progress: LoadProgress) { meter.progressed(job, to: progress) }
    func finished(_ job: Int, bytes: Int, failed: Bool = false) { meter.finished(job, bytes: bytes, failed: failed) }
    func listEnded() { meter.listEnded() }
    func read(at now: ContinuousClock.Instant) -> ProgressMeter.Reading { meter.read(at: now) }
  }

  private let start = ContinuousClock.now

  private func meter(_ weight: Int? = nil) -> Meter { Meter(ProgressMeter(expectedWeight: weight, startedAt: start)) }

  private func progress(_ received: Int, of expected: Int? = nil) -> LoadProgress {
    LoadProgress(receivedBytes: received, expectedBytes: expected)
  }

  @Test func `nothing has happened`() {
    let meter = meter()
    #expect(meter.read(at: start) == ProgressMeter.Reading())
  }

  @Test func `a single object's fraction is that of its bytes`() {
    let meter = meter(1)
    meter.began(0)
    meter.listEnded()
    meter.progressed(0, to: progress(250, of: 1000))
    let reading = meter.read(at: start)
    #expect(reading.fraction == 0.25)
    #expect(reading.bytes == 250)
    #expect(reading.total == 1)
  }

  @Test func `each object counts by its weight, those on their way in part`() {
    let meter = meter(100)
    meter.began(0, weight: 50)
    meter.began(1, weight: 30)
    meter.finished(0, bytes: 10)
    meter.progressed(1, to: progress(500, of: 1000))
    #expect(meter.read(at: start).fraction == 0.65)
    #expect(meter.read(at: start).total == nil, "the list has not ended")
  }

  @Test func `where the list's length is unknown there is no fraction and no time left`() {
    let meter = meter()
    meter.began(0)
    meter.finished(0, bytes: 1000)
    meter.began(1)
    let reading = meter.read(at: start + .seconds(1))
    #expect(reading.fraction == nil && reading.left == nil && reading.total == nil)
    #expect(reading.finished == 1)
    #expect(reading.bytesPerSecond == 1000)
  }

  @Test func `only the end is whole`() {
    let meter = meter(10)
    meter.began(0, weight: 10)
    meter.progressed(0, to: progress(1000, of: 1000))
    #expect(meter.read(at: start).fraction == 0.999)
    meter.finished(0, bytes: 1000)
    #expect(meter.read(at: start).fraction == 0.999, "the list may go on")
    meter.listEnded()
    #expect(meter.read(at: start).fraction == 1)
    #expect(meter.read(at: start + .seconds(1)).left == .zero)
  }

  @Test(arguments: [(-5, -1), (-5, 0), (100, -1), (100, 0), (100, 50), (Int.max, 1), (Int.min, Int.min)])
  func `wrong lengths give sane figures`(received: Int, expected: Int) throws {
    let meter = meter(1)
    meter.began(0)
    meter.progressed(0, to: progress(received, of: expected))
    meter.progressed(0, to: progress(Int.max, of: expected))
    meter.began(1, weight: -4)
    meter.progressed(1, to: progress(Int.max, of: nil))
    let reading = meter.read(at: start + .seconds(2))
    #expect(reading.bytes >= 0)
    let fraction = try #require(reading.fraction)
    #expect((0...1).contains(fraction))
    #expect(try #require(reading.bytesPerSecond) >= 0)
  }

  @Test func `bytes and fraction never fall`() throws {
    let meter = meter(1)
    meter.began(0)
    meter.progressed(0, to: progress(900, of: 1000))
    meter.progressed(0, to: progress(100, of: 100_000))
    let reading = meter.read(at: start)
    #expect(reading.bytes == 900)
    #expect(reading.fraction == 0.9)
    meter.finished(0, bytes: 7, failed: true)
    #expect(meter.read(at: start).bytes == 900)
    #expect(meter.read(at: start).failed == 1)
  }

  @Test func `an object from the cache counts with its length`() {
    let meter = meter(2)
    meter.began(0)
    meter.finished(0, bytes: 5000)
    #expect(meter.read(at: start).bytes == 5000)
  }

  @Test func `a packed body counts with its bytes on the wire`() {
    let meter = meter(1)
    meter.began(0)
    meter.progressed(0, to: progress(5084, of: 5084))
    meter.finished(0, bytes: 42_846)
    #expect(meter.read(at: start).bytes == 5084)
  }

  @Test func `the rate is that of the last seconds`() throws {
    let meter = meter(1)
    meter.began(0)
    for second in 1...40 {
      let received = second <= 20 ? second * 1_000_000 : 20_000_000 + (second - 20) * 1000
      meter.progressed(0, to: progress(received, of: 40_000_000))
      _ = meter.read(at: start + .seconds(second))
    }
    let reading = meter.read(at: start + .seconds(40))
    #expect(try #require(reading.bytesPerSecond) == 1000)
  }

  @Test func `the time left follows from the fraction's rate`() throws {
    let meter = meter(1)
    meter.began(0)
    for second in 1...5 {
      meter.progressed(0, to: progress(second * 100, of: 1000))
      _ = meter.read(at: start + .seconds(second))
    }
    let left = try #require(meter.read(at: start + .seconds(5)).left)
    #expect(abs((left - .seconds(5)).components.seconds) == 0)
  }

  @Test func `what stands still has no time left to tell`() {
    let meter = meter(1)
    meter.began(0)
    meter.progressed(0, to: progress(100, of: 1000))
    _ = meter.read(at: start + .seconds(1))
    for second in 2...30 { _ = meter.read(at: start + .seconds(second)) }
    let reading = meter.read(at: start + .seconds(31))
    #expect(reading.left == nil)
    #expect(reading.bytesPerSecond == 0)
  }

  @Test func `a clock that stands or goes back harms nothing`() {
    let meter = meter(1)
    meter.began(0)
    meter.progressed(0, to: progress(100, of: 1000))
    let reading = meter.read(at: start - .seconds(10))
    #expect(reading.bytesPerSecond == nil && reading.left == nil)
    #expect(reading.bytes == 100)
  }

  @Test func `what never began, or ended twice, changes nothing`() {
    let meter = meter(1)
    meter.progressed(9, to: progress(5, of: 5))
    meter.finished(9, bytes: 5, failed: true)
    meter.began(0)
    meter.finished(0, bytes: 5)
    meter.finished(0, bytes: 5)
    meter.progressed(0, to: progress(500, of: 500))
    let reading = meter.read(at: start)
    #expect(reading.finished == 1 && reading.failed == 0 && reading.bytes == 5)
  }

  @Test func `a list that grew while it was read is not over-full`() throws {
    let meter = meter(10)
    for job in 0..<100 {
      meter.began(job, weight: 10)
      meter.finished(job, bytes: 1)
      #expect(try #require(meter.read(at: start).fraction) < 1)
    }
    meter.listEnded()
    #expect(meter.read(at: start).fraction == 1)
    #expect(meter.read(at: start).total == 100)
  }

  @Test func `an empty list is done at once`() {
    let meter = meter(0)
    meter.listEnded()
    #expect(meter.read(at: start).fraction == 1)
    #expect(meter.read(at: start).total == 0)
  }
}
