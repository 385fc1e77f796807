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

  @Test func `removing an object forgets that its load failed`() async throws {
    let manager = manager()
    let request = ObjectRequest("mem:a", oid: "x")
    _ = try await ask(manager, request, status: 404)
    try await manager.remove(request)
    #expect(try await ask(manager, request, answer: "here").object == "here")
  }
}
