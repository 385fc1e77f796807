internal import FoundationEssentials

/// How a load ended, as the sink saw it.
enum LoadOutcome: Sendable {
  /// A success, its body whole.
  case body(LoadHead, ReceivedBody)
  /// 304: what is stored is still good.
  case notModified(LoadHead)
  /// Another status, with its body as far as it is kept.
  case status(LoadHead, ErrorBody)
  indirect case failure(ObjectError)
}

/// What a load is checked against.
struct IntakePlan: Sendable {
  var method = "GET"
  /// 304 is an answer only to a request that asked for it.
  var isConditional = false
  /// Every status is an answer, and its body is kept; else those that are no success are cut short.
  var takesAnyStatus = false
  /// We asked for gzip and deflate ourselves, and so undo them. False: the caller chose the coding.
  var undoesCoding = true
  /// Of the decoded body.
  var limitBytes: Int?
  var limits = BodyStore.Limits(inMemoryBytes: 1 << 20, memoryOnlyBytes: 1 << 30)
  /// Where a large body of this head may go; gives nil: into memory only.
  var open: @Sendable (LoadHead) -> BodyStore.Open? = { _ in nil }
  /// nil: what `open` gives and its writer may be used on the transfer's thread; else pieces go through this.
  var pool: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  var onFault: @Sendable (ObjectError) -> Void = { _ in }
}

/// The body of an answer that is no success, as far as it is kept.
struct ErrorBody: Sendable {
  /// What an error shows of it.
  static let limitShownBytes = 4096
  private static let limitBytes = 64 << 10

  private(set) var bytes = Data()
  /// False: there was more, or its coding was damaged. It is no answer then, only something for people to read.
  var isWhole = true

  /// In memory of its own, since errors are kept.
  var shown: Data { Data(bytes.prefix(Self.limitShownBytes)) }

  mutating func append(_ more: RawSpan) {
    let room = Self.limitBytes - bytes.count
    if more.byteCount > room { isWhole = false }
    bytes.append(more.extracting(first: room))
  }
}

/// One response on its way in: checks what the head promises, undoes the coding, keeps the body.
struct BodyIntake: ~Copyable, Sendable {
  /// The body of an error is read to its end, so that the connection can be used again; up to this.
  static let limitErrorBodyBytes = 1 << 20

  private enum Kind: Sendable { case noHead, body, start, dropped }

  private let plan: IntakePlan
  private(set) var head: LoadHead?
  private var kind = Kind.noHead
  private(set) var wireBytes = 0
  private(set) var expectedBytes: Int?
  private var inflater: Inflater?
  private var store: BodyStore?
  /// How the pool opens the entry, where it has to.
  private var openOnPool: BodyStore.Open?
  private(set) var queue: AppendQueue?
  /// Of the decoded body, where the head tells it.
  private var bodyBytes: Int?
  private var start = ErrorBody()
  private var hasFinished = false
  private var decodedBytes = 0

  init(_ plan: IntakePlan) {
    self.plan = plan
  }

  var progress: LoadProgress { LoadProgress(receivedBytes: wireBytes, expectedBytes: expectedBytes) }

  mutating func take(_ head: LoadHead) throws(ObjectError) {
    guard self.head == nil else { throw Self.lie("two final heads") }
    guard (200..<1000).contains(head.status) || head.status == 101 else { throw Self.lie("status \(head.status)") }
    self.head = head
    kind = kind(of: head)
    expectedBytes = try promisedLength(head)
    if plan.undoesCoding, kind != .dropped, let codings = Inflater.codings(of: head), !codings.isEmpty {
      inflater = Inflater(codings: codings)
    } else {
      bodyBytes = expectedBytes
    }
    guard kind == .body else { return }
    makeStore(for: head)
    if let bodyBytes {
      try checkLimit(bodyBytes)
      store?.expect(bodyBytes)
    }
  }

  mutating func take(_ bytes: RawSpan) throws(ObjectError) {
    guard head != nil else { throw Self.lie("bytes before the head") }
    guard !hasFinished else { throw Self.lie("bytes after the end") }
    wireBytes += bytes.byteCount
    if let expectedBytes, wireBytes > expectedBytes {
      throw ObjectError(
        .wrongLength, "The body is longer than the \(expectedBytes) bytes that were promised.", head: head)
    }
    switch kind {
    case .body: try decode(bytes)
    case .start: try keepStart(bytes)
    case .dropped, .noHead: break
    }
  }

  /// What is left to do at the end.
  enum Ending: Sendable {
    case now(LoadOutcome)
    /// The body, as soon as the queue has written it.
    case written(LoadHead, AppendQueue)
  }

