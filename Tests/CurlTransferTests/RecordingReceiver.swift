import CurlTransfer
import Glibc
import TestSupport

/// Writes down all that a transfer brings; what it answers to bytes is the test's choice.
final class RecordingReceiver: TransferReceiver {
  struct Record: Sendable {
    var id: TransferID?
    var heads: [String] = []
    var body: [UInt8] = []
    var bodyBytes = 0
    var pauses = 0
    var ends: [TransferEnd] = []
    /// Calls that came when they should not: after the end, or a body before a final head.
    var surprises: [String] = []
    var threads: Set<UInt> = []
  }

  let record = Watched(Record())
  private let keepsBody: Bool
  private let flow: @Sendable (Record) -> TransferFlow
  private let whenEnded: @Sendable (TransferEnd) -> Void

  /// - Parameter flow: asked after the bytes were written down.
  init(
    keepsBody: Bool = true, flow: @escaping @Sendable (Record) -> TransferFlow = { _ in .more },
    whenEnded: @escaping @Sendable (TransferEnd) -> Void = { _ in }
  ) {
    self.keepsBody = keepsBody
    self.flow = flow
    self.whenEnded = whenEnded
  }

  func began(as id: TransferID) {
    note("began") { $0.id = id }
  }

  func headReceived(_ raw: [UInt8]) {
    note("head") { $0.heads.append(String(decoding: raw, as: UTF8.self)) }
  }

  func bodyReceived(_ bytes: RawSpan) -> TransferFlow {
    let count = bytes.byteCount
    let copy = keepsBody ? bytes.withUnsafeBytes { Array($0) } : []
    note("body") { record in
      if record.heads.isEmpty { record.surprises.append("a body before the head") }
      record.body += copy
      record.bodyBytes += count
    }
    let flow = flow(record.value)
    if case .pause = flow { record.update { $0.pauses += 1 } }
    return flow
  }

  func ended(_ end: TransferEnd) {
    note("end") { $0.ends.append(end) }
    whenEnded(end)
  }

  private func note(_ what: String, _ change: (inout Record) -> Void) {
    record.update { record in
      if !record.ends.isEmpty { record.surprises.append("\(what) after the end") }
      record.threads.insert(UInt(pthread_self()))
      change(&record)
    }
  }

  /// The record when the transfer has ended.
  func finished(seconds: Double = 20) async throws -> Record {
    try await record.wait(for: "the end of a transfer", seconds: seconds) { !$0.ends.isEmpty }
  }
}

extension RecordingReceiver.Record {
  var facts: TransferFacts? { if case .finished(let facts) = ends.first { facts } else { nil } }
  var failure: TransferFailure? { if case .failed(let failure) = ends.first { failure } else { nil } }
  var kind: TransferFailure.Kind? { failure?.kind }
  /// The status of the last head, 0 where there is none.
  var status: Int { heads.last.flatMap { Int($0.split(separator: " ", maxSplits: 2).dropFirst().first ?? "") } ?? 0 }
}

extension TransferRequest {
  /// For a server on loopback.
  init(_ server: LoopbackServer, _ path: String) {
    self.init(
      url: server.url(path), origin: TransferOrigin(scheme: "http", host: server.address, port: server.port))
  }
}

extension CurlEngine {
  /// One transfer from start to end.
  func run(_ request: TransferRequest, seconds: Double = 20) async throws -> RecordingReceiver.Record {
    let receiver = RecordingReceiver()
    start(request, receiver)
    return try await receiver.finished(seconds: seconds)
  }

  func run(_ server: LoopbackServer, _ path: String) async throws -> RecordingReceiver.Record {
    try await run(TransferRequest(server, path))
  }
}
