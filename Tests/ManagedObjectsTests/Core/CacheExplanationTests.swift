import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

struct CacheExplanationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("explained") }

  private var cacheFolder: URL { folder.url.appending(path: "cache") }

  /// Stores it as if it had come so many seconds ago.
  private func store(_ key: EntryKey, _ fields: HeaderFields, status: Int = 200, ago seconds: Double = 0) throws {
    let time = SystemTime().wallNow + .seconds(-seconds)
    let cache = try FileCache(folder: cacheFolder)
    var writer = try cache.begin(key, expectedBytes: 1)
    try writer.append([UInt8(1)].span.bytes)
    _ = try writer.commit(
      EntryFacts(head: LoadHead(status: status, fields: fields), requestTime: time, responseTime: time))
  }

  private func explain(_ request: ObjectRequest) throws -> CacheExplanation {
    try CacheExplanation(of: request, in: ExistingCache.open(cacheFolder, limits: CacheLimits(bytes: nil)))
  }

  private func key(_ url: String, scope: String = "", kind: EntryKey.Kind = .good) -> EntryKey {
    EntryKey(ObjectID(url, kind: .url), scope: scope, kind: kind)
  }

  @Test(
    arguments: [
      (["Cache-Control": "max-age=100"], FreshnessRule.Grant.Origin.maxAge, 100),
      (["Expires": "Sun, 06 Nov 1994 08:49:37 GMT"], .expires, 0), (["Expires": "-1"], .expires, 0),
      (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], .heuristic, 86_400), ([:], .none, 0),
    ] as [(HeaderFields, FreshnessRule.Grant.Origin, Int64)])
  func `who says how long it is fresh`(fields: HeaderFields, origin: FreshnessRule.Grant.Origin, lifetime: Int64) throws
  {
    try store(key("http://h/a"), fields, ago: 10)
    let entry = try #require(try explain(ObjectRequest("HTTP://h:80/a#x")).entries.first)
    #expect(entry.grant == FreshnessRule.Grant(lifetime: .seconds(lifetime), origin: origin))
    #expect(try #require(entry.age) >= .seconds(10) && entry.count == 1)
  }

  @Test func `a fresh error stands before what is stale, and is not taken for an answer to be confirmed`() throws {
    try store(key("http://h/a"), ["Cache-Control": "max-age=1", "ETag": "\"1\""], ago: 100)
    guard case .asked(.expired, let conditions) = try explain(ObjectRequest("http://h/a")).outcome else {
      Issue.record("not asked")
      return
    }
    #expect(conditions == ["If-None-Match": "\"1\""])
    try store(key("http://h/a", kind: .error), ["Cache-Control": "max-age=100"], status: 410)
    let explanation = try explain(ObjectRequest("http://h/a"))
    guard case .failed(status: 410) = explanation.outcome else {
      Issue.record("not told")
      return
    }
    #expect(explanation.entries.count == 2 && explanation.entries.allSatisfy(\.answersRequest))
  }

  @Test func `answers of others are shown, and do not count`() throws {
    try store(key("http://h/a", scope: "name:bob"), ["Cache-Control": "max-age=100"])
    try store(key("http://h/b"), ["Cache-Control": "max-age=100"])
    let explanation = try explain(ObjectRequest("http://h/a"))
    #expect(explanation.entries.map(\.answersRequest) == [false])
    guard case .asked(.absent, _) = explanation.outcome else {
      Issue.record("answered with another's")
      return
    }
    var bob = ObjectRequest("http://h/a")
    bob.credentialScope = "bob"
    guard case .served(.fresh) = try explain(bob).outcome else {
      Issue.record("not found")
      return
    }
  }

  @Test func `what was invalidated, or lies in the future, has no age`() throws {
    try store(key("http://h/a"), ["Cache-Control": "max-age=100"], ago: -1000)
    let ahead = try explain(ObjectRequest("http://h/a"))
    #expect(ahead.entries.map(\.age) == [nil] && ahead.entries.map(\.bridges) == [nil])
    guard case .asked(.clock, _) = ahead.outcome else {
      Issue.record("taken for fresh")
      return
    }
    let cache = try FileCache(folder: cacheFolder)
    let facts = try #require(try cache.lookUp(key("http://h/a"))).facts
    try cache.update(key("http://h/a"), facts: facts.invalidated)
    let invalidated = try explain(ObjectRequest("http://h/a"))
    #expect(invalidated.entries.map(\.age) == [nil])
    guard case .asked(.invalidated, _) = invalidated.outcome else {
      Issue.record("taken for fresh")
      return
    }
  }

  @Test func `a request that cannot be made is refused before the folder is looked at`() throws {
    try store(key("http://h/a"), [:])
    var visits = 0
    let error = #expect(throws: ObjectError.self) {
      try CacheExplanation(
        of: ObjectRequest("http://"), in: ExistingCache.open(cacheFolder, limits: CacheLimits(bytes: nil))
      ) { visits += 1 }
    }
    #expect(error?.code == .invalidURL && visits == 0)
  }
}
