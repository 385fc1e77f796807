internal import FoundationEssentials
internal import ManagedObjects
internal import TestSupport

/// What an object of the demo looks like when decoded.
enum DemoObject: Equatable, Sendable {
  case record(Record)
  case text(String)
  case bytes(Data)

  struct Record: Codable, Equatable, Sendable {
    let number: Int
    let title: String
    let tags: [String]
  }
}

extension ObjectDecoder<DemoObject> {
  /// By the type that the response names.
  static let demo = ObjectDecoder("demo") { loaded in
    switch loaded.head.fields["Content-Type"] {
    case "application/json": .record(try JSONDecoder().decode(DemoObject.Record.self, from: loaded.data()))
    case "text/plain": .text(String(decoding: try loaded.data(), as: UTF8.self))
    default: .bytes(try loaded.data())
    }
  }
}

/// The world behind the demo: some thousand objects of four types on a server in this process, not all of them easy.
///
/// Everything about an object follows from its number, so whoever gets one knows whether it is right.
struct DemoServer: Sendable {
  enum Oddity: Sendable { case none, slow, missing, failsOnce, moved }

  let server: LoopbackServer
  let count: Int

  init(count: Int) throws {
    self.count = count
    server = try LoopbackServer()
    for number in 0..<count { try put(number) }
  }

  func request(_ number: Int) -> ObjectRequest { ObjectRequest(server.url(Self.path(number))) }

  static func oddity(_ number: Int) -> Oddity {
    switch number % 100 {
    case 13: .slow
    case 29: .missing
    case 47: .failsOnce
    case 71, 72: .moved
    default: .none
    }
  }

  func count(of oddity: Oddity) -> Int { (0..<count).count { Self.oddity($0) == oddity } }

  /// Requests that it takes to get everything once: one for each, and a second one for some.
  var wantedHits: Int { count + count(of: .failsOnce) + count(of: .moved) }

  static func object(_ number: Int) -> DemoObject {
    switch number % 4 {
    case 0: .record(.init(number: number, title: "Object \(number)", tags: ["demo", "json", "\(number % 7)"]))
    case 1, 2: .text(text(number))
    default: .bytes(Data(Pattern(seed: number).bytes(4_000 + number % 50 * 400)))
    }
  }

  // MARK: What the server says

  private static func path(_ number: Int) -> String { "/objects/\(number)" }

  private static func text(_ number: Int) -> String {
    (0..<20 + number % 80).map { "Line \($0) of text \(number), which gzip makes shorter.\n" }.joined()
  }

  private func put(_ number: Int) throws {
    let path = Self.path(number)
    let reply = try Self.reply(number)
    switch Self.oddity(number) {
    case .none: server.on(path, reply)
    case .slow: server.on(path, reply.delayed(by: .milliseconds(50)))
    case .missing: server.on(path, Reply(404, "There is no object \(number).\n"))
    case .failsOnce: server.on(path, Reply(503), reply)
    case .moved:
      // It says for how long: what a redirect leads to is fresh no longer than the redirect itself.
      server.on(path, .redirect(to: "/moved/\(number)", status: 301).adding("Cache-Control", "max-age=3600"))
      server.on("/moved/\(number)", reply)
    }
  }

  private static func reply(_ number: Int) throws -> Reply {
    let freshness = ("Cache-Control", "max-age=3600")
    switch object(number) {
    case .record(let record):
      return Reply(
        Array(try JSONEncoder().encode(record)), ["Content-Type": "application/json", freshness.0: freshness.1])
    case .text(let text) where number % 4 == 1:
      return Reply(
        gzipped(Array(text.utf8), level: 1),
        ["Content-Type": "text/plain", "Content-Encoding": "gzip", freshness.0: freshness.1])
    case .text(let text): return Reply(text, ["Content-Type": "text/plain", freshness.0: freshness.1])
    case .bytes(let bytes):
      return Reply(Array(bytes), ["Content-Type": "application/octet-stream", freshness.0: freshness.1])
    }
  }
}
