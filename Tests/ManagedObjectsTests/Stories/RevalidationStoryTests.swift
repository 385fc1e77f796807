import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Entity tags and dates as real servers make them: asked about, and confirmed by 304 in their own logs.
@Suite(.serialized)
struct RevalidationStoryTests {
  private let room: StoryRoom
  private let root: TemporaryFolder
  private let body = Pattern(seed: 5).bytes(200_000)
  /// Within a day an answer without a word from its server may count as fresh; this is later.
  private let later = ManualClock(wallNow: SystemTime().wallNow + .seconds(2 * 86_400))

  init() throws {
    room = try StoryRoom()
    root = try TemporaryFolder("site")
    try write("small.txt", Array("hello".utf8), at: "2020-01-01T00:00:00Z")
    try write("large.bin", body, at: "2021-02-03T04:05:06Z")
  }

  private func write(_ name: String, _ bytes: [UInt8], at date: String) throws {
    try root.write(name, bytes)
    let modified = try Date(date, strategy: .iso8601)
    try FileManager.default.setAttributes([.modificationDate: modified], ofItemAtPath: root.path(name))
  }

  enum Kind: String, CaseIterable { case nginx, nginxByDate, caddy, caddyByDate }

  private func server(_ kind: Kind) throws -> RealServer {
    switch kind {
    case .nginx: try RealServer(.nginx(root: root.path))
    case .nginxByDate: try RealServer(.nginx(root: root.path, directives: "etag off;"))
    case .caddy: try RealServer(.caddy(root: root.path))
    case .caddyByDate: try RealServer(.caddy(root: root.path, directives: "header -ETag"))
    }
  }

  private func manager(_ time: any TimeSource) throws -> ObjectManager {
    ObjectManager(cache: try FileCache(folder: room.cacheFolder), time: time)
  }

  /// The files that hold large bodies: which they are, not only what they are called.
  private var bodies: [Int?] {
    room.entryFiles.filter { $0.contains(".") }.map { name in
      let facts = try? FileManager.default.attributesOfItem(atPath: room.folder.path(name))
      return facts?[.systemFileNumber] as? Int
    }
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx, .caddy)), arguments: Kind.allCases)
  func `an object of a real server is confirmed by 304, in its log too, and new bytes are seen`(kind: Kind) async throws
  {
    let server = try server(kind)
    let byTag = kind == .nginx || kind == .caddy
    for (name, bytes) in [("/small.txt", Array("hello".utf8)), ("/large.bin", body)] {
      let first = try await manager(SystemTime()).answer(for: ObjectRequest(server.url(name)), decodedBy: .data)
      #expect(first.object == Data(bytes) && first.source == .network)
      #expect((first.head.fields["ETag"] != nil) == byTag && first.head.fields["Last-Modified"] != nil)
      let again = try await manager(later).answer(for: ObjectRequest(server.url(name)), decodedBy: .data)
      #expect(again.object == Data(bytes) && again.source == .revalidated)
    }
    try await server.waitForReplies(4)
    #expect(server.replies.map(\.status) == [200, 304, 200, 304])
    #expect([0, nil].contains(server.replies[3].bytes))

    try write("small.txt", Array("other".utf8), at: "2022-01-01T00:00:00Z")
    let changed = try await manager(later).answer(for: ObjectRequest(server.url("/small.txt")), decodedBy: .data)
    #expect(changed.object == Data("other".utf8) && changed.source == .network)
    try await server.waitForReplies(5)
    #expect(server.replies.map(\.status).last == 200)
  }

  @Test(.enabled(if: DebianPackage.areWanted(.nginx, .caddy)), arguments: Kind.allCases)
  func `the answer itself is confirmed too, and the caller's own condition is met without asking`(kind: Kind)
    async throws
  {
    let server = try server(kind)
    var request = LoadRequest(location: server.url("/large.bin"))
    let first = try await manager(SystemTime()).response(to: request)
    #expect(try first.data() == Data(body))
    if let tag = first.head.fields["ETag"] { request.fields["If-None-Match"] = tag }
    request.fields["If-Modified-Since"] = first.head.fields["Last-Modified"]
    let met = try await manager(SystemTime()).response(to: request)
    #expect(met.status == 304 && met.count == 0 && met.source == .file)
    let before = bodies
    #expect(before.count == 1)
    let again = try await manager(later).response(to: LoadRequest(location: server.url("/large.bin")))
    #expect(try again.status == 200 && again.source == .revalidated && again.data() == Data(body))
    #expect(bodies == before, "a large body is not written again")
    try await server.waitForReplies(2)
    #expect(server.replies.map(\.status) == [200, 304])
  }
}
