internal import FoundationEssentials

/// One attempt at a load: the interceptors, the loader and the sink. Reports its end exactly once, unless cancelled.
final class LoadAttempt: SinkListener {
  struct Listener: Sendable {
    var interim: @Sendable (LoadHead) -> Void = { _ in }
    var redirected: @Sendable (RedirectHop) -> Void = { _ in }
    var progress: @Sendable (LoadProgress) -> Void
    /// With what the load took, where it is no failure and the loader measures.
    var end: @Sendable (LoadOutcome, LoadTimings?) -> Void
  }

  /// An interceptor may ask for another request this often; a wrong credential does not get better by the tenth.
  static let limitVerdictRetries = 3

  private struct State: Sendable {
    var isOver = false
    var stop: LoadStop?
    /// Of the response that counts; what another brings is a response that was dropped for a later one.
    var sink: LoadSink?
    var tasks: [Task<Void, Never>] = []
    /// What was asked for; kept for interceptors only.
    var request: Boxed<LoadRequest>?
    /// The verdict on the head is still awaited.
    var awaitsVerdict = false
    /// The end that waits for the verdict.
    var heldEnd: Boxed<(outcome: LoadOutcome, timings: LoadTimings?)>?
    var verdictRetries = 0
  }

  /// What only interceptors make necessary: the state is the smaller without it.
  private final class Boxed<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private let loaders: [any Loader]
  private let interceptors: [any Interceptor]
  private let plan: IntakePlan
  private let number: Int
  private let listener: Listener
  private let state = Lock(State())

  /// - Parameter number: of the attempt, from 1.
  init(
    loaders: [any Loader], interceptors: [any Interceptor], plan: IntakePlan, number: Int, _ listener: Listener
  ) {
    self.loaders = loaders
    self.interceptors = interceptors
    self.plan = plan
    self.number = number
    self.listener = listener
  }

  func start(_ request: LoadRequest) {
    guard !interceptors.isEmpty else { return load(request) }
    add(Task { [self] in await intercept(request) })
  }

  /// Nothing is reported from now on, and the loader is told to stop.
  func cancel() {
    if let old = close() { letGo(old) }
  }

