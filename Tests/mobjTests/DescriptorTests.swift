import Foundation
import Testing

@testable import mobj

struct DescriptorTests {
  /// A pipe whose ends close with it.
  private final class Pipe {
    let reader: Descriptor
    private(set) var writer: Descriptor

    init() {
      var ends: [Int32] = [-1, -1]
      pipe(&ends)
      (reader, writer) = (Descriptor(number: ends[0]), Descriptor(number: ends[1]))
    }

    func closeWriter() {
      writer.close()
      writer = Descriptor(number: -1)
    }

    deinit {
      reader.close()
      writer.close()
    }
  }

  @Test func `more than a pipe holds is written whole`() throws {
    let pipe = Pipe()
    let bytes = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let writer = pipe.writer
    // A thread of its own: a pool of few threads could be full of readers that wait.
    Thread.detachNewThread { try? writer.write(bytes) }
    var read: [UInt8] = []
    while read.count < bytes.count { read += try pipe.reader.read(atMost: 10_000) }
    #expect(read == bytes)
  }

  @Test func `a non-blocking pipe is waited for`() throws {
    let pipe = Pipe()
    _ = fcntl(pipe.writer.number, F_SETFL, O_NONBLOCK)
    _ = fcntl(pipe.reader.number, F_SETFL, O_NONBLOCK)
    let bytes = [UInt8](repeating: 7, count: 300_000)
    let writer = pipe.writer
    // A thread of its own: a pool of few threads could be full of readers that wait.
    Thread.detachNewThread { try? writer.write(bytes) }
    var count = 0
    while count < bytes.count { count += try pipe.reader.read(atMost: 65_536).count }
    #expect(count == bytes.count)
  }

  @Test func `the end of a pipe is an empty piece`() throws {
    let pipe = Pipe()
    try pipe.writer.write("ab")
    pipe.closeWriter()
    #expect(try pipe.reader.read(atMost: 10) == Array("ab".utf8))
    #expect(try pipe.reader.read(atMost: 10).isEmpty)
  }

  @Test func `a full device is no broken pipe`() throws {
    let full = try Descriptor.open("/dev/full", forWriting: true)
    defer { full.close() }
    #expect(throws: Descriptor.Fault.failed(ENOSPC)) { try full.write("x") }
    #expect(Descriptor.Fault.failed(ENOSPC).text == "No space left on device")
    #expect(Descriptor.Fault(EPIPE) == .brokenPipe)
  }

  @Test func `devices and pipes are special, files and folders are not`() {
    #expect(Descriptor.isSpecial("/dev/null"))
    #expect(!Descriptor.isSpecial("/tmp"))
    #expect(!Descriptor.isSpecial("/proc/self/exe"))
    #expect(!Descriptor.isSpecial("/nowhere"))
  }

  @Test func `what is no terminal has no columns`() throws {
    let device = try Descriptor.open("/dev/null")
    defer { device.close() }
    #expect(!device.isTerminal)
    #expect(device.columns == nil)
    #expect(device.bytesToRead == nil)
  }

  @Test func `what comes first is told when two are waited for`() throws {
    let first = Pipe()
    let second = Pipe()
    try first.writer.write("x")
    #expect(first.reader.wait(for: POLLIN, orToRead: second.reader))
    try second.writer.write("y")
    #expect(!first.reader.wait(for: POLLIN, orToRead: second.reader))
  }
}
