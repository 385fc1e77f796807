public import FoundationEssentials

/// Loads, shares, caches and decodes objects for its users. The front door; the README tells a request's eight steps.
///
/// Any call may be made from any thread, and from inside any callback. Two managers influence each other only through a
/// backend that both were given. Letting go of the manager ends what it has under way with `.cancelled(.closed)`.
public final class ObjectManager: Sendable {
  private let core: Core

  /// - Parameters:
  ///   - loaders: asked in order; empty: a `CurlLoader` for http and https.
  ///   - cache: a `FileCache`, a `BigFileCache` or one of your own; nil: objects are kept in memory only.
  ///   - interceptors: asked in order around every load.
  public convenience init(
    loaders: [any Loader] = [], cache: (any CacheBackend)? = nil, interceptors: [any Interceptor] = [],
    policy: Policy = Policy()
  ) {
    self.init(loaders: loaders, cache: cache, interceptors: interceptors, policy: policy, time: SystemTime())
  }

  package init(
    loaders: [any Loader] = [], cache: (any CacheBackend)? = nil, interceptors: [any Interceptor] = [],
    policy: Policy = Policy(), time: any TimeSource
  ) {
    core = Core(
      loaders: loaders.isEmpty ? [CurlLoader(options: CurlLoaderOptions(policy))] : loaders, backend: cache,
      interceptors: interceptors,
      policy: policy, time: time)
  }

  deinit { core.shutdown() }

  // MARK: Users

  /// Gets the user its object: from memory before this returns, else through `user.ended(_:)` later.
  ///
  /// The user is held weakly: keep it. Managing it again supersedes its former request. When the FIFO of live handlers
  /// is full, the oldest falls off, unless the request says to wait.
  /// - Returns: the handler on its way; nil: the request ended before this returned.
  @discardableResult
  public func manage<User: ManagedUser>(
    _ user: User, for request: ObjectRequest, from caller: (any Actor)? = #isolation
  ) -> Handler? {
    core.manage(user, request, caller)
  }

  /// Gets the user the object of its `oid` and `url`, as they are now.
  @discardableResult
  public func manage<Object>(_ user: ManagedUserBase<Object>, from caller: (any Actor)? = #isolation) -> Handler? {
    core.manage(user, user.request, caller)
  }

  /// Takes the user's request back: it ends with `.cancelled(.left)`, before this returns unless the user belongs to an
  /// actor that the caller is not on, or a callback of the user is running just now. Never waits. After it no ready,
  /// failed or progress callback starts.
  /// - Returns: false when there was no request, its ending had begun, or it was taken back already.
  @discardableResult
  public func leave<User: ManagedUser>(_ user: User, from caller: (any Actor)? = #isolation) -> Bool {
    core.leave(user, caller)
  }

  /// Changes how soon the user's request gets its turn, while it waits.
  public func setPriority<User: ManagedUser>(_ priority: LoadPriority, of user: User) {
    core.setPriority(priority, of: user)
  }

  // MARK: Async

  /// The object, decoded. Waits for a place among the live handlers. Cancelling the task is leaving: it then throws
  /// `.cancelled` with reason `.left`.
  public nonisolated(nonsending) func object<Object: Sendable>(
    for request: ObjectRequest, decodedBy decoder: ObjectDecoder<Object>
  ) async throws(ObjectError) -> Object {
    switch core.begin(request, decoder) {
    case .ready(let object): return object
    case .waits(let seat): return try seat.object(of: await core.end(of: seat))
    }
  }

  public nonisolated(nonsending) func object<Object: Decodable & Sendable>(
    for request: ObjectRequest, as type: Object.Type
  ) async throws(ObjectError) -> Object {
    switch core.begin(request, ObjectDecoder.json(type)) {
    case .ready(let object): return object
    case .waits(let seat): return try seat.object(of: await core.end(of: seat))
    }
  }

  public nonisolated(nonsending) func data(for request: ObjectRequest) async throws(ObjectError) -> Data {
    switch core.begin(request) {
    case .ready(let object): return object
    case .waits(let seat): return try seat.object(of: await core.end(of: seat))
    }
  }

