import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Who comes first, and who waits.
struct TurnTests {
  private let loader = HeldLoader()
  private let time = ManualClock()
  private static let fresh: HeaderFields = ["Cache-Control": "max-age=3600"]

  private func manager(_ policy: Policy = Policy()) -> ObjectManager {
    ObjectManager(loaders: [loader], policy: policy, time: time)
  }

  @Test func `a request says itself whether it bumps or waits`() async throws {
    var policy = Policy()
    policy.limitLiveHandlers = 1
    let manager = manager(policy)
    let (first, patient) = (RecordingUser.text(), RecordingUser.text())
    var request = ObjectRequest("mem:patient")
    request.whenFull = .wait
    manager.manage(first, for: ObjectRequest("mem:first"))
    manager.manage(patient, for: request)
    #expect(first.endings.isEmpty && manager.statistics.waitingHandlers == 1)
    var pushing = ObjectRequest("mem:pushing")
    pushing.whenFull = .bumpOldest
    async let pushed = manager.object(for: pushing, decodedBy: .text)
    #expect(try await first.ending().reason == .bumped)
    try await until("the newcomer's load") { [loader] in loader.starts("mem:pushing") == 1 }
    loader.answer("mem:pushing", "p")
    #expect(try await pushed == "p")
    try await until("the patient one's load") { [loader] in loader.starts("mem:patient") == 1 }
    loader.answer("mem:patient", "q")
    #expect(try await patient.object() == "q")
  }

  @Test func `waiting loads start by priority, also one that was changed while they wait`() async throws {
    var policy = Policy()
    policy.limitTransfers = 1
    let manager = manager(policy)
    let users = (0..<5).map { _ in RecordingUser.text() }
    let priorities: [LoadPriority] = [.normal, .low, .normal, .high, .veryLow]
    for (number, user) in users.enumerated() {
      var request = ObjectRequest("mem:\(number)")
      request.priority = priorities[number]
      manager.manage(user, for: request)
    }
    manager.setPriority(.veryHigh, of: users[4])
    for number in 0..<5 {
      try await loader.waitForStarts(number + 1)
      #expect(loader.starts == number + 1)
      loader.answer(.number(number), "x")
    }
    #expect(loader.requests.map(\.location) == ["mem:0", "mem:4", "mem:3", "mem:2", "mem:1"])
    for user in users { #expect(try await user.object() == "x") }
  }
}
