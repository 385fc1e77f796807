import Foundation
import TestSupport

@testable import ManagedObjects

/// An unfinished entry that fails where the test says.
final class FakeEntry: EntryWriting {
  enum Salvage: Sendable {
    case whole
    /// With half of the piece that failed.
    case half
    case short
    case fails
  }

  struct Full: Error {}

  struct State: Sendable {
    var bytes: [UInt8] = []
    var appends = 0
    var isAborted = false
    var isCommitted = false
  }

  private let failingAppend: Int?
  private let salvaging: Salvage
  private let all = Watched(State())

  /// - Parameter failingAppend: the number of the append that throws, from 1.
  init(failingAppend: Int? = nil, salvaging: Salvage = .whole) {
    self.failingAppend = failingAppend
    self.salvaging = salvaging
  }

  var state: State { all.value }

  func append(_ bytes: RawSpan) throws {
    let more = [UInt8](bytes)
    let fails = all.update { state in
      state.appends += 1
      let fails = state.appends == failingAppend
      state.bytes += fails ? Array(more.prefix(salvaging == .half ? more.count / 2 : 0)) : more
      return fails
    }
    if fails { throw Full() }
  }

  func commit(_ facts: EntryFacts) throws -> any EntryLease {
    all.update { $0.isCommitted = true }
    throw Full()
  }

  func abort() { all.update { $0.isAborted = true } }

  func salvage() throws -> Data {
    switch salvaging {
    case .whole, .half: return Data(state.bytes)
    case .short: return Data(state.bytes.dropLast())
    case .fails: throw Full()
    }
  }
}

extension ReceivedBody {
  var inMemory: Data? { if case .memory(let data) = self { data } else { nil } }
  var isPending: Bool { if case .pending = self { true } else { false } }
}
