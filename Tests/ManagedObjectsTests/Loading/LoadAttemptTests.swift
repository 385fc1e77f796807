import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// One attempt: interceptors, loader and sink end it once, in whatever order they speak.
struct LoadAttemptTests {
  private let loader = HeldLoader()
  private let outcomes = Collector<LoadOutcome>()
  private let request = LoadRequest(location: "mem:a")

  private func attempt(
    _ interceptors: [any Interceptor] = [], loaders: [any Loader]? = nil, number: Int = 1
  ) -> LoadAttempt {
    LoadAttempt(
      loaders: loaders ?? [loader], interceptors: interceptors, plan: IntakePlan(), number: number,
      LoadAttempt.Listener(progress: { _ in }, end: { [outcomes] outcome, _ in outcomes.append(outcome) }))
  }

  private func outcome() async throws -> LoadOutcome { try await outcomes.wait(1)[0] }

  private func error() async throws -> ObjectError? {
    if case .failure(let error) = try await outcome() { error } else { nil }
  }

  private func text() async throws -> String? {
    guard case .body(_, let body) = try await outcome() else { return nil }
    return body.inMemory.map { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: The loader

  @Test func `without interceptors the loader is asked before start returns, and its end is the end`() async throws {
    let attempt = attempt()
    attempt.start(request)
    loader.answer(0, "hello")
    #expect(try await text() == "hello")
    loader.fail(0)
    attempt.cancel()
    #expect(outcomes.elements.count == 1 && loader.stops == 0)
  }

  @Test func `the first loader that takes the url is asked`() async throws {
    let other = HeldLoader(scheme: "other")
    attempt(loaders: [other, loader, HeldLoader()]).start(request)
    loader.answer(0, "mine")
    #expect(try await text() == "mine")
    #expect(other.starts == 0)
  }

  @Test func `a url that no loader takes, or a field that http forbids, never starts`() async throws {
    attempt(loaders: []).start(request)
    #expect(try await error()?.code == .unsupportedScheme)
    var bad = request
    bad.fields["X"] = "a\r\nb"
    attempt().start(bad)
    guard case .failure(let error) = try await outcomes.wait(2)[1] else { return #expect(Bool(false), "refused") }
    #expect(error.code == .invalidRequest && loader.starts == 0)
  }

  @Test func `a failure tells the loader to stop, a whole answer does not`() async throws {
    attempt().start(request)
    loader.head(0, head(1))
    loader.append(0, [1, 2])
    #expect(try await error()?.code == .wrongLength)
    #expect(loader.stops == 1)
  }

  @Test func `cancelled, it stops the loader and says nothing more`() {
    let attempt = attempt()
    attempt.start(request)
    attempt.cancel()
    attempt.cancel()
    #expect(loader.stops == 1 && loader.sink(0)?.isWanted == false)
    loader.answer(0, "late")
    #expect(outcomes.elements.isEmpty)
  }

  @Test func `cancelled while the loader still starts, it is stopped as soon as it has started`() {
    let attempts = Lock<LoadAttempt?>(nil)
    let loader = HeldLoader { _, _ in attempts.withLock { $0 }?.cancel() }
    let attempt = attempt(loaders: [loader])
    attempts.withLock { $0 = attempt }
    attempt.start(request)
    #expect(loader.stops == 1 && outcomes.elements.isEmpty)
    attempts.withLock { $0 = nil }
  }

  @Test func `a loader that answers inside start ends it once`() async throws {
    let loader = HeldLoader { _, sink in
      sink.head(LoadHead())
      sink.append(Data("now".utf8))
      sink.finish()
    }
    attempt(loaders: [loader]).start(request)
    #expect(try await text() == "now")
    #expect(outcomes.elements.count == 1)
  }

  @Test func `gzip is undone only where we asked for it ourselves`() async throws {
    let packed = gzipped(Array("hello".utf8))
    let zipped = LoadHead(fields: ["Content-Encoding": "gzip"])
    var ours = request
    ours.fields["Accept-Encoding"] = LoadAttempt.acceptedCodings
    attempt().start(ours)
    loader.answer(0, head: zipped, bytes: packed)
    #expect(try await text() == "hello")
    attempt().start(request)
    loader.answer(1, head: zipped, bytes: packed)
    guard case .body(_, let body) = try await outcomes.wait(2)[1] else { return #expect(Bool(false), "a body") }
    #expect(body.inMemory == Data(packed))
  }

  @Test func `an async loader ends by returning, fails by throwing and is stopped by cancelling its task`() async throws
  {
    attempt(loaders: [AsyncText("async")]).start(request)
    #expect(try await text() == "async")
    attempt(loaders: [AsyncText(nil)]).start(request)
    guard case .failure(let error) = try await outcomes.wait(2)[1] else { return #expect(Bool(false), "thrown") }
    #expect(error.code == .transport && error.underlying is Broken)
    let held = AsyncHeld()
    let attempt = attempt(loaders: [held])
    attempt.start(request)
    try await held.began.wait()
    attempt.cancel()
    try await held.cancelled.wait()
    #expect(outcomes.elements.count == 2)
  }

  // MARK: Before the load

  @Test func `interceptors change the request one after the other`() async throws {
    let add = { (value: String) in
      Interceptors(willLoad: { request in
        var request = request
        request.fields.append("X", value)
        return .load(request)
      })
    }
    attempt([add("a"), add("b")]).start(request)
    try await loader.waitForStarts(1)
    #expect(loader.requests[0].fields.values(of: "X") == ["a", "b"])
    loader.answer(0, "x")
    #expect(try await text() == "x")
  }

  @Test func `an interceptor may answer itself, and its bytes are taken as they are`() async throws {
    let fields: HeaderFields = ["Content-Encoding": "gzip"]
    attempt([Interceptors(willLoad: { _ in .answer(LoadHead(fields: fields), Data("mine".utf8)) })]).start(request)
    #expect(try await text() == "mine")
    #expect(loader.starts == 0)
  }

  @Test func `an interceptor that refuses or throws ends it without a load`() async throws {
    attempt([Interceptors(willLoad: { _ in .refuse("not today") })]).start(request)
    let refused = try await error()
    #expect(refused?.code == .refusedByPolicy && refused?.message.contains("not today") == true)
    attempt([Interceptors(willLoad: { _ in throw Broken() })]).start(request)
    attempt([Interceptors(willLoad: { _ in throw ObjectError(.timedOut, "own") })]).start(request)
    let ends = try await outcomes.wait(3)[1...].compactMap { if case .failure(let error) = $0 { error } else { nil } }
    #expect(Set(ends.map(\.code)) == [.refusedByPolicy, .timedOut])
    #expect(ends.contains { $0.underlying is Broken } && loader.starts == 0)
  }

  @Test func `cancelled while an interceptor thinks, it cancels its task and never loads`() async throws {
    let (asked, cancelled) = (Latch(), Latch())
    let attempt = attempt([
      Interceptors(willLoad: { request in
        asked.countDown()
        try? await Latch().wait(seconds: 60)
        if Task.isCancelled { cancelled.countDown() }
        return .load(request)
      })
    ])
    attempt.start(request)
    try await asked.wait()
    attempt.cancel()
    try await cancelled.wait()
    #expect(outcomes.elements.isEmpty && loader.starts == 0)
  }

  // MARK: After the head

  @Test func `an end that is earlier than the verdict waits for it`() async throws {
    let (asked, verdict) = (Latch(), Latch())
    attempt([
      Interceptors(didReceive: { _, _, _ in
        asked.countDown()
        try await verdict.wait()
        return .accept
      })
    ]).start(request)
    try await loader.waitForStarts(1)
    loader.answer(0, "whole")
    try await asked.wait()
    #expect(outcomes.elements.isEmpty)
    verdict.countDown()
    #expect(try await text() == "whole")
  }

  @Test func `a verdict against a whole body wins`() async throws {
    attempt([Interceptors(didReceive: { _, _, _ in .refuse("wrong type") })]).start(request)
    try await loader.waitForStarts(1)
    loader.answer(0, "whole")
    let error = try await error()
    #expect(error?.code == .refusedByPolicy && error?.head?.status == 200)
    #expect(outcomes.elements.count == 1)
  }

  @Test func `a verdict that throws ends it with that`() async throws {
    attempt([Interceptors(didReceive: { _, _, _ in throw Broken() })]).start(request)
    try await loader.waitForStarts(1)
    loader.head(0, LoadHead())
    let error = try await error()
    #expect(error?.code == .refusedByPolicy && error?.underlying is Broken)
    try await loader.waitForStops(1)
  }

  @Test func `a verdict may send another request, whose answer counts`() async throws {
    attempt(
      [
        Interceptors(didReceive: { head, request, attempt in
          guard head.status == 401 else { return .accept }
          var next = request
          next.fields["Authorization"] = "attempt \(attempt)"
          return .retry(next)
        })
      ], number: 2
    ).start(request)
    try await loader.waitForStarts(1)
    loader.head(0, LoadHead(status: 401))
    try await loader.waitForStarts(2)
    #expect(loader.requests[1].fields["Authorization"] == "attempt 2")
    #expect(loader.loads[0].isStopped && loader.sink(0)?.isWanted == false)
    loader.answer(0, "of the first")
    loader.answer(1, "of the second")
    #expect(try await text() == "of the second")
  }

  @Test func `a verdict may not ask for ever`() async throws {
    let loader = HeldLoader { _, sink in sink.head(LoadHead(status: 401)) }
    attempt([Interceptors(didReceive: { _, request, _ in .retry(request) })], loaders: [loader]).start(request)
    #expect(try await error()?.code == .refusedByPolicy)
    #expect(loader.starts == 1 + LoadAttempt.limitVerdictRetries)
    try await loader.waitForStops(loader.starts)
  }

  @Test func `a loader that is still starting when the verdict asks anew is stopped all the same`() async throws {
    let starts = Latch(2)
    let loader = HeldLoader { request, sink in
      // The head first: else the test may end this load while it is still giving it.
      sink.head(LoadHead(status: request.fields.contains("X") ? 200 : 401))
      starts.countDown()
      if !request.fields.contains("X") { try? starts.wait() }
    }
    attempt(
      [
        Interceptors(
          // Off this task's thread, which the loader blocks.
          willLoad: { .load($0) },
          didReceive: { head, request, _ in
            guard head.status == 401 else { return .accept }
            var next = request
            next.fields["X"] = "1"
            return .retry(next)
          })
      ], loaders: [loader]
    ).start(request)
    try await loader.waitForStops(1)
    #expect(loader.loads[0].isStopped)
    loader.finish(1)
    guard case .body = try await outcome() else { return #expect(Bool(false), "the second answer") }
  }

  @Test func `cancelled while the verdict is awaited, it stays silent and drops what came`() async throws {
    let (asked, cancelled) = (Latch(), Latch())
    let attempt = attempt([
      Interceptors(didReceive: { _, _, _ in
        asked.countDown()
        try? await Latch().wait(seconds: 60)
        cancelled.countDown()
        return .accept
      })
    ])
    attempt.start(request)
    try await loader.waitForStarts(1)
    loader.answer(0, "whole")
    try await asked.wait()
    attempt.cancel()
    try await cancelled.wait()
    #expect(outcomes.elements.isEmpty)
  }

  @Test func `an attempt that ended lets go of everything`() async throws {
    weak var gone: LoadAttempt?
    do {
      let attempt = attempt()
      gone = attempt
      attempt.start(request)
      loader.answer(0, "x")
      _ = try await outcome()
    }
    #expect(gone == nil, "the loader keeps its old sink, and that keeps the attempt")
  }
}

/// An interceptor made of closures.
struct Interceptors: Interceptor {
  var willLoad: @Sendable (LoadRequest) async throws -> LoadVerdict = { .load($0) }
  var didReceive: @Sendable (LoadHead, LoadRequest, Int) async throws -> HeadVerdict = { _, _, _ in .accept }

  func willLoad(_ request: LoadRequest) async throws -> LoadVerdict { try await willLoad(request) }
  func didReceive(_ head: LoadHead, for request: LoadRequest, attempt: Int) async throws -> HeadVerdict {
    try await didReceive(head, request, attempt)
  }
}

private struct AsyncText: AsyncLoader {
  let text: String?
  init(_ text: String?) { self.text = text }

  func accepts(_ url: URL) -> Bool { true }
  func load(_ request: LoadRequest, into sink: LoadSink) async throws {
    guard let text else { throw Broken() }
    sink.head(LoadHead())
    await Task.yield()
    sink.append(Data(text.utf8))
  }
}

private struct AsyncHeld: AsyncLoader {
  let began = Latch()
  let cancelled = Latch()

  func accepts(_ url: URL) -> Bool { true }
  func load(_ request: LoadRequest, into sink: LoadSink) async throws {
    began.countDown()
    do { try await Latch().wait(seconds: 60) } catch {
      cancelled.countDown()
      throw error
    }
  }
}
