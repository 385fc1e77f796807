import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// What will be wanted soon never stands in the way of what is wanted now.
struct PrefetchStoryTests {
  private let room: StoryRoom
  private let gate = Gate()

  init() throws {
    room = try StoryRoom()
    room.server.otherwise { [gate] in Reply($0.path, hour).held(until: gate) }
  }

  private func manager(transfers: Int) throws -> ObjectManager { try room.manager { $0.limitTransfers = transfers } }

  @Test func `what is being prefetched and then wanted is the next to be asked for`() async throws {
    let manager = try manager(transfers: 1)
    async let errors = manager.prefetch((0..<20).map { room.request("/\($0)") })
    // Whichever was found not to be in the cache first.
    try await room.server.wait(for: "one runs") { $0.allHits == 1 }
    let first = room.server.requests.first?.path
    try await until("all are queued") { manager.liveHandlers.count == 20 }
    try await until("all are looked up") { manager.liveHandlers.allSatisfy { $0.state == .loading } }
    let wanted = first == "/15" ? "/16" : "/15"
    let user = RecordingUser.text()
    manager.manage(user, for: room.request(wanted))
    gate.open()
    #expect(try await user.object() == wanted)
    #expect(await errors.isEmpty)
    let paths = room.server.requests.map(\.path)
    #expect(paths.first == first && paths.dropFirst().first == wanted)
    #expect(paths.count == 20 && Set(paths).count == 20)
  }

  @Test func `a prefetch that begins and is cancelled takes nothing from the loads of users`() async throws {
    let manager = try manager(transfers: 2)
    let users = (0..<12).map { number in
      let user = RecordingUser.text()
      manager.manage(user, for: room.request("/\(number)"))
      return user
    }
    try await room.server.wait(for: "two run") { $0.allHits == 2 }
    // The last of the users' ten queued ones is in both sets.
    let prefetch = Task { await manager.prefetch((11..<41).map { room.request("/\($0)") }) }
    try await until("both sets have met") {
      manager.statistics.joins == 1 && manager.liveHandlers.count + manager.statistics.waitingHandlers == 41
    }
    prefetch.cancel()
    let errors = await prefetch.value
    #expect(errors.count == 30 && errors.values.allSatisfy { $0.reason == .left })
    gate.open()
    for (number, user) in users.enumerated() { #expect(try await user.object() == "/\(number)") }
    try await until("nothing is under way") { manager.liveHandlers.isEmpty }
    #expect(Set(room.server.requests.map(\.path)) == Set((0..<12).map { "/\($0)" }))
    #expect(room.server.allHits == 12)
  }
}
