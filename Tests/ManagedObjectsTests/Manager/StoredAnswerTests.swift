import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What is stored and what is asked meet: limits, credentials, and answers that must not be kept.
struct StoredAnswerTests {
  private let loader = HeldLoader()
  private let time = ManualClock()
  private let cache = MemoryBackend()

  private func manager(_ policy: Policy = Policy()) -> ObjectManager {
    ObjectManager(loaders: [loader], cache: cache, policy: policy, time: time)
  }

  /// Asks, answers the load if there is one, and gives the ending.
  private func ask(
    _ manager: ObjectManager, _ request: ObjectRequest, answer text: String = "unused", _ fields: HeaderFields = [:],
    status: Int = 200
  ) async throws -> Ending<String> {
    let user = RecordingUser.text()
    let starts = loader.starts
    manager.manage(user, for: request)
    try await until("an ending or a load") { [loader] in !user.endings.isEmpty || loader.starts > starts }
    if loader.starts > starts {
      let body = status == 304 ? [] : Array(text.utf8)
      loader.answer(.number(starts), head: LoadHead(status: status, fields: fields), bytes: body)
    }
    return try await user.ending()
  }

  private func secret(_ location: String = "mem:me") -> ObjectRequest {
    var request = ObjectRequest(location)
    request.fields["Authorization"] = "Bearer one"
    return request
  }

  @Test func `a stored body of more bytes than the request allows is too large, wherever it is stored`() async throws {
    let manager = manager()
    var request = ObjectRequest("mem:a")
    _ = try await ask(manager, request, answer: "0123456789", ["Cache-Control": "max-age=60"])
    request.limitBytes = 9
    #expect(try await ask(manager, request).error?.code == .tooLarge)
    #expect(manager.peek(request, decodedBy: .text) == nil)
    manager.removeAllFromMemory()
    #expect(try await ask(manager, request).error?.code == .tooLarge)
    request.limitBytes = 10
    #expect(try await ask(manager, request).object == "0123456789")
    #expect(loader.starts == 1)
  }

  @Test func `a body that is still good is too large all the same`() async throws {
    let manager = manager()
    var request = ObjectRequest("mem:a")
    _ = try await ask(manager, request, answer: "0123456789", ["ETag": "\"1\""])
    request.limitBytes = 9
    #expect(try await ask(manager, request, ["ETag": "\"1\""], status: 304).error?.code == .tooLarge)
  }

  @Test func `a public answer to a request with credentials is found, invalidated and removed by it`() async throws {
    let manager = manager()
    let fields: HeaderFields = ["Cache-Control": "public, max-age=60", "ETag": "\"1\""]
    _ = try await ask(manager, secret(), answer: "x", fields)
    await manager.settle()
    #expect(try await manager.contains(secret()))
    try await manager.invalidate(secret())
    #expect(try await ask(manager, secret(), fields, status: 304).source == .revalidated)
    await manager.settle()
    try await manager.remove(secret())
    #expect(try await manager.contains(secret()) == false)
    #expect(try await ask(manager, secret(), answer: "y", fields).object == "y")
    #expect(loader.starts == 3)
  }

  @Test func `an old answer of one's own does not stand before a fresh public one`() async throws {
    let manager = manager()
    _ = try await ask(manager, secret(), answer: "mine", ["Cache-Control": "max-age=1"])
    time.advance(by: .seconds(2))
    _ = try await ask(manager, secret(), answer: "all's", ["Cache-Control": "public, max-age=600"])
    await manager.settle()
    manager.removeAllFromMemory()
    #expect(try await ask(manager, secret(), answer: "asked again").object == "all's")
    #expect(loader.starts == 2)
  }

  @Test func `what a 304 forbids to store is asked for again the next time`() async throws {
    let manager = manager()
    let request = ObjectRequest("mem:a")
    let old: HeaderFields = ["ETag": "\"1\"", "Last-Modified": "Thu, 01 Jan 2015 00:00:00 GMT"]
    _ = try await ask(manager, request, answer: "x", ["ETag": "\"1\"", "Cache-Control": "max-age=0"])
    var forbidding = old
    forbidding["Cache-Control"] = "no-store"
    #expect(try await ask(manager, request, forbidding, status: 304).source == .revalidated)
    #expect(try await ask(manager, request, old, status: 304).source == .revalidated)
    #expect(loader.starts == 3)
  }

