import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

@Suite struct HeldLoaderTests {
  private let loader = HeldLoader()
  private let ends = Collector<String>()

  @discardableResult private func start(_ location: String) -> LoadStop {
    let request = LoadRequest(location: location)
    let sink = LoadSink(testing: request) { [ends] result in
      switch result {
      case .success(let (head, data)): ends.append("\(head.status) \(String(decoding: data, as: UTF8.self))")
      case .failure(let error): ends.append("\(error.code)")
      }
    }
    return loader.start(request, into: sink)
  }

  @Test func `it takes its scheme and no other`() throws {
    #expect(loader.accepts(try #require(URL(string: "mem:a"))))
    #expect(!loader.accepts(try #require(URL(string: "http://a/"))))
    #expect(HeldLoader(scheme: "http").accepts(try #require(URL(string: "http://a/"))))
  }

  @Test func `a load goes no further than it is let`() throws {
    start("mem:a")
    #expect(loader.requests.map(\.location) == ["mem:a"])
    loader.head("mem:a", LoadHead(status: 201, fields: ["Content-Length": "5"]))
    loader.append(0, Array("hel".utf8))
    #expect(ends.elements.isEmpty)
    loader.append("mem:a", Array("lo".utf8))
    loader.finish(0)
    #expect(try ends.wait() == ["201 hello"])
  }

  @Test func `an answer brings its length, and the latest of one location is meant`() throws {
    start("mem:a")
    start("mem:a")
    loader.answer("mem:a", "second")
    loader.answer(0, head: LoadHead(fields: ["Content-Length": "6"]), bytes: Array("first".utf8))
    loader.answer("mem:b", "nobody asked")
    loader.answer(7, "nobody asked")
    #expect(try ends.wait(2) == ["200 second", "wrongLength"])
    #expect(loader.starts("mem:a") == 2)
  }

  @Test func `a failure is handed on`() throws {
    start("mem:a")
    loader.fail("mem:a")
    #expect(try ends.wait() == ["transport"])
  }

  @Test func `stops are counted, each load once`() async throws {
    let stop = start("mem:a")
    start("mem:b")
    #expect(loader.stops == 0)
    stop.stop()
    stop.stop()
    try await loader.waitForStops(1)
    #expect(loader.loads.map(\.isStopped) == [true, false])
    await #expect(throws: TimedOut.self) { try await loader.waitForStops(2, seconds: 0.01) }
  }

  @Test func `a test can wait for a start elsewhere`() async throws {
    Task { start("mem:a") }
    #expect(try await loader.waitForStarts(1).first?.location == "mem:a")
  }

  @Test func `a loader can answer at once`() throws {
    let answering = HeldLoader { request, sink in
      sink.head(LoadHead(status: 404))
      sink.finish()
    }
    let request = LoadRequest(location: "mem:a")
    let sink = LoadSink(testing: request) { [ends] result in ends.append("\((try? result.get().0.status) ?? 0)") }
    _ = answering.start(request, into: sink)
    #expect(ends.elements == ["404"])
  }
}
