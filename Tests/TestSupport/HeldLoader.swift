package import FoundationEssentials
package import ManagedObjects

/// A loader whose loads go no further than the test lets them.
///
///     let loader = HeldLoader()                       // takes "mem:" URLs
///     … somebody asks for "mem:a" …
///     try await loader.waitForStarts(1)
///     loader.answer("mem:a", bytes: Array("hello".utf8))
///
/// A load is named by its location, meaning the latest that was started there, or by its number, counted from 0.
package final class HeldLoader: Loader {
  package struct Load: Sendable {
    package let request: LoadRequest
    package let sink: LoadSink
    /// The manager has called it off.
    package fileprivate(set) var isStopped = false
  }

  private let scheme: String
  private let onStart: (@Sendable (LoadRequest, LoadSink) -> Void)?
  private let all = Watched<[Load]>([])

  /// - Parameter onStart: Called with each load inside `start`; a loader that answers at once, or never needs holding.
  package init(scheme: String = "mem", onStart: (@Sendable (LoadRequest, LoadSink) -> Void)? = nil) {
    self.scheme = scheme
    self.onStart = onStart
  }

  package func accepts(_ url: URL) -> Bool { url.scheme == scheme }

  package func start(_ request: LoadRequest, into sink: LoadSink) -> LoadStop {
    let number = all.update { loads in
      loads.append(Load(request: request, sink: sink))
      return loads.count - 1
    }
    onStart?(request, sink)
    return LoadStop { [weak self] in self?.all.update { $0[number].isStopped = true } }
  }

  // MARK: What was asked

  package var loads: [Load] { all.value }
  package var requests: [LoadRequest] { loads.map(\.request) }
  package var starts: Int { loads.count }
  package var stops: Int { loads.count(where: \.isStopped) }
  package func starts(_ location: String) -> Int { requests.count { $0.location == location } }

  @discardableResult
  package func waitForStarts(_ count: Int, seconds: Double = 10) async throws -> [LoadRequest] {
    try await all.wait(for: "\(count) starts", seconds: seconds) { $0.count >= count }.map(\.request)
  }

  @discardableResult
  package func waitForStarts(_ count: Int, seconds: Double = 10) throws -> [LoadRequest] {
    try all.wait(for: "\(count) starts", seconds: seconds) { $0.count >= count }.map(\.request)
  }

  package func waitForStops(_ count: Int, seconds: Double = 10) async throws {
    try await all.wait(for: "\(count) stops", seconds: seconds) { $0.count(where: \.isStopped) >= count }
  }

  package func waitForStops(_ count: Int, seconds: Double = 10) throws {
    try all.wait(for: "\(count) stops", seconds: seconds) { $0.count(where: \.isStopped) >= count }
  }

  // MARK: What is answered

  /// Names a load, by its location or its number.
  package enum Which: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case location(String)
    case number(Int)

    package init(stringLiteral location: String) { self = .location(location) }
    package init(integerLiteral number: Int) { self = .number(number) }
  }

  /// nil: no such load was started.
  package func sink(_ which: Which) -> LoadSink? {
    switch which {
    case .location(let location): loads.last { $0.request.location == location }?.sink
    case .number(let number): loads.indices.contains(number) ? loads[number].sink : nil
    }
  }

  /// Head, bytes and end; without a Content-Length of its own the head gets the right one.
  package func answer(_ which: Which, head: LoadHead = LoadHead(), bytes: [UInt8] = []) {
    var head = head
    if !head.fields.contains("Content-Length"), !head.fields.contains("Transfer-Encoding") {
      head.fields["Content-Length"] = String(bytes.count)
    }
    let sink = sink(which)
    sink?.head(head)
    if !bytes.isEmpty { sink?.append(Data(bytes)) }
    sink?.finish()
  }

  package func answer(_ which: Which, _ text: String, _ fields: HeaderFields = [:]) {
    answer(which, head: LoadHead(fields: fields), bytes: Array(text.utf8))
  }

  package func head(_ which: Which, _ head: LoadHead) { sink(which)?.head(head) }
  package func append(_ which: Which, _ bytes: [UInt8]) { sink(which)?.append(Data(bytes)) }
  package func finish(_ which: Which) { sink(which)?.finish() }

  package func fail(_ which: Which, _ error: ObjectError = ObjectError(.transport, "The test says so.")) {
    sink(which)?.fail(error)
  }
}