  /// The object, and where it came from.
  /// - Parameter progress: called on a thread of the library for a few instructions; the fraction never falls.
  public nonisolated(nonsending) func answer<Object: Sendable>(
    for request: ObjectRequest, decodedBy decoder: ObjectDecoder<Object>,
    progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws(ObjectError) -> Answer<Object> {
    let seat = core.begin(request, decoder, output: nil, progress)
    return try seat.answer(of: await core.end(of: seat))
  }

  /// The bytes as a file at `target`: written to a temporary file beside it, then renamed, so that a whole file or none
  /// is there. With or without a cache.
  /// - Parameter replacing: a file that is there already is replaced; else the call throws `.outputExists`.
  public nonisolated(nonsending) func file(
    for request: ObjectRequest, at target: URL, replacing: Bool = false,
    progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws(ObjectError) -> Answer<URL> {
    let output = try OutputTarget(target, replacing: replacing, numbers: core.numbers)
    let decoder = output.decoder(giving: target, isInline: core.backend == nil)
    let seat = core.begin(request, decoder, output: output, progress)
    return try seat.answer(of: await core.end(of: seat))
  }

  /// The same for a path, absolute or from where the process is.
  package nonisolated(nonsending) func file(
    for request: ObjectRequest, atPath path: String, replacing: Bool,
    progress: (@Sendable (LoadProgress) -> Void)?
  ) async throws(ObjectError) -> Answer<Void> {
    let output = try OutputTarget(path, replacing: replacing, numbers: core.numbers)
    let decoder = output.decoder(giving: (), isInline: core.backend == nil)
    let seat = core.begin(request, decoder, output: output, progress)
    return try seat.answer(of: await core.end(of: seat))
  }

  /// For tasks that never block and mostly wait for this manager.
  package var loaderExecutor: any TaskExecutor {
    core.hasLoaderThread ? LoaderExecutor(core) : globalConcurrentExecutor
  }

  /// Faults of the cache, each told once; without the events of loads, which cost time.
  package func cacheFaults() -> AsyncStream<ObjectEvent> { core.events.stream(bufferingNewest: 16) }

  /// The HTTP answer itself, whatever its status, for those who want no object: any method, through the same cache,
  /// loaders and transfer slots. Equal GETs that overlap share one exchange; nothing is tried again by itself.
  ///
  /// Stored answers are used as RFC 9111 allows a private cache. The caller's conditions and range are answered from what is
  /// stored, where that is fresh or was just found to be so.
  /// - Throws: `ObjectError` where no answer came and nothing stored may stand in for it.
  public nonisolated(nonsending) func response(
    to request: LoadRequest
  ) async throws(ObjectError) -> LoadResponse { try await core.response(to: request) }

  /// Loads into the file cache what will be wanted soon, and makes no object. At low priority at most, until a user
  /// wants the same.
  /// - Returns: the error of each request that failed, by its place in `requests`. Cancelling the task stops those that
  ///   nobody else wants.
  public nonisolated(nonsending) func prefetch(_ requests: [ObjectRequest]) async -> [Int: ObjectError] {
    await core.prefetch(requests)
  }

  // MARK: What is stored

  /// The object if it is ready in memory and may be used without asking anybody; nothing is loaded.
  public func peek<Object: Sendable>(_ request: ObjectRequest, decodedBy decoder: ObjectDecoder<Object>) -> Object? {
    core.peek(request, decoder)
  }

  /// Whether the file cache has an entry for it, fresh or not.
  public nonisolated(nonsending) func contains(_ request: ObjectRequest) async throws(ObjectError) -> Bool {
    try await core.contains(request)
  }

  /// Puts bytes into the cache as if they had just been loaded. Needs a cache.
  public nonisolated(nonsending) func store(
    _ bytes: Data, for request: ObjectRequest, head: LoadHead = LoadHead()
  ) async throws(ObjectError) {
    try await core.store(bytes, request, head)
  }

  /// What is stored for it is asked for again before it is used; the bytes stay, for the server may say 304.
  public nonisolated(nonsending) func invalidate(_ request: ObjectRequest) async throws(ObjectError) {
    try await core.invalidate(request)
  }

  /// Forgets it, in memory and in the file cache.
  public nonisolated(nonsending) func remove(_ request: ObjectRequest) async throws(ObjectError) {
    try await core.remove(request)
  }

  /// Forgets everything of a namespace, in memory and in the file cache. Visits every entry.
  public nonisolated(nonsending) func remove(namespace: String) async throws(ObjectError) {
    try await core.remove(namespace: namespace)
  }

  /// Forgets everything, in memory and in the file cache.
  public nonisolated(nonsending) func removeAll() async throws(ObjectError) { try await core.removeAll() }

  /// Lets go of all ready objects. Those that somebody holds are found again.
  public func removeAllFromMemory() { core.memory.evictAll() }

  /// Forgets which loads failed lately, so that they are tried again.
  public func forgetFailures() { core.forgetFailures() }

  // MARK: Watching

  /// Handlers on their way, oldest first.
  public var liveHandlers: [Handler] { core.liveHandlers }

  public var statistics: ManagerStatistics { core.statistics }

  /// What happens from now on. Ends at `shutdown`; a slow reader loses the oldest.
  public func events(bufferingNewest count: Int = 256) -> AsyncStream<ObjectEvent> {
    core.listen(bufferingNewest: count)
  }

  // MARK: The end

  /// Ends every request with `.cancelled(.closed)` and takes no more. Never waits; bodies that are whole are still
  /// stored.
  public func shutdown() { core.shutdown() }

  /// Waits until refreshes in the background have ended, what is whole is stored and a due trim is done, at most this long.
  public nonisolated(nonsending) func settle(atMost limit: Duration = .seconds(1)) async { await core.settle(limit) }
}