  /// What it was until now, to the first that ends it.
  private func close() -> State? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      let old = state
      state = State()
      state.isOver = true
      return old
    }
  }

  private func letGo(_ state: State) {
    state.sink?.abandon()
    state.stop?.stop()
    for task in state.tasks { task.cancel() }
  }

  private func add(_ task: Task<Void, Never>) {
    let isOver = state.withLock { state in
      if !state.isOver { state.tasks.append(task) }
      return state.isOver
    }
    if isOver { task.cancel() }
  }

  // MARK: Before the load

  private func intercept(_ request: LoadRequest) async {
    var request = request
    do {
      for interceptor in interceptors {
        switch try await interceptor.willLoad(request) {
        case .load(let changed): request = changed
        case .answer(let head, let data): return answer(request, head, data)
        case .refuse(let why): return end(.failure(ObjectError(.refusedByPolicy, "An interceptor refused: \(why)")))
        }
      }
    } catch {
      return end(
        .failure(
          error as? ObjectError ?? ObjectError(.refusedByPolicy, "An interceptor failed: \(error).", underlying: error))
      )
    }
    load(request)
  }

  private func answer(_ request: LoadRequest, _ head: LoadHead, _ data: Data) {
    var plan = plan
    plan.undoesCoding = false
    guard let sink = open(request, plan) else { return }
    sink.head(head)
    sink.append(data)
    sink.finish()
  }

  private func load(_ request: LoadRequest) {
    if let name = request.fields.refusedName {
      return end(
        .failure(
          ObjectError(.invalidRequest, "The header field “\(name)” has a name or value that HTTP does not allow.")))
    }
    guard let loader = loaders.first(where: { $0.accepts(request) }) else {
      return end(.failure(ObjectError(.unsupportedScheme, "No loader takes \(redacted(request.location)).")))
    }
    var plan = plan
    if plan.undoesCoding {
      plan.undoesCoding =
        request.fields == Self.acceptingCodings
        || (request.fields["Accept-Encoding"] == Self.acceptedCodings && !request.fields.contains("Range"))
    }
    guard let sink = open(request, plan) else { return }
    let stop = loader.start(request, into: sink)
    // Cancelled, or sent on with another request, before the loader returned.
    let isLate = state.withLock { state in
      guard !state.isOver, state.sink === sink else { return true }
      state.stop = stop
      return false
    }
    if isLate { stop.stop() }
  }

  /// What the manager asks for where the caller did not say.
  static let acceptedCodings = "gzip, deflate"
  static let acceptingCodings: HeaderFields = ["Accept-Encoding": acceptedCodings]

  /// nil: cancelled meanwhile.
  private func open(_ request: LoadRequest, _ plan: IntakePlan) -> LoadSink? {
    let sink = LoadSink(plan, self)
    let isReviewed = !interceptors.isEmpty
    let isOver = state.withLock { state in
      if !state.isOver {
        state.sink = sink
        state.request = isReviewed ? Boxed(request) : nil
      }
      return state.isOver
    }
    return isOver ? nil : sink
  }

  // MARK: What the sink hears

  func interimCame(_ head: LoadHead) { listener.interim(head) }

  func redirected(by hop: RedirectHop) { listener.redirected(hop) }

  func bytesCame(_ progress: LoadProgress) { listener.progress(progress) }

  // MARK: After the head

  func headCame(_ head: LoadHead, to sink: LoadSink) {
    guard !interceptors.isEmpty else { return }
    let request = state.withLock { state -> LoadRequest? in
      guard state.sink === sink else { return nil }
      state.awaitsVerdict = true
      return state.request?.value
    }
    if let request { add(Task { [self] in await ask(head, request) }) }
  }

  private func ask(_ head: LoadHead, _ request: LoadRequest) async {
    do {
      for interceptor in interceptors {
        switch try await interceptor.didReceive(head, for: request, attempt: number) {
        case .accept: continue
        case .retry(let changed): return retry(changed, head)
        case .refuse(let why):
          return end(.failure(ObjectError(.refusedByPolicy, "An interceptor refused the response: \(why)", head: head)))
        }
      }
    } catch {
      return end(
        .failure(
          error as? ObjectError
            ?? ObjectError(.refusedByPolicy, "An interceptor failed: \(error).", head: head, underlying: error)))
    }
    let held = state.withLock { state in
      state.awaitsVerdict = false
      return state.heldEnd?.value
    }
    if let held { end(held.outcome, held.timings) }
  }

  private func retry(_ request: LoadRequest, _ head: LoadHead) {
    let (old, mayRetry) = state.withLock { state in
      let old = state
      state.stop = nil
      state.sink = nil
      state.heldEnd = nil
      state.awaitsVerdict = false
      state.verdictRetries += 1
      return (old, state.verdictRetries <= Self.limitVerdictRetries)
    }
    old.sink?.abandon()
    old.stop?.stop()
    guard mayRetry else {
      return end(
        .failure(ObjectError(.refusedByPolicy, "An interceptor asked for another request again and again.", head: head))
      )
    }
    load(request)
  }

  // MARK: The end

  func ended(_ outcome: LoadOutcome, _ timings: LoadTimings?, from sink: LoadSink) {
    let isTheEnd = state.withLock { state in
      guard state.sink === sink else { return false }
      if state.awaitsVerdict { state.heldEnd = Boxed((outcome, timings)) }
      return !state.awaitsVerdict
    }
    if isTheEnd { end(outcome, timings) }
  }

  private func end(_ outcome: LoadOutcome, _ timings: LoadTimings? = nil) {
    guard let old = close() else { return }
    // A loader that brought a whole answer has ended by itself.
    if case .failure = outcome {
      letGo(old)
      listener.end(outcome, nil)
    } else {
      listener.end(outcome, timings)
    }
  }
}

extension Loader {
  /// Spares the common case a `URL`.
  fileprivate func accepts(_ request: LoadRequest) -> Bool {
    if type(of: self) == CurlLoader.self { return request.isHTTP }
    return request.url.map { accepts($0) } ?? false
  }
}
