import Foundation
import TestSupport

@testable import ManagedObjects

/// A sink, and all that its listener heard.
struct SinkRoom {
  let heads = Collector<LoadHead>()
  let progress = Collector<LoadProgress>()
  let outcomes = Collector<LoadOutcome>()
  let faults = Collector<ObjectError>()
  let sink: LoadSink

  init(_ change: (inout IntakePlan) -> Void = { _ in }) {
    var plan = IntakePlan()
    plan.onFault = { [faults] in faults.append($0) }
    change(&plan)
    sink = LoadSink(plan, Hearing(heads: heads, progress: progress, outcomes: outcomes))
  }

  private final class Hearing: SinkListener {
    let heads: Collector<LoadHead>
    let progress: Collector<LoadProgress>
    let outcomes: Collector<LoadOutcome>

    init(heads: Collector<LoadHead>, progress: Collector<LoadProgress>, outcomes: Collector<LoadOutcome>) {
      (self.heads, self.progress, self.outcomes) = (heads, progress, outcomes)
    }

    func interimCame(_ head: LoadHead) {}
    func redirected(by hop: RedirectHop) {}
    func headCame(_ head: LoadHead, to sink: LoadSink) { heads.append(head) }
    func bytesCame(_ progress: LoadProgress) { self.progress.append(progress) }
    func ended(_ outcome: LoadOutcome, _ timings: LoadTimings?, from sink: LoadSink) { outcomes.append(outcome) }
  }

  /// Head, bytes and end in one go.
  func bring(_ head: LoadHead, _ pieces: [UInt8]...) {
    sink.head(head)
    for piece in pieces { sink.append(Data(piece)) }
    sink.finish()
  }

  var outcome: LoadOutcome? { outcomes.elements.count == 1 ? outcomes.elements.first : nil }
  var error: ObjectError? { if case .failure(let error) = outcome { error } else { nil } }
  var body: ReceivedBody? { if case .body(_, let body) = outcome { body } else { nil } }
  var text: String? { body?.inMemory.map { String(decoding: $0, as: UTF8.self) } }
  var start: Data? { if case .status(_, let body) = outcome { body.shown } else { nil } }
}

func head(_ length: Int, status: Int = 200, _ fields: HeaderFields = [:]) -> LoadHead {
  var head = LoadHead(status: status, fields: fields)
  head.fields["Content-Length"] = String(length)
  return head
}
