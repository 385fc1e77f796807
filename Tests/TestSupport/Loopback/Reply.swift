/// What the server answers to one request: a value, made right by `init` and spoilt by the methods of `ReplyMishaps`.
///
///     Reply("hello")                                   200, Content-Length: 5
///     Reply(404)                                       404 Not Found, Content-Length: 0
///     Reply(bytes, ["Cache-Control": "max-age=60"]).cut(after: 100)
///     Reply { request in Reply(request["Accept"] ?? "") }
package struct Reply: Sendable {
  package struct Field: Hashable, Sendable {
    package var name: String
    /// Raw: may hold what no field may.
    package var value: [UInt8]

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = Array(value.utf8)
    }

    package init(_ name: String, bytes: [UInt8]) {
      self.name = name
      value = bytes
    }
  }

  package enum Body: Sendable {
    case bytes([UInt8])
    /// `count` nil: endless.
    case pattern(Pattern, count: Int?)

    package var count: Int? {
      switch self {
      case .bytes(let bytes): bytes.count
      case .pattern(_, let count): count
      }
    }
  }

  /// How the client is told where the body ends.
  enum Framing: Sendable {
    /// Content-Length, right.
    case length
    /// Content-Length with this text, whatever the body; the connection closes after it.
    case claimed(String)
    /// Not at all: the connection closes.
    case close
    case chunked(Chunking)
  }

  /// What follows the last byte of the reply.
  enum End: Sendable {
    case keep
    /// Closes; `announced` by "Connection: close".
    case close(announced: Bool)
    case reset
  }

  package var status: Int
  /// nil: the usual one for the status.
  package var reason: String?
  /// In the order sent, repeats kept. Content-Length, Transfer-Encoding, Date and Connection come from elsewhere unless
  /// they are given here.
  package var fields: [Field]
  package var body: Body
  package var version = "HTTP/1.1"

  var framing = Framing.length
  var end = End.keep
  /// Whole heads that go first.
  var interim: [[UInt8]] = []
  /// Sent instead of status line, fields and body.
  var raw: [UInt8]?
  var gate: Gate?
  var delay: Duration?
  var pace: Pace?
  /// Holds inside the body, by offset.
  var bodyGates: [BodyGate] = []
  /// Bytes of the body after which the reply ends early.
  var limitBodyBytes: Int?
  /// Makes the true reply when the request is here.
  var decide: (@Sendable (Request) -> Reply)?

  struct Pace: Sendable {
    let bytes: Int
    let wait: Duration
  }

  struct BodyGate: Sendable {
    let offset: Int
    let gate: Gate
  }

  package init(_ status: Int, reason: String? = nil, _ fields: KeyValuePairs<String, String> = [:], body: Body) {
    self.status = status
    self.reason = reason
    self.fields = fields.map { Field($0.key, $0.value) }
    self.body = body
  }

  package init(_ bytes: [UInt8], _ fields: KeyValuePairs<String, String> = [:]) {
    self.init(200, fields, body: .bytes(bytes))
  }

  package init(_ text: String, _ fields: KeyValuePairs<String, String> = [:]) { self.init(Array(text.utf8), fields) }

  package init(_ status: Int, _ bytes: [UInt8], _ fields: KeyValuePairs<String, String> = [:]) {
    self.init(status, fields, body: .bytes(bytes))
  }

  package init(_ status: Int, _ text: String, _ fields: KeyValuePairs<String, String> = [:]) {
    self.init(status, fields, body: .bytes(Array(text.utf8)))
  }

  package init(_ status: Int, _ fields: KeyValuePairs<String, String> = [:]) {
    self.init(status, fields, body: .bytes([]))
  }

  /// A reply that depends on its request.
  package init(_ decide: @escaping @Sendable (Request) -> Reply) {
    self.init(200)
    self.decide = decide
  }

  /// The reply to this request, with nothing left to decide.
  func decided(for request: Request) -> Reply {
    var reply = self
    while let decide = reply.decide { reply = decide(request) }
    return reply
  }
}
