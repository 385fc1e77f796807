import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What was on its way when its object was removed, replaced or made stale is no answer for whoever asks afterwards.
struct TakenBackTests {
  private let loader = HeldLoader()
  private let time = ManualClock()
  private let entered = Latch()
  private let release = Latch()
  private let request = ObjectRequest("mem:a")
  private let fresh: HeaderFields = ["Cache-Control": "max-age=600"]

  private func manager(hasFiles: Bool = true) -> ObjectManager {
    ObjectManager(loaders: [loader], cache: hasFiles ? MemoryBackend() : nil, time: time)
  }

  /// Its decoder takes as long as the test wants.
  private var slowUser: RecordingUser<String> {
    RecordingUser<String>(variant: "slow") { [entered, release] loaded in
      entered.countDown()
      try release.wait(seconds: 30)
      return String(decoding: try loaded.data(), as: UTF8.self)
    }
  }

  private func object(_ manager: ObjectManager) async throws -> String {
    try await manager.object(for: request, decodedBy: .text)
  }

  private func reload(_ manager: ObjectManager, answer text: String) async throws {
    let starts = loader.starts
    var changed = request
    changed.mode = .reload
    let reload = changed
    async let bytes = manager.data(for: reload)
    try await loader.waitForStarts(starts + 1)
    loader.answer(.number(starts), text, fresh)
    #expect(try await bytes == Data(text.utf8))
  }

  // MARK: Being decoded

  @Test func `who asks after a store gets what was stored, though an old one is being decoded`() async throws {
    let manager = manager()
    try await manager.store(Data("old".utf8), for: request, head: LoadHead(fields: fresh))
    let slow = slowUser
    manager.manage(slow, for: request)
    try await entered.wait()
    time.advance(by: .seconds(1))
    try await manager.store(Data("new".utf8), for: request, head: LoadHead(fields: fresh))
    #expect(try await object(manager) == "new")
    release.countDown()
    #expect(try await slow.object() == "old")
    let next = slowUser
    manager.manage(next, for: request)
    #expect(try await next.object() == "new")
    #expect(loader.starts == 0)
  }

  @Test(arguments: [true, false])
  func `a slow decoder of an old body leaves nothing behind after a reload`(isFile: Bool) async throws {
    let manager = manager()
    let slow = slowUser
    if isFile { try await manager.store(Data("old".utf8), for: request, head: LoadHead(fields: fresh)) }
    manager.manage(slow, for: request)
    if !isFile {
      try await loader.waitForStarts(1)
      loader.answer(.number(0), "old", fresh)
    }
    try await entered.wait()
    time.advance(by: .seconds(1))
    try await reload(manager, answer: "new")
    release.countDown()
    #expect(try await slow.object() == "old")
    let next = slowUser
    manager.manage(next, for: request)
    #expect(try await next.object() == "new")
  }

  // MARK: Being revalidated

  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case remove, removeAll, invalidate, reload
    var testDescription: String { rawValue }
  }

  @Test(arguments: Way.allCases, [true, false])
  func `what was taken back while a 304 was on its way is not kept`(way: Way, hasFiles: Bool) async throws {
    let manager = manager(hasFiles: hasFiles)
    let tagged: HeaderFields = ["Cache-Control": "max-age=1", "ETag": "\"1\""]
    let (first, second) = (RecordingUser.text(), RecordingUser.text())
    manager.manage(first, for: request)
    try await loader.waitForStarts(1)
    loader.answer(.number(0), "old", tagged)
    #expect(try await first.object() == "old")
    await manager.settle()
    time.advance(by: .seconds(2))
    manager.manage(second, for: request)
    try await loader.waitForStarts(2)
    #expect(loader.requests[1].fields["If-None-Match"] == "\"1\"")
    switch way {
    case .remove: try await manager.remove(request)
    case .removeAll: try await manager.removeAll()
    case .invalidate: try await manager.invalidate(request)
    case .reload: try await reload(manager, answer: "new")
    }
    let starts = loader.starts
    var head = LoadHead(status: 304, fields: fresh)
    head.fields["ETag"] = "\"1\""
    time.advance(by: .seconds(1))
    loader.answer(.number(1), head: head)
    // Without files the removed object is gone, and is asked for once more.
    if !hasFiles, way == .remove || way == .removeAll {
      try await loader.waitForStarts(starts + 1)
      loader.answer(.number(starts), "old", tagged)
    }
    #expect(try await second.object() == "old")
    await manager.settle()
    if way == .reload, hasFiles { return #expect(try await object(manager) == "new") }
    #expect(manager.peek(request, decodedBy: .text) == nil)
    let third = RecordingUser.text()
    let before = loader.starts
    manager.manage(third, for: request)
    try await loader.waitForStarts(before + 1)
    loader.answer(.number(before), "newest", fresh)
    #expect(try await third.object() == "newest")
  }

  // MARK: Outages and errors

  @Test func `a success with a cookie forgets the error that came without one`() async throws {
    let manager = manager()
    var (withCookie, reload) = (request, request)
    withCookie.fields["Cookie"] = "a=1"
    reload = withCookie
    reload.mode = .reload
    func ask(_ request: ObjectRequest, _ head: LoadHead, _ text: String) async throws -> Ending<String> {
      let (user, starts) = (RecordingUser.text(), loader.starts)
      manager.manage(user, for: request)
      try await loader.waitForStarts(starts + 1)
      loader.answer(.number(starts), head: head, bytes: Array(text.utf8))
      return try await user.ending()
    }
    #expect(try await ask(request, LoadHead(status: 404, fields: fresh), "").error?.head?.status == 404)
    await manager.settle()
    time.advance(by: .seconds(1))
    let secret = LoadHead(fields: ["Cache-Control": "no-store"])
    #expect(try await ask(reload, secret, "here").object == "here")
    await manager.settle()
    #expect(try await ask(withCookie, secret, "still here").object == "still here")
  }

  @Test func `a server that asks for patience gets it, though its page was cut`() async throws {
    let manager = manager()
    let user = RecordingUser.text()
    manager.manage(user, for: request)
    try await loader.waitForStarts(1)
    let head = LoadHead(status: 503, fields: ["Retry-After": "20"])
    loader.fail(.number(0), ObjectError(.transport, "Its page was cut.", head: head))
    try await until("it is told that it is tried again") { manager.statistics.retries == 1 }
    // Its wait may begin a moment after that is counted.
    let seconds = Lock(0)
    try await until("it is tried again") {
      if loader.starts == 2 { return true }
      time.advance(by: .seconds(1))
      seconds.withLock { $0 += 1 }
      return false
    }
    #expect(seconds.withLock { $0 } >= 20)
    loader.answer(.number(1), "here", fresh)
    #expect(try await user.object() == "here")
  }

  @Test func `an outage is bridged by what is in memory alone`() async throws {
    let manager = manager(hasFiles: false)
    let first = RecordingUser.text()
    manager.manage(first, for: request)
    try await loader.waitForStarts(1)
    loader.answer(.number(0), "old", ["Cache-Control": "max-age=1"])
    #expect(try await first.object() == "old")
    time.advance(by: .seconds(2))
    let second = RecordingUser.text()
    manager.manage(second, for: request)
    try await loader.waitForStarts(2)
    loader.fail(.number(1), ObjectError(.transport, "The cable was cut."))
    let ending = try await second.ending()
    #expect(ending.object == "old" && ending.source == .stale && second.decodes == 0)
  }
}
