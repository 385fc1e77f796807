import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What a response is checked against while it comes in.
struct BodyIntakeTests {
  private static let text = String(repeating: "a text that shrinks well, ", count: 4000)
  private static let packed = gzipped(Array(text.utf8))

  private func zipped(_ fields: HeaderFields = ["Content-Encoding": "gzip"], status: Int = 200) -> LoadHead {
    head(Self.packed.count, status: status, fields)
  }

  // MARK: Lies

  @Test(arguments: ["two heads", "bytes before head", "no head", "late interim", "odd interim", "odd status"])
  func `a loader that breaks its contract ends the load as a transport failure`(lie: String) {
    let room = SinkRoom()
    switch lie {
    case "two heads":
      room.sink.head(LoadHead())
      room.sink.head(LoadHead())
    case "bytes before head": room.sink.append(Data([1]))
    case "no head": room.sink.finish()
    case "late interim":
      room.sink.head(LoadHead())
      room.sink.interim(LoadHead(status: 100))
    case "odd interim": room.sink.interim(LoadHead(status: 200))
    default: room.sink.head(LoadHead(status: 42))
    }
    #expect(room.error?.code == .transport)
    #expect(room.error?.message.contains("contract") == true)
    room.sink.head(LoadHead())
    room.sink.finish()
    #expect(room.outcomes.elements.count == 1)
  }

  @Test func `a body that is longer or shorter than promised is no body`() {
    let (long, short) = (SinkRoom(), SinkRoom())
    long.bring(head(2), [1, 2, 3])
    short.bring(head(4), [1], [2, 3])
    for room in [long, short] {
      #expect(room.error?.code == .wrongLength)
      #expect(room.error?.head?.status == 200)
    }
  }

  @Test func `a body without a promise ends where the loader says`() {
    let room = SinkRoom()
    room.bring(LoadHead(), [1], [2])
    #expect(room.body?.inMemory == Data([1, 2]))
    #expect(room.progress.elements.allSatisfy { $0.fraction == nil })
    let empty = SinkRoom()
    empty.bring(LoadHead())
    #expect(empty.body?.inMemory == Data())
  }

  @Test func `two different promised lengths are no promise to trust`() {
    let room = SinkRoom()
    room.sink.head(LoadHead(fields: ["Content-Length": "3, 4"]))
    #expect(room.error?.code == .wrongLength)
  }

  @Test(arguments: [204, 304]) func `a status without body brings none`(status: Int) {
    let room = SinkRoom { $0.isConditional = true }
    room.sink.head(head(7, status: status))
    room.sink.append(Data([1]))
    #expect(room.error?.code == .wrongLength)
  }

  // MARK: Statuses