  @Test func `an oid whose url has been put right is not answered with the old url's failure`() async throws {
    let manager = manager()
    #expect(try await ask(manager, ObjectRequest("mem:wrong", oid: "x"), status: 404).error?.head?.status == 404)
    #expect(try await ask(manager, ObjectRequest("mem:right", oid: "x"), answer: "here").object == "here")
    #expect(try await ask(manager, ObjectRequest("mem:wrong", oid: "y"), status: 404).error?.head?.status == 404)
    #expect(try await ask(manager, ObjectRequest("mem:wrong", oid: "y")).error?.head?.status == 404)
    #expect(loader.starts == 3)
  }

  @Test func `what is revalidated without its bytes still tells their number`() async throws {
    let manager = ObjectManager(loaders: [loader], time: time)
    let request = ObjectRequest("mem:a")
    async let first = manager.answer(for: request, decodedBy: .text)
    try await loader.waitForStarts(1)
    loader.answer("mem:a", "0123456789", ["ETag": "\"1\""])
    #expect(try await first.bytes == 10)
    async let second = manager.answer(for: request, decodedBy: .text)
    try await loader.waitForStarts(2)
    loader.answer("mem:a", head: LoadHead(status: 304, fields: ["ETag": "\"1\""]))
    let answer = try await second
    #expect(answer.source == .revalidated && answer.object == "0123456789" && answer.bytes == 10)
  }

  @Test func `the newest of an own and a public answer is given`() async throws {
    let manager = manager()
    _ = try await ask(manager, secret(), answer: "mine", ["Cache-Control": "max-age=600"])
    time.advance(by: .seconds(2))
    var reload = secret()
    reload.mode = .reload
    _ = try await ask(manager, reload, answer: "all's", ["Cache-Control": "public, max-age=600"])
    await manager.settle()
    manager.removeAllFromMemory()
    #expect(try await ask(manager, secret(), answer: "asked again").object == "all's")
  }

  @Test("everybody's error does not stand before a success that came after it")
  func newerSuccess() async throws {
    let manager = manager()
    let gone: HeaderFields = ["Cache-Control": "public, max-age=600"]
    #expect(try await ask(manager, secret(), gone, status: 404).error?.head?.status == 404)
    await manager.settle()
    var reload = secret()
    reload.mode = .reload
    time.advance(by: .seconds(1))
    _ = try await ask(manager, reload, answer: "here", ["Cache-Control": "private, max-age=1"])
    time.advance(by: .seconds(2))
    #expect(try await ask(manager, secret(), answer: "new").object == "new")
    #expect(loader.starts == 3)
  }

  @Test("what is stored by hand ends the error that was stored")
  func storedByHand() async throws {
    let manager = manager()
    let request = ObjectRequest("mem:a")
    _ = try await ask(manager, request, ["Cache-Control": "max-age=600"], status: 404)
    await manager.settle()
    time.advance(by: .seconds(1))
    try await manager.store(Data("by hand".utf8), for: request, head: LoadHead(fields: ["Cache-Control": "max-age=1"]))
    #expect(try await ask(manager, request).object == "by hand")
    time.advance(by: .seconds(5))
    #expect(try await ask(manager, request, answer: "new").object == "new")
  }

  @Test func `what is stored by hand with Vary answers its request`() async throws {
    let manager = manager()
    var request = ObjectRequest("mem:a")
    request.fields["Accept-Language"] = "de"
    let head = LoadHead(
      fields: ["Vary": "Accept-Language", "Cache-Control": "max-age=60", "Connection": "X-Hop", "X-Hop": "1"])
    try await manager.store(Data("deutsch".utf8), for: request, head: head)
    let answer = try await ask(manager, request)
    #expect(answer.object == "deutsch" && loader.starts == 0)
    request.fields["Accept-Language"] = "fr"
    #expect(try await ask(manager, request, answer: "français").object == "français")
  }

