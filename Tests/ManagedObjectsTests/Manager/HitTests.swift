import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Requests that are answered from memory, before `manage` returns.
struct HitTests {
  private static func manager() -> ObjectManager {
    let loader = HeldLoader(scheme: "http") { _, sink in
      sink.head(LoadHead(fields: ["Cache-Control": "max-age=60"]))
      sink.append(Data("x".utf8))
      sink.finish()
    }
    return ObjectManager(loaders: [loader])
  }

  @Test func `a hit is found however its url is written, by those who ask for the same`() async throws {
    let manager = Self.manager()
    _ = try await manager.object(for: ObjectRequest("HTTP://Example.com:80/a b#c"), decodedBy: .text)
    for text in ["http://example.com/a%20b", "http://EXAMPLE.com/a b", "http://example.com:80/a%20b#d"] {
      #expect(manager.peek(ObjectRequest(text), decodedBy: .text) == "x", "\(text)")
    }
    var others = (0..<4).map { _ in ObjectRequest("http://example.com/a%20b") }
    others[0].fields["Authorization"] = "Basic eDp5"
    others[1].namespace = "tiles"
    others[2].mode = .reload
    others[3].oid = "http://example.com/a%20b"
    for other in others { #expect(manager.peek(other, decodedBy: .text) == nil, "\(other)") }
    #expect(manager.peek(ObjectRequest("http://example.com/a%20b"), decodedBy: .data) == nil)
  }

  @Test func `a user managed by eight threads at once is told once for each, and by one at a time`() async throws {
    let manager = Self.manager()
    let user = CountingUser()
    let request = ObjectRequest("http://example.com/a")
    _ = try await manager.object(for: request, decodedBy: .text)
    let done = Collector<Int>()
    for thread in 0..<8 {
      Thread.detachNewThread {
        for _ in 0..<500 { manager.manage(user, for: request) }
        done.append(thread)
      }
    }
    #expect(try await done.wait(8).count == 8)
    #expect(try await user.ended.wait(4000).count == 4000)
    #expect(user.most == 1)
    #expect(manager.liveHandlers.isEmpty && !manager.leave(user))
  }

  @Test func `whoever asks from inside such a callback is answered after it, on the same thread`() async throws {
    let manager = Self.manager()
    let request = ObjectRequest("http://example.com/a")
    _ = try await manager.object(for: request, decodedBy: .text)
    let order = Collector<Int>()
    let (first, second) = (CallingUser { order.append(1) }, CallingUser { order.append(2) })
    let outer = CallingUser {
      manager.manage(first, for: request)
      manager.manage(second, for: request)
      order.append(0)
    }
    #expect(manager.manage(outer, for: request) == nil)
    #expect(order.elements == [0, 1, 2])
  }
}

/// How often it was told, and by how many at once.
private final class CountingUser: ManagedUser {
  let ended = Collector<Int>()
  private let running = Lock((now: 0, most: 0))

  var most: Int { running.withLock { $0.most } }

  var representation: Representation { ObjectDecoder<String>.text.representation }
  func readyFromLoaded(_ loaded: Loaded) throws -> String { "" }

  func ended(_ ending: Ending<String>) {
    running.withLock {
      $0.now += 1
      $0.most = max($0.most, $0.now)
    }
    ended.append(1)
    running.withLock { $0.now -= 1 }
  }
}

private final class CallingUser: ManagedUser {
  private let call: @Sendable () -> Void

  init(_ call: @escaping @Sendable () -> Void) { self.call = call }

  var representation: Representation { ObjectDecoder<String>.text.representation }
  func readyFromLoaded(_ loaded: Loaded) throws -> String { "" }
  func ended(_ ending: Ending<String>) { call() }
}