  mutating func finish() throws(ObjectError) -> Ending {
    guard let head else { throw Self.lie("no head") }
    guard !hasFinished else { throw Self.lie("two ends") }
    hasFinished = true
    if let expectedBytes, wireBytes < expectedBytes {
      throw ObjectError(
        .wrongLength, "The body ended after \(wireBytes) of \(expectedBytes) bytes; the connection was cut.", head: head
      )
    }
    switch kind {
    case .noHead, .dropped: return .now(.notModified(head))
    case .start:
      do { try inflater?.finish() } catch { start.isWhole = false }
      return .now(.status(head, start))
    case .body:
      try finishInflating()
      return finishBody(head)
    }
  }

  /// Called off: nothing more is written.
  func abort() { queue?.abort() }

  private mutating func finishBody(_ head: LoadHead) -> Ending {
    if let queue { return .written(head, queue) }
    return .now(.body(head, store.take()?.finish() ?? .memory(Data())))
  }

  private mutating func makeStore(for head: LoadHead) {
    let open = plan.open(head)
    if plan.pool != nil { openOnPool = open }
    store = BodyStore(limits: plan.limits, open: plan.pool == nil ? open : nil, onFault: plan.onFault)
  }

  private func kind(of head: LoadHead) -> Kind {
    switch head.status {
    case 304 where plan.isConditional: .dropped
    case _ where plan.takesAnyStatus: .body
    case 206: .start
    case 200..<300: .body
    default: .start
    }
  }

  private mutating func decode(_ bytes: RawSpan) throws(ObjectError) {
    guard var inflater = self.inflater.take() else { return try keep(bytes) }
    try inflater.inflate(bytes, limit: plan.limitBytes) { piece throws(ObjectError) in try keep(piece) }
    self.inflater = consume inflater
  }

  private mutating func finishInflating() throws(ObjectError) {
    try inflater?.finish()
  }

  private mutating func keep(_ bytes: RawSpan) throws(ObjectError) {
    decodedBytes += bytes.byteCount
    try checkLimit(decodedBytes)
    if let pool = plan.pool, queue == nil, openOnPool != nil, decodedBytes > plan.limits.inMemoryBytes {
      try moveToQueue(pool)
    }
    guard let queue else { return try store?.append(bytes) ?? () }
    var copy = Data()
    copy.append(bytes)
    try queue.append(copy)
  }

  /// Too large for memory, and the backend may take its time: from here on the pool does the appending.
  private mutating func moveToQueue(
    _ pool: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) throws(ObjectError) {
    let body = store.take()?.finish()
    let open = openOnPool.map { open -> BodyStore.Open in { [bodyBytes] _ in try open(bodyBytes) } }
    let queue = AppendQueue(BodyStore(limits: plan.limits, open: open, onFault: plan.onFault), run: pool)
    if case .memory(let data) = body, !data.isEmpty { try queue.append(data) }
    self.queue = queue
  }

  private func checkLimit(_ bytes: Int) throws(ObjectError) {
    guard let limit = plan.limitBytes, bytes > limit else { return }
    throw ObjectError(.tooLarge, "The body has more than the \(limit) bytes that the request allows.", head: head)
  }

  private mutating func keepStart(_ bytes: RawSpan) throws(ObjectError) {
    if start.isWhole { addStart(bytes) }
    guard wireBytes <= Self.limitErrorBodyBytes else {
      throw ObjectError(
        .httpStatus, "Status \(head?.status ?? 0), and a body without end.", head: head, bodyStart: start.shown)
    }
  }

  /// Undoes the coding for people who read the error; where that fails, what came before the damage has to do.
  private mutating func addStart(_ bytes: RawSpan) {
    guard var inflater = self.inflater.take() else { return start.append(bytes) }
    do throws(ObjectError) {
      try inflater.inflate(bytes, limit: nil) { piece throws(ObjectError) in
        start.append(piece)
        // A small body may unpack to a huge one.
        if !start.isWhole { throw Self.lie("an endless error") }
      }
      self.inflater = consume inflater
    } catch {
      start.isWhole = false
    }
  }

  private func promisedLength(_ head: LoadHead) throws(ObjectError) -> Int? {
    switch LengthRule.promise(of: head, method: plan.method) {
    case .bytes(let count): return count
    case .unknown: return nil
    case .contradictory:
      throw ObjectError(.wrongLength, "The response promises several different lengths.", head: head)
    }
  }

  private static func lie(_ what: String) -> ObjectError {
    ObjectError(.transport, "The loader broke its contract: \(what).")
  }
}