  @Test func `good bytes stored in place of bad ones need no server`() async throws {
    let manager = manager()
    let request = ObjectRequest(oid: "x", mirrors: [])
    let fresh = LoadHead(fields: ["Cache-Control": "max-age=600"])
    try await manager.store(Data([0xFF, 0xFE, 0xFD]), for: request, head: fresh)
    await #expect(throws: ObjectError.self) { try await manager.object(for: request, decodedBy: .json(Int.self)) }
    try await manager.store(Data("7".utf8), for: request, head: fresh)
    time.advance(by: .seconds(5))
    #expect(try await manager.object(for: request, decodedBy: .json(Int.self)) == 7)
  }

  @Test func `no form of an object is the old one after a reload`() async throws {
    let manager = manager()
    let request = ObjectRequest("mem:a")
    _ = try await ask(manager, request, answer: "old", ["Cache-Control": "max-age=600"])
    var changed = request
    changed.mode = .reload
    let reload = changed
    async let bytes = manager.data(for: reload)
    try await loader.waitForStarts(2)
    loader.answer(.number(1), head: LoadHead(fields: ["Cache-Control": "max-age=600"]), bytes: Array("new".utf8))
    #expect(try await bytes == Data("new".utf8))
    #expect(try await ask(manager, request).object == "new")
    #expect(loader.starts == 2)
  }

  @Test func `an answer whose index of variants cannot be written is delivered all the same`() async throws {
    let manager = ObjectManager(loaders: [loader], cache: IndexlessBackend(), time: time)
    let body = [UInt8](repeating: 0x61, count: 3 << 20)
    async let object = manager.data(for: ObjectRequest("mem:a"))
    try await loader.waitForStarts(1)
    loader.answer(
      .number(0), head: LoadHead(fields: ["Cache-Control": "max-age=60", "Vary": "Accept"]), bytes: body)
    #expect(try await object.count == body.count)
  }

  @Test(arguments: [false, true]) func `of large variants that come at once each is found again`(
    hasIndex: Bool
  ) async throws {
    var policy = Policy()
    policy.limitBodyInMemoryBytes = 4
    let manager = manager(policy)
    func request(_ language: String) -> ObjectRequest {
      var request = ObjectRequest("mem:a")
      request.fields["Accept-Language"] = language
      return request
    }
    let fields: HeaderFields = ["Cache-Control": "max-age=60", "Vary": "Accept-Language", "Content-Length": "8"]
    if hasIndex { _ = try await ask(manager, request("en"), answer: "englisch", fields) }
    let starts = loader.starts
    let languages = ["de", "fr", "it"]
    let users = languages.map { language in
      let user = RecordingUser.text()
      manager.manage(user, for: request(language))
      return user
    }
    try await loader.waitForStarts(starts + 3)
    let numbers = starts..<(starts + 3)
    for number in numbers { loader.head(.number(number), LoadHead(fields: fields)) }
    for number in numbers { loader.append(.number(number), Array("ein Text".utf8)) }
    for number in numbers { loader.finish(.number(number)) }
    for user in users { _ = try await user.ending() }
    await manager.settle()
    manager.removeAllFromMemory()
    for language in languages + (hasIndex ? ["en"] : []) { #expect(try await manager.contains(request(language))) }
  }

  @Test func `removing an object forgets that its load failed`() async throws {
    let manager = manager()
    let request = ObjectRequest("mem:a", oid: "x")
    _ = try await ask(manager, request, status: 404)
    try await manager.remove(request)
    #expect(try await ask(manager, request, answer: "here").object == "here")
  }
}

/// A disk on which small files find no room.
private final class IndexlessBackend: CacheBackend {
  private let inner = MemoryBackend()

  func lookUp(_ key: EntryKey) throws -> (any EntryLease)? { inner.lookUp(key) }
  func begin(_ key: EntryKey, expectedBytes: Int?) throws -> EntryWriter {
    if expectedBytes == 0 { throw ObjectError(.cacheBroken, "full") }
    return inner.begin(key, expectedBytes: expectedBytes)
  }
  func remove(_ key: EntryKey) throws { inner.remove(key) }
  func clear() throws { inner.clear() }
  func statistics() throws -> BackendStatistics { inner.statistics() }
}
