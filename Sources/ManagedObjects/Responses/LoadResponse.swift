public import FoundationEssentials

/// The whole HTTP answer to a `LoadRequest`: whatever its status, from the network or a cache.
public struct LoadResponse: Sendable {
  /// Status, reason and fields, repeats kept. A stored answer has an `Age` of its own time; Date and Expires are untouched.
  /// Content-Encoding and Content-Length are the server's, although a gzip or deflate that we asked for has been undone.
  public let head: LoadHead
  /// The 1xx responses of this exchange, in order; none for an answer from a cache.
  public let interim: [LoadHead]
  public let source: ObjectSource
  /// Why it came from there.
  public let reason: AnswerReason
  /// How old a stored answer is (RFC 9111 section 4.2.3); nil where it came just now.
  public let age: Duration?
  private let body: Loaded.Body
  /// The part of the body that was asked for; nil: all of it.
  private let range: Range<Int>?

  init(
    _ head: LoadHead, _ body: Loaded.Body, source: ObjectSource, reason: AnswerReason, age: Duration? = nil,
    interim: [LoadHead] = [],
    range: Range<Int>? = nil
  ) {
    self.head = head
    self.body = body
    self.source = source
    self.reason = reason
    self.age = age
    self.interim = interim
    self.range = range
  }

  public var status: Int { head.status }

  /// Length of the body in bytes, decoded.
  public var count: Int {
    if let range { return range.count }
    switch body {
    case .memory(let data): return data.count
    case .lease(let lease): return lease.count
    }
  }

  /// The body; a large stored one is mapped. Throws `.cacheBroken` where it is found damaged: ask again.
  public func data() throws(ObjectError) -> Data {
    let all: Data
    switch body {
    case .memory(let data): all = data
    case .lease(let lease): do { all = try lease.data() } catch { throw ObjectError(cacheFault: error) }
    }
    guard let range else { return all }
    let part = range.clamped(to: 0..<all.count)
    return Data(all.dropFirst(part.lowerBound).prefix(part.count))
  }

  /// A read-only file with exactly the body, good while this value lives; nil where there is none.
  public func lendPath() throws(ObjectError) -> String? {
    guard range == nil, case .lease(let lease) = body else { return nil }
    do { return try lease.lendPath() } catch { throw ObjectError(cacheFault: error) }
  }

  /// For those who ask with a condition of their own that is met by what is stored (RFC 9110 section 15.4.5).
  var notModified: LoadResponse {
    var fields = head.fields
    for name in ["Content-Length", "Content-Encoding", "Content-Type", "Content-Range"] { fields.remove(name) }
    let head = LoadHead(status: 304, reason: "Not Modified", fields: fields)
    return LoadResponse(head, .memory(Data()), source: source, reason: reason, age: age)
  }

  /// The answer to HEAD: the same fields, no body.
  var withoutBody: LoadResponse {
    LoadResponse(head, .memory(Data()), source: source, reason: reason, age: age, interim: interim)
  }

  func part(_ range: Range<Int>, _ head: LoadHead) -> LoadResponse {
    LoadResponse(head, body, source: source, reason: reason, age: age, range: range)
  }
}