  @Test func `304 is an answer only to a conditional request`() {
    let asked = SinkRoom { $0.isConditional = true }
    asked.bring(LoadHead(status: 304))
    guard case .notModified(let head) = asked.outcome else { return #expect(Bool(false), "it was asked for") }
    #expect(head.status == 304)
    let unasked = SinkRoom()
    unasked.bring(LoadHead(status: 304))
    #expect(unasked.start == Data())
  }

  @Test(arguments: [101, 206, 300, 404, 500, 999]) func `what is no success is a status with its first bytes`(
    status: Int
  ) {
    let room = SinkRoom()
    room.bring(LoadHead(status: status), status == 101 ? [] : Array("why".utf8))
    #expect(room.start == Data(status == 101 ? [] : Array("why".utf8)))
  }

  @Test func `of an error 4 KiB are kept and the rest is read, so that the connection can be used again`() {
    let room = SinkRoom { $0.limitBytes = 10 }
    let body = Pattern().bytes(10_000)
    room.bring(head(10_000, status: 500), Array(body[..<4000]), Array(body[4000..<5000]), Array(body[5000...]))
    #expect(room.start == Data(body[..<4096]))
  }

  @Test func `an error without end is cut off after 1 MiB`() {
    let room = SinkRoom()
    room.sink.head(LoadHead(status: 503))
    room.sink.append(Data(repeating: 7, count: 1 << 20))
    #expect(room.outcomes.elements.isEmpty)
    room.sink.append(Data([7]))
    #expect(room.error?.code == .httpStatus && room.error?.head?.status == 503)
    #expect(room.error?.bodyStart.count == 4096)
  }

  @Test func `the start of a compressed error can be read`() {
    let room = SinkRoom()
    room.bring(zipped(status: 404), Array(Self.packed[..<20]), Array(Self.packed[20...]))
    #expect(room.start == Data(Self.text.utf8.prefix(4096)))
    let short = SinkRoom()
    let packed = gzipped(Array("not here".utf8))
    short.bring(head(packed.count, status: 404, ["Content-Encoding": "gzip"]), packed)
    #expect(short.start == Data("not here".utf8))
  }

  @Test func `a damaged or cut error is still that error`() {
    let room = SinkRoom()
    let garbage = Array("no gzip at all".utf8)
    room.bring(head(garbage.count * 2, status: 500, ["Content-Encoding": "gzip"]), garbage, garbage)
    guard case .status(let head, _) = room.outcome else { return #expect(Bool(false), "a status") }
    #expect(head.status == 500)
    let cut = SinkRoom()
    let half = Array(Self.packed[..<(Self.packed.count / 2)])
    cut.bring(LoadHead(status: 500, fields: ["Content-Encoding": "gzip"]), half)
    #expect(cut.start?.isEmpty == false)
  }

  // MARK: Codings

  @Test func `gzip is undone, and progress counts what came over the wire`() {
    let room = SinkRoom()
    room.bring(zipped(), Array(Self.packed[..<100]), Array(Self.packed[100...]))
    #expect(room.text == Self.text)
    #expect(room.progress.elements.map(\.receivedBytes) == [100, Self.packed.count])
  }

  @Test func `gzip that nobody asked for stays as it is`() {
    let room = SinkRoom { $0.undoesCoding = false }
    room.bring(zipped(), Self.packed)
    #expect(room.body?.inMemory == Data(Self.packed))
  }

  @Test func `an unknown coding is left as it is`() {
    let room = SinkRoom()
    room.bring(head(2, ["Content-Encoding": "br"]), [1, 2])
    #expect(room.body?.inMemory == Data([1, 2]))
  }

  @Test func `a compressed body that is cut or damaged is no body`() {
    let cut = SinkRoom()
    cut.bring(
      LoadHead(fields: ["Content-Encoding": "gzip"]), Array(Self.packed[..<(Self.packed.count - 9)]))
    #expect(cut.error?.code == .wrongLength)
    let damaged = SinkRoom()
    var bytes = Self.packed
    bytes[bytes.count / 2] ^= 0xFF
    damaged.bring(zipped(), bytes)
    #expect(damaged.error?.code == .transport || damaged.error?.code == .wrongLength)
  }

  // MARK: Limits

  @Test func `a limit refuses a body at its head where the length is promised`() {
    let room = SinkRoom { $0.limitBytes = 3 }
    room.sink.head(head(4))
    #expect(room.error?.code == .tooLarge && room.heads.elements.isEmpty)
  }

  @Test func `a limit counts bytes as they come, and the limit itself is allowed`() {
    let over = SinkRoom { $0.limitBytes = 3 }
    over.bring(LoadHead(), [1, 2], [3, 4])
    #expect(over.error?.code == .tooLarge)
    let exact = SinkRoom { $0.limitBytes = 3 }
    exact.bring(head(3), [1, 2, 3])
    #expect(exact.body?.count == 3)
  }

  @Test func `a limit counts decoded bytes, so that a small bomb does not burst`() {
    let bomb = SinkRoom { $0.limitBytes = Self.packed.count * 2 }
    bomb.bring(zipped(), Self.packed)
    #expect(bomb.error?.code == .tooLarge)
    let fair = SinkRoom { $0.limitBytes = Self.text.utf8.count }
    fair.bring(zipped(), Self.packed)
    #expect(fair.text == Self.text)
  }

  // MARK: Where it goes

  @Test func `a body of promised size goes straight into an entry that knows its size`() {
    let (entry, sizes) = (FakeEntry(), Collector<Int?>())
    let room = SinkRoom { plan in
      plan.limits = BodyStore.Limits(inMemoryBytes: 3, memoryOnlyBytes: 100)
      plan.open = { _ in
        { size in
          sizes.append(size)
          return EntryWriter(entry)
        }
      }
    }
    room.bring(head(4), [1, 2, 3, 4])
    #expect(sizes.elements == [4] && room.body?.isPending == true && entry.state.bytes == [1, 2, 3, 4])
  }

  @Test func `a slow backend is told the size too, but not where a coding hides it`() {
    for (isZipped, expected) in [(false, 6), (true, nil)] as [(Bool, Int?)] {
      let sizes = Collector<Int?>()
      let bytes: [UInt8] = [1, 2, 3, 4, 5, 6]
      let room = SinkRoom { plan in
        plan.limits = BodyStore.Limits(inMemoryBytes: 3, memoryOnlyBytes: 100)
        plan.open = { _ in
          { size in
            sizes.append(size)
            return EntryWriter(FakeEntry())
          }
        }
        plan.pool = { $0() }
      }
      let sent = isZipped ? gzipped(bytes) : bytes
      room.bring(head(sent.count, isZipped ? ["Content-Encoding": "gzip"] : [:]), sent)
      #expect(sizes.elements == [expected] && room.body?.count == 6)
    }
  }

  @Test func `without a backend the limit of memory holds`() {
    let room = SinkRoom { $0.limits = BodyStore.Limits(inMemoryBytes: 2, memoryOnlyBytes: 5) }
    room.bring(LoadHead(), [1, 2, 3], [4, 5, 6])
    #expect(room.error?.code == .tooLarge)
  }
}
