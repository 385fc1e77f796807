import CurlTransfer
import Foundation
import TestSupport

@testable import ManagedObjects

/// Writes down what a load brings, in place of a `LoadSink`.
final class RecordingTarget: CurlLoadTarget {
  struct Record: Sendable {
    var calls: [String] = []
    var interims: [LoadHead] = []
    var heads: [LoadHead] = []
    var body: [UInt8] = []
    var end: ObjectError?
    var timings: LoadTimings?
    var isOpen = true
    var waiter: (@Sendable () -> Void)?
    var code: ObjectError.Code? { end?.code }
  }

  let record = Watched(Record())
  private let wants: @Sendable (Record) -> Bool
  private let isFull: Bool

  init(isFull: Bool = false, isWanted: @escaping @Sendable (Record) -> Bool = { _ in true }) {
    self.isFull = isFull
    wants = isWanted
  }

  var isWanted: Bool { wants(record.value) }
  func redirected(by hop: RedirectHop) {}

  func whenNotFull(_ call: @escaping @Sendable () -> Void) { record.update { $0.waiter = call } }

  /// More bytes are welcome now.
  func drain() {
    let call = record.update { $0.waiter.take() }
    call?()
  }

  func interim(_ head: LoadHead) { note("interim") { $0.interims.append(head) } }
  func head(_ head: LoadHead) { note("head") { $0.heads.append(head) } }

  func take(_ bytes: RawSpan) -> LoadSink.Appetite {
    guard isWanted else { return .none }
    let copy = bytes.withUnsafeBytes { Array($0) }
    note("append") { $0.body += copy }
    return isFull ? .full : .more
  }

  func finish(_ timings: LoadTimings?) {
    note("finish") { record in
      record.timings = timings
      record.isOpen = false
    }
  }

  func fail(_ error: ObjectError) {
    note("fail") { record in
      record.end = error
      record.isOpen = false
    }
  }

  /// Appends in a row count as one call.
  private func note(_ call: String, _ change: (inout Record) -> Void) {
    record.update { record in
      if call != "append" || record.calls.last != "append" { record.calls.append(call) }
      change(&record)
    }
  }

  func finished() async throws -> Record {
    try await record.wait(for: "the end of a load", seconds: 20) { !$0.isOpen }
  }
}
