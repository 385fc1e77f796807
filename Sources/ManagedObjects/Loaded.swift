public import FoundationEssentials

/// Where an object came from.
public enum ObjectSource: String, Sendable {
  case memory, file, network
  /// From a cache, after the server said that it is still good.
  case revalidated
  /// From a cache, past its freshness, as the caller or the rules allowed.
  case stale
}

/// Status line and header fields of a response.
public struct LoadHead: Hashable, Sendable {
  public var status: Int
  /// The reason phrase, a byte string like the values of `fields`; "" where there is none (HTTP/2).
  public var reason: String
  public var fields: HeaderFields

  public init(status: Int = 200, reason: String = "", fields: HeaderFields = [:]) {
    self.status = status
    self.reason = reason
    self.fields = fields
  }
}

/// How far a load is, in bytes on the wire.
public struct LoadProgress: Hashable, Sendable {
  public let receivedBytes: Int
  /// nil: the server did not say.
  public let expectedBytes: Int?

  public init(receivedBytes: Int, expectedBytes: Int?) {
    self.receivedBytes = max(0, receivedBytes)
    self.expectedBytes = expectedBytes.flatMap { $0 < 0 ? nil : $0 }
  }

  /// 0...1; nil where the total is unknown.
  public var fraction: Double? {
    expectedBytes.map { $0 == 0 ? 1 : min(1, Double(receivedBytes) / Double($0)) }
  }
}

/// Whole, verified bytes, as `readyFromLoaded` gets them. Holds the cache entry as long as it lives.
public struct Loaded: Sendable {
  public let id: ObjectID
  public let head: LoadHead
  public let source: ObjectSource
  let body: Body

  enum Body: Sendable {
    case memory(Data)
    case lease(any EntryLease)
  }

  init(id: ObjectID, head: LoadHead, source: ObjectSource, body: Body) {
    self.id = id
    self.head = head
    self.source = source
    self.body = body
  }

  /// For tests of decoders: these bytes, as if loaded.
  public init(id: ObjectID, head: LoadHead = LoadHead(), source: ObjectSource = .network, bytes: Data) {
    self.init(id: id, head: head, source: source, body: .memory(bytes))
  }

  /// Length of the body in bytes.
  public var count: Int {
    switch body {
    case .memory(let data): data.count
    case .lease(let lease): lease.count
    }
  }

  /// The bytes, without a copy where that can be: a large cached body is mapped.
  public func data() throws(ObjectError) -> Data {
    switch body {
    case .memory(let data): return data
    case .lease(let lease):
      do { return try lease.data() } catch { throw ObjectError(cacheFault: error) }
    }
  }

  public func withBytes<Result>(_ read: (RawSpan) throws -> Result) throws -> Result { try read(data().bytes) }

  /// The bytes in order, in pieces of at most 256 KiB: a large cached body is read as it goes, not held or mapped whole.
  public func forEachPiece(_ use: (RawSpan) throws -> Void) throws {
    var offset = 0
    while offset < count {
      let piece = try piece(at: offset, atMost: 256 << 10)
      guard !piece.isEmpty else { throw ObjectError(.cacheBroken, "A cached body has become shorter; ask again.") }
      try use(piece.bytes)
      offset += piece.count
    }
  }

  private func piece(at offset: Int, atMost count: Int) throws(ObjectError) -> Data {
    switch body {
    case .memory(let data): return data.dropFirst(offset).prefix(count)
    case .lease(let lease):
      do { return try lease.read(at: offset, atMost: count) } catch { throw ObjectError(cacheFault: error) }
    }
  }

  /// The path of a read-only file with these bytes, for C libraries; good while this value lives.
  /// nil when the bytes are only in memory.
  public func lendPath() throws(ObjectError) -> String? {
    guard case .lease(let lease) = body else { return nil }
    do { return try lease.lendPath() } catch { throw ObjectError(cacheFault: error) }
  }
}
