internal import FoundationEssentials
internal import ManagedObjects

/// Gets one URL.
struct Fetch: Sendable {
  /// What to do with the body.
  enum Target: Equatable, Sendable {
    /// Hand it back, to be written by the caller.
    case body
    case file(String)
    case cacheOnly
  }

  let manager: ObjectManager
  let options: GetOptions

  /// - Parameter progress: called on any thread.
  /// - Returns: how it ended, and the body where the target is `.body`.
  func run(
    _ line: InputLine, target: Target, progress: (@Sendable (LoadProgress) -> Void)?
  ) async -> (outcome: Outcome, body: Loaded?) {
    let start = ContinuousClock.now
    let request = request(for: line.url)
    var outcome = Outcome(url: line.url, id: request.id?.name)
    var body: Loaded?
    do throws(ObjectError) {
      if let problem = line.problem { throw ObjectError(.invalidURL, problem) }
      body = try await get(request, target, progress, &outcome)
    } catch {
      outcome.error = error
      outcome.status = error.head?.status
    }
    outcome.duration = ContinuousClock.now - start
    return (outcome, body)
  }

  private func get(
    _ request: ObjectRequest, _ target: Target, _ progress: (@Sendable (LoadProgress) -> Void)?,
    _ outcome: inout Outcome
  ) async throws(ObjectError) -> Loaded? {
    switch target {
    case .body:
      let answer = try await manager.answer(for: request, decodedBy: .whole, progress: progress)
      outcome.take(answer)
      return answer.object
    case .cacheOnly:
      outcome.take(try await manager.answer(for: request, decodedBy: .length, progress: progress))
    case .file(let path):
      outcome.take(try await manager.file(for: request, atPath: path, replacing: options.force, progress: progress))
      outcome.file = path
    }
    return nil
  }

  private func request(for url: String) -> ObjectRequest {
    var request = ObjectRequest(url)
    request.fields = options.fields
    request.mode = options.mode
    request.limitBytes = options.limitBytes
    request.timeout = options.timeout
    return request
  }
}

extension Outcome {
  fileprivate mutating func take<Object>(_ answer: Answer<Object>) {
    source = answer.source
    reason = answer.reason
    status = answer.head.status
    bytes = answer.bytes
    timings = answer.timings
  }
}

extension ObjectDecoder<Loaded> {
  /// The bytes as they are.
  fileprivate static let whole = ObjectDecoder("mobj.whole") { $0 }
}

extension ObjectDecoder<Int> {
  /// Nothing of the body but its length, so that a list of any size leaves next to nothing in memory. It costs what is
  /// kept beside it: its key and the head of its response.
  fileprivate static let length = ObjectDecoder("mobj.length", cost: { _ in 1024 }, decode: { $0.count })
}
